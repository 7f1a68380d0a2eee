import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun, root } from './run.mjs';

/** Installs the pinned dependencies when they are not there, or not those of the lock file. */
export async function ensureInstalled() {
  if (isInstalled()) return;
  console.log('Installing the pinned dependencies: half a minute, or longer where npm has to download them');
  await mustRun('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

/** By what npm writes of the packages that it has installed. Those for other platforms are not among them. */
function isInstalled() {
  const file = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(file)) return false;
  const { packages: installed } = JSON.parse(readFileSync(file, 'utf8'));
  const { packages: pinned } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(pinned).every(([place, { link, optional, version, integrity }]) => {
    if (link || !place.includes('node_modules/')) return true;
    const found = installed[place];
    return found === undefined ? optional === true : found.version === version && found.integrity === integrity;
  });
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

/** What a step makes, where its name alone does not say it. */
const WORDS = { wasm: 'WebAssembly kernels', demo: 'demo page', dictionary: 'compression dictionary' };

/**
 * Runs a build step unless it has run since its sources changed, and says so. What a step makes may lie among its sources, and have the
 * time of the stamp: clocks of files tick every few milliseconds.
 */
export async function unlessFresh(name, sources, step) {
  const stamp = join(root, 'build', `.${name}`);
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= newest(sources)) return;
  const began = performance.now();
  const words = WORDS[name] ?? name;
  console.log(`Building the ${words}`);
  await step();
  console.log(`Built the ${words} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(stamp, '');
}
