/**
 * `npm run interop [-- NAME…]`: plumbline beside software that others wrote, each in a folder of `interop` with its own lock file.
 * What a folder needs is installed on first use, about 1.5 gigabytes for all.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildLibrary } from './build.mjs';
import { root, run } from './lib/run.mjs';

const INTEROP = join(root, 'interop');
const folders = readdirSync(INTEROP).filter((name) => existsSync(join(INTEROP, name, 'test.mjs')));

/** Installs what the lock file names, and the packages of the checkout beside it. @returns whether that was possible */
async function install(folder) {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const stamp = join(folder, 'node_modules/.interop-lock');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
    console.log('installing the packages of its lock file');
    // Install scripts are left out: they download or compile what nothing here needs.
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    if ((await run('npm', args, { cwd: folder })) !== 0) return false;
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    writeFileSync(stamp, lock);
  }
  for (const [name, ours] of [
    ['plumbline-l2', root],
    ['plumbline-l2-cli', join(root, 'cli')],
  ]) {
    const link = join(folder, 'node_modules', name);
    rmSync(link, { force: true });
    symlinkSync(ours, link, 'junction');
  }
  return true;
}

/** Runs the test of a folder and shows its lines. @returns its counts, and whether it counts as passed */
async function runFolder(name) {
  const none = { name, passed: 0, failed: 0, skipped: 0, green: false };
  if (!(await install(join(INTEROP, name)))) return none;
  const child = spawn(process.execPath, ['test.mjs'], {
    cwd: join(INTEROP, name),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = () => child.kill('SIGTERM');
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const exit = new Promise((resolve) => child.once('exit', resolve));
  let counts;
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    const found = /^(\d+) passed, (\d+) failed, (\d+) skipped$/.exec(line);
    if (found !== null) counts = found.slice(1).map(Number);
  }
  const code = await exit;
  process.off('SIGINT', stop).off('SIGTERM', stop);
  if (counts === undefined) return none;
  const [passed, failed, skipped] = counts;
  return { name, passed, failed, skipped, green: code === 0 };
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !folders.includes(name));
if (unknown.length > 0) {
  console.error(`no folder ${unknown.join(', ')} in interop; there are ${folders.join(', ')}`);
  process.exit(1);
}
await buildLibrary();
const results = [];
for (const name of names.length > 0 ? names : folders) {
  console.log(`\n== ${name}`);
  results.push(await runFolder(name));
}
console.log(`\n${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}`);
for (const { name, passed, failed, skipped, green } of results)
  console.log(`${green ? 'ok  ' : 'FAIL'} ${name}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
const sum = (member) => results.reduce((total, result) => total + result[member], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
// A folder that left out everything (its software is not on this machine) is no failure as long as another compared something.
const bad = results.some(({ green, failed, skipped }) => !green && (failed > 0 || skipped === 0));
process.exitCode = bad || sum('passed') === 0 ? 1 : 0;
