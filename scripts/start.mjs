/** `npm start -- [--port N] [--host H]`: installs, builds and runs the devnet with its demo page. */
import { buildDemo } from './build.mjs';
import { root, run } from './lib/run.mjs';

await buildDemo();
// A terminal sends Ctrl-C to the node as well: this process waits until it has stopped.
process.on('SIGINT', () => {});
process.exitCode = await run(process.execPath, [
  `${root}/cli/dist/cli.js`,
  'serve',
  '--demo',
  `${root}/dist/demo`,
  ...process.argv.slice(2),
]);
