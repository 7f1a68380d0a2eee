import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** An exported declaration, with its name. */
const DECLARATION =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|class|interface|type|const|let)\s+(\w+)/gm;

/** Rows of both pictures of ARCHITECTURE.md by their folder, from the top down. A row ends where two spaces follow a name. */
const pictures = new Map(
  [...read('ARCHITECTURE.md').matchAll(/^### `(src[^`]*)`\n\n```\n([\s\S]*?)```/gm)].map(([, folder, block]) => [
    folder!,
    block!
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/)[0]!)
      .map((row) => row.split(' | ').map((name) => name.trim())),
  ]),
);

const sources = (directory: string): string[] =>
  readdirSync(join(root, directory)).flatMap((name) => {
    if (name === 'node_modules') return [];
    const path = `${directory}/${name}`;
    if (statSync(join(root, path)).isDirectory()) return sources(path);
    return path.endsWith('.ts') ? [path] : [];
  });

function importsOf(file: string): { specifier: string; line: string }[] {
  const pattern = /^\s*(?:import|export)\b[^;'"]*?(?:from\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;
  return [...read(file).matchAll(pattern)].map((match) => ({
    specifier: match[1] ?? match[2]!,
    line: match[0].trim(),
  }));
}

const files = sources('src');
const imports = files.flatMap((from) =>
  importsOf(from)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => ({ from, to: normalize(join(dirname(from), specifier)).replace(/\.js$/, '.ts') })),
);

/** Name of a file's place in the picture of `folder`: a subfolder, or a file of its own; undefined outside of it. */
function placeIn(folder: string, file: string): string | undefined {
  if (!file.startsWith(`${folder}/`)) return undefined;
  const [first = '', ...rest] = file.slice(folder.length + 1).split('/');
  // `src` has both: the folder `fees` and the entry point `fees.ts`.
  const name = first.replace(/\.ts$/, '');
  const isAmbiguous = rest.length === 0 && files.some((other) => other.startsWith(`${folder}/${name}/`));
  return isAmbiguous ? first : name;
}

/** Folders that have subfolders of code. */
const branching = [...new Set(files.map((file) => dirname(dirname(file))))].filter((folder) =>
  folder.startsWith('src'),
);

/** A chain of nodes that leads back to its first one, for each that there is. */
function cyclesOf(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (node: string, path: readonly string[]) => {
    if (state.get(node) === 'done') return;
    if (state.get(node) === 'open') {
      cycles.push([...path.slice(path.indexOf(node)), node].join(' -> '));
      return;
    }
    state.set(node, 'open');
    for (const next of edges.get(node) ?? []) visit(next, [...path, node]);
    state.set(node, 'done');
  };
  for (const node of edges.keys()) visit(node, []);
  return cycles;
}

/** The imports between the parts that `placeOf` gives; those within one part are left out. */
function edgesBetween(placeOf: (file: string) => string | undefined): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [own, other] = [placeOf(from), placeOf(to)];
    if (own !== undefined && other !== undefined && own !== other)
      edges.set(own, (edges.get(own) ?? new Set()).add(other));
  }
  return edges;
}

describe('import direction', () => {
  test('files, imports and pictures were found', () => {
    expect(files.length).toBeGreaterThan(300);
    expect(imports.length).toBeGreaterThan(1000);
    expect([...pictures.keys()]).toEqual(['src', 'src/chain']);
    expect(branching).toEqual(expect.arrayContaining(['src', 'src/chain', 'src/chain/light', 'src/hosts', 'src/evm']));
  });

  test.each(branching)('parts of %s import one another one way', (folder) => {
    expect(cyclesOf(edgesBetween((file) => placeIn(folder, file)))).toEqual([]);
  });

  test.each([...pictures])('imports of %s go from a row of its picture to a row below', (folder, rows) => {
    const rowOf = (name: string) => rows.findIndex((row) => row.includes(name));
    const places = new Set(files.map((file) => placeIn(folder, file)).filter((name) => name !== undefined));
    expect([...places].filter((name) => rowOf(name) < 0)).toEqual([]);
    expect(rows.flat().filter((name) => !places.has(name))).toEqual([]);
    const wrong = imports.filter(({ from, to }) => {
      const [own, other] = [placeIn(folder, from), placeIn(folder, to)];
      if (own === undefined || other === undefined || own === other) return false;
      return rowOf(other) <= rowOf(own);
    });
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test('no file reaches itself through its imports', () => {
    expect(cyclesOf(edgesBetween((file) => file))).toEqual([]);
  });

  test('a replica imports nothing of the devnet', () => {
    const wrong = imports.filter(
      ({ from, to }) => placeIn('src/chain', from) === 'replica' && placeIn('src/chain', to) === 'devnet',
    );
    expect(wrong).toEqual([]);
  });

  test('src imports nothing from outside of it', () => {
    expect(imports.filter(({ to }) => !to.startsWith('src/')).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test('only src/kernel touches WebAssembly', () => {
    const users = files.filter((file) => /\bWebAssembly\./.test(read(file)));
    expect(users.filter((file) => placeIn('src', file) !== 'kernel')).toEqual([]);
  });

  test('the demo imports the package by name', () => {
    const wrong = sources('demo').flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => specifier.includes('../src') || specifier.includes('/dist/'))
        .map(({ line }) => `${file}: ${line}`),
    );
    expect(wrong).toEqual([]);
  });
});

/** Files that something outside of `src` loads: what package.json names, the command and its server, and what bundlers make scripts of. */
function entryPoints(): string[] {
  const { exports } = JSON.parse(read('package.json')) as {
    exports: Record<string, string | Record<string, string>>;
  };
  const named = Object.values(exports).flatMap((target) => Object.values(target));
  const written = named.map((file) => file.replace('./dist/', 'src/').replace(/(?:\.d)?\.[jt]s$/, '.ts'));
  const bundled = ['src/hosts/worker/service-worker.ts', 'src/hosts/cli/cli.ts', 'src/hosts/cli/server.ts'];
  return [...written.filter((file) => files.includes(file)), ...bundled];
}

describe('reachability', () => {
  test('an entry point reaches every file of src', () => {
    const entries = entryPoints();
    expect(entries.length).toBeGreaterThan(10);
    const reached = new Set(entries);
    for (const file of reached) for (const { from, to } of imports) if (from === file) reached.add(to);
    expect(files.filter((file) => !reached.has(file))).toEqual([]);
  });

  test('every exported name is used in src, or exported by an entry point', () => {
    const entries = new Set(entryPoints());
    const code = new Map(files.map((file) => [file, read(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')]));
    const words = [...code.values()].flatMap((text) => text.match(/\w+/g) ?? []);
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    const unused = files
      .filter((file) => !entries.has(file) && !file.endsWith('.generated.ts'))
      .flatMap((file) => [...code.get(file)!.matchAll(DECLARATION)].map(([, name]) => `${file}: ${name}`))
      .filter((place) => counts.get(place.split(': ')[1]!) === 1)
      // Lists of methods: what scripts/build-methods.mjs writes loads the whole module.
      .filter((place) => !/^src\/rpc\/methods\/devnet-\S+: \w+_METHODS$/.test(place))
      // Its method has a point in its name: `rpc.discover`.
      .filter((place) => place !== 'src/rpc/methods/discover.ts: rpc_discover');
    expect(unused).toEqual([]);
  });
});

describe('files and names', () => {
  test('an exported name is declared in one file of src', () => {
    const places = new Map<string, string[]>();
    for (const file of files.filter((name) => !name.endsWith('.generated.ts')))
      for (const name of new Set([...read(file).matchAll(DECLARATION)].map(([, found]) => found!)))
        places.set(name, [...(places.get(name) ?? []), file]);
    expect(places.size).toBeGreaterThan(500);
    expect([...places].filter(([, found]) => found.length > 1)).toEqual([]);
  });
});
