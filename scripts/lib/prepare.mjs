import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun, root } from './run.mjs';

/** Installs the pinned dependencies when they are not there, or not those of the lock file. */
export async function ensureInstalled() {
  const stamp = join(root, 'node_modules/.plumbline-lock');
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  await mustRun('npm', ['ci', '--no-audit', '--no-fund']);
  writeFileSync(stamp, lock);
}

/** Newest modification time below some paths. */
function newest(paths) {
  let time = 0;
  for (const path of paths) {
    const stat = statSync(join(root, path));
    if (!stat.isDirectory()) time = Math.max(time, stat.mtimeMs);
    else {
      const inner = readdirSync(join(root, path)).map((name) => join(path, name));
      time = Math.max(time, newest(inner));
    }
  }
  return time;
}

/** Runs a build step unless it has run since its sources changed. */
export async function unlessFresh(name, sources, step) {
  const stamp = join(root, 'build', `.${name}`);
  if (existsSync(stamp) && statSync(stamp).mtimeMs > newest(sources)) return;
  await step();
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(stamp, '');
}
