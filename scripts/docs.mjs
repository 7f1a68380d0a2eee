/** `npm run docs`: the API reference, from the doc comments of the entry points, into build/api. */
import { buildGenerated } from './build.mjs';
import { mustRun, root } from './lib/run.mjs';

await buildGenerated();
// A workspace of its own: the generator needs an earlier TypeScript than the build.
await mustRun(`${root}/docs/api/node_modules/.bin/typedoc`, ['--options', 'docs/api/typedoc.json']);
