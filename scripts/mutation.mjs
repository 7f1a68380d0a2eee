/**
 * Mutation testing of a folder of src, or of some of its files: `npm run mutation -- proof [zk/item.ts…]`. Reports go to
 * build/mutation; a later run tries only what has changed.
 */
import { buildGenerated } from './build.mjs';
import { MUTATED_FOLDERS } from './lib/mutation-folders.mjs';
import { bin, run } from './lib/run.mjs';

const [folder = '', ...files] = process.argv.slice(2);
if (!(folder in MUTATED_FOLDERS)) {
  console.error(`name a folder: ${Object.keys(MUTATED_FOLDERS).join(', ')}`);
  process.exit(1);
}
await buildGenerated();
const mutate = files.length > 0 ? ['--mutate', files.map((file) => `src/${folder}/${file}`).join()] : [];
process.exitCode = await run(bin('stryker'), ['run', 'stryker.config.mjs', ...mutate], {
  env: { ...process.env, PLUMBLINE_MUTATED: folder },
});
