/*
 * Slow because it builds everything twice.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { place, root } from '../packaging/project.js';

/** Another time for a process and those that it starts. */
const clockAt = (date: string): string => {
  const program = `const Real = Date;
    const ahead = Real.parse('${date}') - Real.now();
    globalThis.Date = class Date extends Real {
      constructor(...args) { args.length === 0 ? super(Real.now() + ahead) : super(...args); }
      static now() { return Real.now() + ahead; }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(program)}`;
};

/** What differs between machines and days, and must not be seen in what is built. */
const SETTINGS = [
  {
    folder: 'a',
    touched: new Date('2026-01-02T03:04:05Z'),
    mode: 0o644,
    env: { TZ: 'UTC', LANG: 'C', LC_ALL: 'C', NODE_OPTIONS: clockAt('2026-02-28T23:59:50Z') },
  },
  {
    folder: 'another folder/with a longer path',
    touched: new Date('2031-07-08T09:10:11Z'),
    mode: 0o600,
    env: {
      TZ: 'Pacific/Kiritimati',
      LANG: 'tr_TR.UTF-8',
      LC_ALL: 'tr_TR.UTF-8',
      RAYON_NUM_THREADS: '1',
      NODE_OPTIONS: clockAt('2033-12-31T23:59:50Z'),
    },
  },
] as const;

const FOLDERS = ['dist', 'cli/dist', 'src/kernel/wasm', 'build/sourcemaps'];

/** Hashes of all files below some folders and of some files, by their paths. */
function hashes(directory: string, paths: readonly string[]): Record<string, string> {
  const files = paths.flatMap((path) => {
    if (!FOLDERS.includes(path)) return [path];
    return readdirSync(join(directory, path), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  });
  const hash = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(directory, file)))
      .digest('hex');
  return Object.fromEntries(files.sort().map((file) => [file, hash(file)]));
}

/** A copy of what git knows of the tree, as it is now. */
function copyTree({ folder, touched, mode }: (typeof SETTINGS)[number]): string {
  const directory = join(inject('packagingDirectory'), 'reproducible', folder);
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of listed.toString().split('\0').filter(Boolean)) {
    const copy = join(directory, file);
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(join(root, file), copy);
    chmodSync(copy, mode);
    utimesSync(copy, touched, touched);
  }
  // The description of the methods is made with the TypeScript of the reference.
  for (const packages of ['node_modules', 'docs/api/node_modules'])
    place(join(root, packages), join(directory, packages));
  return directory;
}

test('two builds, with other folders, clocks, time zones and languages, give the same bytes', () => {
  const { SOURCE_DATE_EPOCH, NODE_ENV, VITEST, VITEST_MODE, TEST, ...env } = process.env;
  const [first, second] = SETTINGS.map((setting) => {
    const cwd = copyTree(setting);
    const options = { cwd, env: { ...env, ...setting.env }, stdio: 'pipe', maxBuffer: 1 << 26 } as const;
    const npm = (...args: string[]) => execFileSync('npm', args, options);
    npm('run', 'build', '--', '--force');
    npm('run', 'sbom');
    npm('run', 'pack');
    const archives = readdirSync(cwd).filter((name) => name.endsWith('.tgz'));
    const made = hashes(cwd, [...FOLDERS, 'build/sbom.cdx.json', 'build/sbom-cli.cdx.json', ...archives]);
    rmSync(cwd, { recursive: true });
    return made;
  });
  expect(second).toEqual(first);
  const names = Object.keys(first!);
  // Of each kind that ships there is something: a list of nothing would be equal as well.
  for (const pattern of [/^dist\/.*\.wasm$/, /^dist\/demo\/.*\.js$/, /^cli\/dist\/chunks\//, /^src\/kernel\/wasm\//]) {
    expect(names.filter((name) => pattern.test(name)).length, String(pattern)).toBeGreaterThan(3);
  }
  expect(names.filter((name) => name.endsWith('.tgz'))).toHaveLength(3);
  expect(names.filter((name) => name.startsWith('dist/')).length).toBeGreaterThan(300);
});
