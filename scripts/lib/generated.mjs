import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { root } from './run.mjs';

/**
 * Writes what a generator makes, when its script is what was called; a test that imports it only reads.
 *
 * @param script - `import.meta.url` of the generator
 * @param files - text by path in the repository
 */
export async function writeGenerated(script, files) {
  if (process.argv[1] !== fileURLToPath(script)) return;
  for (const [path, text] of Object.entries(files)) await writeFile(`${root}/${path}`, text);
}
