/** Builds the tools when their sources changed, then runs one: `node scripts/run-tool.mjs bench/main --check`. */
import { buildTools } from './build.mjs';
import { root, run } from './lib/run.mjs';

const [entry, ...args] = process.argv.slice(2);
await buildTools();
process.exitCode = await run(process.execPath, [`${root}/build/tools/${entry}.js`, ...args]);
