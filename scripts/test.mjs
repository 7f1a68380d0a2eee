/**
 * `npm test`: installs, builds, gets itself a Chromium where there is none, runs vitest (Node, and the browser) and playwright,
 * and closes with `N passed, N failed, N skipped` over all of them. `npm run test:quick` runs what takes a moment in Node
 * instead, without a build of the library, and `npm run test:slow` the long suites. Words after `--`, such as
 * `npm run test:slow -- soak`, run only those files of vitest that have one of them in their path.
 */
import { buildDemo, buildGenerated } from './build.mjs';
import { ensureBrowser, NONE } from './lib/browser.mjs';
import { runSuites } from './lib/suites.mjs';

const suite = ['quick', 'slow'].find((name) => process.argv.includes(`--${name}`)) ?? 'all';
const files = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
await (suite === 'quick' ? buildGenerated() : buildDemo());
const browser = suite === 'quick' ? undefined : await ensureBrowser();
// All that is started below uses this one.
process.env.CHROMIUM_PATH = browser ?? NONE;
if (suite !== 'quick' && browser === undefined) {
  console.warn('Left out: what needs a browser. No Chromium was found or could be had; CHROMIUM_PATH can name one.');
}
await runSuites({
  projects: suite === 'all' ? ['node', ...(browser === undefined ? [] : ['browser'])] : [suite],
  files,
  pages: suite === 'all' && browser !== undefined && files.length === 0 ? [] : undefined,
});
