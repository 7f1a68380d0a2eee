import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from '../packaging/project.js';

const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8');

interface LockEntry {
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly license?: string;
  readonly version?: string;
}
const lock = (JSON.parse(read('package-lock.json')) as { packages: Record<string, LockEntry> }).packages;
const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
const installed = Object.entries(lock).filter(([place, { link }]) => place.includes('node_modules/') && !link);

/** The lists of docs/supply-chain.md. */
const [listedPage, listedCli, listedScripts] = [
  ...read('docs/supply-chain.md').matchAll(/^```json\n([\s\S]*?)^```$/gm),
].map(([, text]) => JSON.parse(text!) as string[]);

/** Our packages: the folder, what the document lists, and the file of `npm run sbom`. */
const OURS = [
  ['.', listedPage!, 'build/sbom.cdx.json'],
  ['cli', listedCli!, 'build/sbom-cli.cdx.json'],
] as const;

/** Packages below a manifest as npm tells them: `name version`. */
function shippedByNpm(folder: string): string[] {
  interface Node {
    readonly version?: string;
    readonly dependencies?: Readonly<Record<string, Node>>;
  }
  // Not `--workspaces=false`: npm fails with it where an optional peer, such as Hardhat, is not installed.
  const args = ['ls', '--omit=dev', '--all', '--json', '--package-lock-only'];
  const found = new Set<string>();
  const visit = ({ dependencies = {} }: Node): void => {
    for (const [name, node] of Object.entries(dependencies)) {
      // What is optional and not there has no version.
      if (node.version !== undefined) found.add(`${name} ${node.version}`);
      visit(node);
    }
  };
  const all = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' })) as Node;
  const manifest = JSON.parse(read(`${folder}/package.json`)) as { name: string; dependencies: Record<string, string> };
  const { dependencies = {} } = folder === '.' ? all : all.dependencies![manifest.name]!;
  visit({
    dependencies: Object.fromEntries(Object.keys(manifest.dependencies).map((name) => [name, dependencies[name]!])),
  });
  return [...found].sort();
}

test.each(OURS)(
  'what ships of %s is listed with its licence, and each licence lets a library ship it',
  (folder, listed) => {
    const shipped = shippedByNpm(folder).map((one) => one.split(' ')[0]!);
    expect(listed).toEqual(shipped.map((name) => `${name} ${lock[`node_modules/${name}`]!.license}`));
    for (const name of shipped) {
      const { license } = JSON.parse(read(`node_modules/${name}/package.json`)) as { license: string };
      expect(['MIT', 'ISC', 'Apache-2.0', 'MPL-2.0'], name).toContain(license);
      expect(lock[`node_modules/${name}`]!.license, name).toBe(license);
    }
  },
);

test.each(OURS)('`npm run sbom` names what ships of %s, each with the hash of the lock file', (folder, _, file) => {
  execFileSync(process.execPath, ['scripts/sbom.mjs'], { cwd: root });
  interface Component {
    readonly name: string;
    readonly version: string;
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  }
  const bom = JSON.parse(read(file)) as { bomFormat: string; components: Component[] };
  expect(bom.bomFormat).toBe('CycloneDX');
  expect(bom.components.map(({ name, version }) => `${name} ${version}`).sort()).toEqual(shippedByNpm(folder));
  for (const { name, hashes } of bom.components) {
    const sri = hashes.map(({ alg, content }) => [alg, Buffer.from(content, 'hex').toString('base64')]);
    expect(sri, name).toEqual([['SHA-512', lock[`node_modules/${name}`]!.integrity!.slice('sha512-'.length)]]);
  }
});

test('packages with an install script are listed, and npm runs none', () => {
  const having = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => nameOf(place));
  expect(listedScripts).toEqual([...new Set(having)].sort());
  expect(execFileSync('npm', ['config', 'get', 'ignore-scripts'], { cwd: root, encoding: 'utf8' }).trim()).toBe('true');
  for (const one of [...listedPage!, ...listedCli!]) expect(listedScripts).not.toContain(one.split(' ')[0]);
});

test('neither the package nor a workspace has a script that installing or publishing runs', () => {
  const lifecycle = /^(?:pre|post)?(?:install|uninstall|prepare|publish|pack)$|^prepublishOnly$/;
  const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] };
  for (const folder of ['.', ...workspaces]) {
    const { scripts = {} } = JSON.parse(read(`${folder}/package.json`)) as { scripts?: Record<string, string> };
    // `npm run pack` is a command of ours: `npm pack` runs prepack and postpack only.
    expect(Object.keys(scripts).filter((name) => name !== 'pack' && lifecycle.test(name))).toEqual([]);
  }
});

test('every dependency comes from a registry by its hash', () => {
  expect(installed.length).toBeGreaterThan(300);
  for (const [place, { integrity, resolved }] of installed) {
    expect(integrity, place).toMatch(/^sha512-/);
    if (resolved !== undefined) expect(resolved, place).toMatch(/^https:\/\/registry\.npmjs\.org\//);
  }
});

test('each action of a workflow is pinned by the hash of a commit', () => {
  const folder = '.github/workflows';
  const used = readdirSync(`${root}/${folder}`).flatMap((file) => [
    ...read(`${folder}/${file}`).matchAll(/\buses:.*/g),
  ]);
  expect(used.length).toBeGreaterThan(0);
  for (const [line] of used) expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test('the workflow runs commands that exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const text = read('.github/workflows/release.yml');
  const ours = [...text.matchAll(/npm run (\w+)/g)].map(([, name]) => name!);
  expect(ours).toContain('release');
  for (const name of ours) expect(scripts).toHaveProperty(name);
  expect(existsSync(`${root}/.ci/run`)).toBe(true);
});
