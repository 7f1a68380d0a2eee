import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** As if it stood at the top of the repository, so that it can import packages. No such file is there. */
const ENTRY = `${root}/page.js`;

/**
 * The script of a page in one piece.
 *
 * @param code - a module; the packages and files that it imports are bundled with it. A file that it names by its whole path runs
 *   also if the code uses none of its exports: package.json says of the files of this repository that they have no side effects
 */
export async function bundlePage(code: string, format: 'esm' | 'iife' = 'esm'): Promise<string> {
  const build = await rolldown({
    input: ENTRY,
    cwd: root,
    platform: 'browser',
    logLevel: 'silent',
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (isAbsolute(id) ? { id, moduleSideEffects: true } : undefined),
        load: (id) => (id === ENTRY ? code : undefined),
      },
    ],
  });
  const { output } = await build.generate({ format, codeSplitting: false });
  await build.close();
  return output[0].code;
}
