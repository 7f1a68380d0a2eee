import { expect, test } from 'vitest';
import { root, run } from '../packaging/project.js';

// `npm run check` finds what is wrong with types, in a tenth of the time.
test('the API reference is made of the doc comments without a warning', async () => {
  const typedoc = `${root}/docs/api/node_modules/.bin/typedoc`;
  const options = [
    '--options',
    'docs/api/typedoc.json',
    '--emit',
    'none',
    '--treatWarningsAsErrors',
    '--skipErrorChecking',
  ];
  expect(await run(typedoc, options, root)).not.toMatch(/warning/i);
});
