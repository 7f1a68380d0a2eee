/**
 * `npm run pack`: builds, and makes the file that a project installs and that a release publishes, plumbline-l2-VERSION.tgz, with its
 * sha256. npm takes the modes of files as they are, and those follow the umask; here all are the same, so that the file is.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDemo } from './build.mjs';
import { root } from './lib/run.mjs';

const npmPack = (...args) =>
  JSON.parse(execFileSync('npm', ['pack', '--ignore-scripts', '--json', ...args], { cwd: root, maxBuffer: 1 << 26 }));

/**
 * Packs a folder.
 *
 * @param folder - relative to the repository
 * @returns the name of the file, its sha256, and the paths in it
 */
export function pack(folder) {
  const [{ files }] = npmPack('--dry-run', `./${folder}`);
  const staged = join(root, 'build/package');
  rmSync(staged, { recursive: true, force: true });
  for (const { path } of files) {
    cpSync(join(root, folder, path), join(staged, path));
    chmodSync(join(staged, path), 0o644);
  }
  const [{ filename }] = npmPack('./build/package');
  const sha256 = createHash('sha256')
    .update(readFileSync(join(root, filename)))
    .digest('hex');
  return { filename, sha256, paths: files.map(({ path }) => path) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildDemo();
  for (const folder of ['.', 'build/sourcemaps']) {
    const { filename, sha256, paths } = pack(folder);
    console.log(`${filename}: ${paths.length} files\n  sha256 ${sha256}`);
  }
}
