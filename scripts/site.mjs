/**
 * `npm run site`: the documents and the demo page as static files for any host, in build/site. All addresses are relative. A link
 * that leads nowhere fails it.
 */
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { buildDemo } from './build.mjs';
import { bin, mustRun, root } from './lib/run.mjs';
import { deadLinks } from './lib/site-links.mjs';

const SITE = `${root}/build/site`;

await buildDemo();
await rm(`${root}/build/site-pages`, { recursive: true, force: true });
await mustRun(`${root}/docs/api/node_modules/.bin/typedoc`, ['--options', 'docs/api/site.json']);
await mustRun(bin('vitepress'), ['build', 'docs/site']);
await mustRun(bin('vite'), ['build', '--config', 'docs/play/vite.config.ts', '--logLevel', 'warn']);
await cp(`${root}/dist/demo`, `${SITE}/demo`, { recursive: true });
// Here the documents are beside the demo page, which otherwise leads to the repository, or nowhere while that is not published.
const page = `${SITE}/demo/index.html`;
const first = (await readFile(page, 'utf8')).replaceAll(/^.*href="[^"]*\/tree\/main\/docs".*\n/gm, '');
const withDocuments = first
  .replace('<link rel="icon"', '<link rel="help" href="../" />\n    $&')
  .replace('<div class="top-end">', '$&\n          <a class="top-link" href="../">Documents</a>');
await writeFile(page, withDocuments);

const dead = await deadLinks(SITE, ['demo/index.html']);
for (const { page, link } of dead) console.error(`${page}: ${link} leads nowhere`);
console.log(`site: build/site, ${dead.length} dead links`);
process.exitCode = dead.length > 0 ? 1 : 0;
