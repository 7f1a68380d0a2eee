import { execFile } from 'node:child_process';
import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject } from 'vitest';
import { eventually } from '../support/eventually.js';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

const execute = promisify(execFile);

/** Runs a command; what it wrote to its output. A failure is an error that says what was printed. */
export async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  // Vitest's own settings are none of the consumers' business.
  const { NODE_ENV, VITEST, VITEST_MODE, TEST, ...env } = process.env;
  try {
    const { stdout } = await execute(command, args, { cwd, env, maxBuffer: 1 << 26 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed\n${stdout}${stderr}`, { cause: error });
  }
}

/** Path of a command that the repository installs. */
export const bin = (name: string): string => `${root}/node_modules/.bin/${name}`;

interface LockEntry {
  readonly dependencies?: Readonly<Record<string, string>>;
}

const lockEntries = () =>
  (JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as { packages: Record<string, LockEntry> }).packages;

/** Packages of ours: the name, and the folder in the repository. */
const OURS = { 'plumbline-l2': '', 'plumbline-l2-cli': 'cli' } as const;

/** Where the lock file puts packages and what they depend on. */
function dependencyPlaces(names: readonly string[]): string[] {
  const packages = lockEntries();
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    let above = from;
    let place = `${above}node_modules/${name}`;
    while (packages[place] === undefined && above !== '') {
      above = above.slice(0, above.slice(0, -1).lastIndexOf('node_modules/'));
      place = `${above}node_modules/${name}`;
    }
    if (found.has(place)) return;
    found.add(place);
    for (const inner of Object.keys(packages[place]?.dependencies ?? {})) visit(inner, `${place}/`);
  };
  for (const name of names) visit(name, '');
  // A package is placed with those that are inside it.
  return [...found].filter((place) => place.lastIndexOf('node_modules/') === 0);
}

/** Puts the files of a directory into another place, as links where the file system has them. */
export function place(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) place(source, target);
    else {
      try {
        linkSync(source, target);
      } catch {
        cpSync(source, target);
      }
    }
  }
}

/** The packages as `npm pack` makes them, and projects that have them installed. */
export interface Packed {
  /** The archives, by the name of the package. */
  readonly tarballs: Readonly<Record<keyof typeof OURS, string>>;
  /** Outside the repository: what is in the archives, by the name of the package, and the projects. */
  readonly directory: string;
  /**
   * A fresh project with `plumbline-l2` and what it depends on, nothing else: nothing of the repository is found by accident.
   *
   * @param files - by path inside the project
   * @param packages - `plumbline-l2-cli`, or of the repository's dependencies for development, to be there as well with what they
   *   depend on
   */
  project(name: string, files: Readonly<Record<string, string>>, packages?: readonly string[]): string;
  /**
   * A fresh project in which npm installs `plumbline-l2`.
   *
   * @param packages - archives, or from the registry, to be there as well
   * @returns undefined where npm reaches no registry
   */
  installed(
    name: string,
    files: Readonly<Record<string, string>>,
    packages?: readonly string[],
  ): Promise<string | undefined>;
}

/** Packs both packages, once for all files of a run: the first one that asks does it, and the others wait for that. */
export async function packPackage(): Promise<Packed> {
  const directory = inject('packagingDirectory');
  const done = join(directory, 'packed');
  const begun = join(directory, 'begun');
  let isFirst = true;
  try {
    mkdirSync(begun);
  } catch {
    isFirst = false;
  }
  if (isFirst) {
    for (const [name, folder] of Object.entries(OURS)) {
      await run('npm', ['pack', '--ignore-scripts', '--pack-destination', begun, `./${folder}`], root);
      const [archive] = readdirSync(begun);
      renameSync(join(begun, archive!), join(directory, `${name}.tgz`));
      await run('tar', ['-xzf', `../${name}.tgz`], begun);
      renameSync(join(begun, 'package'), join(directory, name));
    }
    writeFileSync(done, '');
  } else await eventually(() => expect(existsSync(done)).toBe(true));
  const tarball = (name: string) => join(directory, `${name}.tgz`);
  return {
    tarballs: { 'plumbline-l2': tarball('plumbline-l2'), 'plumbline-l2-cli': tarball('plumbline-l2-cli') },
    directory,
    project(projectName, files, packages = []) {
      const project = join(directory, projectName);
      const needed = packages.filter((name) => !(name in OURS));
      for (const [name, folder] of Object.entries(OURS)) {
        if (name !== 'plumbline-l2' && !packages.includes(name)) continue;
        place(join(directory, name), join(project, 'node_modules', name));
        needed.push(...Object.keys(lockEntries()[folder]?.dependencies ?? {}));
      }
      for (const path of dependencyPlaces(needed)) place(join(root, path), join(project, path));
      writeProject(project, files);
      return project;
    },
    async installed(projectName, files, packages = []) {
      const project = join(directory, projectName);
      writeProject(project, files);
      const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=0'];
      try {
        await run('npm', ['install', ...options, tarball('plumbline-l2'), ...packages], project);
        return project;
      } catch (error) {
        if (/network|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN/.test(String(error))) return undefined;
        throw error;
      }
    },
  };
}

function writeProject(project: string, files: Readonly<Record<string, string>>): void {
  const manifest = JSON.stringify({ name: basename(project), private: true, type: 'module' });
  for (const [path, text] of Object.entries({ 'package.json': manifest, ...files })) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
}

const PRICE = expect.stringMatching(/^0x[1-9a-f]/) as unknown;

/**
 * What each consumer has to answer: 21 000 is what a plain transfer costs, 7 wei the base fee of these networks
 * (docs/spec/fees.md 4).
 */
export const ANSWERS = {
  transfer: { gasLimit: '0x5208', baseFeePerGas: '0x7', priorityFeePerGas: PRICE },
  token: {
    gasLimit: expect.stringMatching(/^0x[5-9a-f][0-9a-f]{3}$/) as unknown,
    baseFeePerGas: '0x7',
    priorityFeePerGas: PRICE,
  },
};

/** What each consumer runs, given a node: the fee of a plain transfer and of a token transfer. */
export const ESTIMATE = `
export async function estimate(node) {
  const [from, to] = await node.request({ method: 'eth_accounts' });
  const ask = (call) => node.request({ method: 'linea_estimateGas', params: [call] });
  const transfer = await ask({ from, to, value: '0x1' });
  const data = '0xa9059cbb' + to.slice(2).padStart(64, '0') + '1'.padStart(64, '0');
  const token = await ask({ from, to: '0x7e57c0de00000000000000000000000000007e57', data });
  await node.close();
  return { transfer, token };
}
`;
