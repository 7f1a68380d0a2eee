/**
 * `npm run pack`: builds, and makes the files that a project installs and that a release publishes, plumbline-l2-VERSION.tgz,
 * plumbline-l2-cli-VERSION.tgz and that of the source maps, with their sha256. npm takes the modes of files as they are, and those follow the umask; here all are the same, so that the file is.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDemo } from './build.mjs';
import { root } from './lib/run.mjs';

const npmPack = (...args) =>
  JSON.parse(execFileSync('npm', ['pack', '--ignore-scripts', '--json', ...args], { cwd: root, maxBuffer: 1 << 26 }));

/** Folders of packages. */
export const PACKED = ['.', 'cli', 'build/sourcemaps'];

/**
 * Packs a folder, with the licence.
 *
 * @param folder - relative to the repository
 * @returns the name of the file, its sha256, and the paths in it
 */
export function pack(folder) {
  const [{ files }] = npmPack('--dry-run', `./${folder}`);
  const staged = join(root, 'build/package');
  rmSync(staged, { recursive: true, force: true });
  const paths = [...new Set([...files.map(({ path }) => path), 'LICENSE'])];
  for (const path of paths) {
    const own = join(root, folder, path);
    cpSync(existsSync(own) ? own : join(root, path), join(staged, path));
    chmodSync(join(staged, path), 0o644);
  }
  const [{ filename }] = npmPack('./build/package');
  const sha256 = createHash('sha256')
    .update(readFileSync(join(root, filename)))
    .digest('hex');
  return { filename, sha256, paths };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildDemo();
  for (const folder of PACKED) {
    const { filename, sha256, paths } = pack(folder);
    console.log(`${filename}: ${paths.length} files\n  sha256 ${sha256}`);
  }
}
