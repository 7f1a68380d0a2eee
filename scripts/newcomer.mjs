/**
 * `npm run newcomer`: what a new user of the package tries, from the packed file: Node, bundlers, an import map, Next.js, TypeScript,
 * kits, examples, a widget and an extension in Chromium; and the size and the dependencies of the package. Vite 7, Rspack, Parcel and
 * Next.js are installed from the registry, outside the repository. Closes with `N passed, N failed, N skipped`.
 */
import { buildDemo } from './build.mjs';
import { ensureBrowser, NONE } from './lib/browser.mjs';
import { runSuites } from './lib/suites.mjs';

await buildDemo();
const browser = await ensureBrowser();
process.env.CHROMIUM_PATH = browser ?? NONE;
if (browser === undefined) console.warn('Left out: pages. No Chromium was found or could be had.');
await runSuites({
  projects: ['node', 'slow'],
  files: ['test/packaging/', 'test/slow/newcomer', 'test/slow/next', 'test/slow/bundler-sizes'],
  pages: browser === undefined ? undefined : ['extension', 'kits-', 'wagmi'],
});
