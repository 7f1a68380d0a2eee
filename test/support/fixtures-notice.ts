import { missingFixtures } from './fixtures.js';

/** Set-up of a whole run: when it ends, it says in one line which tests were left out for lack of fixtures. */
export default function setUp(): () => void {
  return () => {
    const notice = missingFixtures();
    if (notice !== undefined) console.warn(`\n${notice}`);
  };
}
