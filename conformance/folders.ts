import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of the files below a folder, relative to `root`; a README.md is no fixture. */
export function filesBelow(root: string, folder = '.'): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesBelow(root, path);
    return entry.name === 'README.md' ? [] : [path];
  });
}

/**
 * Folders that hold files, but none of these. A folder inside such a folder is not named again.
 *
 * @param files - paths of all files
 * @param read - paths of the files that were read
 */
export function foldersWithout(files: Iterable<string>, read: ReadonlySet<string>): string[] {
  const touched = new Set([...files].filter((path) => read.has(path)).flatMap(foldersOf));
  return [
    ...new Set([...files].flatMap((path) => foldersOf(path).find((folder) => !touched.has(folder)) ?? [])),
  ].sort();
}

/** The folders of a file, from the top down: `a`, `a/b` of `a/b/c.json`. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}
