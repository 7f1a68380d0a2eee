/** `npm run check`: types, lint and format. The library is built first: the demo is checked against its public types. */
import { buildLibrary } from './build.mjs';
import { bin, run } from './lib/run.mjs';

await buildLibrary();
const types = await run(bin('tsc'), ['-p', 'tsconfig.json']);
const style = await run(bin('biome'), ['check', '--error-on-warnings', '.']);
process.exitCode = types !== 0 || style !== 0 ? 1 : 0;
