import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The picture of ARCHITECTURE.md, from the bottom up. A folder imports from rows below its own, and from itself. */
const ROWS: readonly (readonly string[])[] = [
  ['errors'],
  ['primitives'],
  ['kernel'],
  ['reference', 'ethereum'],
  ['accumulator', 'networks'],
  ['dictionary'],
  ['state', 'proof', 'evm', 'fees', 'upstream', 'store'],
  ['chain'],
  ['estimate'],
  ['rpc'],
  ['hosts'],
  ['index', 'verify', 'fees-door', 'viem'],
];

interface Import {
  readonly from: string;
  readonly to: string;
  readonly line: string;
}

function sources(directory: string): string[] {
  return readdirSync(join(root, directory)).flatMap((name) => {
    const path = `${directory}/${name}`;
    if (statSync(join(root, path)).isDirectory()) return sources(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}

function importsOf(file: string): { specifier: string; line: string }[] {
  const text = readFileSync(join(root, file), 'utf8');
  const pattern = /^\s*(?:import|export)\b[^;'"]*?(?:from\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;
  return [...text.matchAll(pattern)].map((match) => ({ specifier: match[1] ?? match[2]!, line: match[0].trim() }));
}

/** Folder of `src` a file belongs to; the doors at its top are rows of their own. */
function roomOf(file: string): string {
  const [, first = '', second] = file.split('/');
  if (second !== undefined) return first;
  return first === 'fees.ts' ? 'fees-door' : first.replace(/\.ts$/, '');
}

const files = sources('src');
const imports: Import[] = files.flatMap((from) =>
  importsOf(from)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, line }) => ({
      from,
      to: normalize(join(dirname(from), specifier)).replace(/\.js$/, '.ts'),
      line,
    })),
);
const rowOf = (file: string) => ROWS.findIndex((row) => row.includes(roomOf(file)));

describe('import direction', () => {
  test('imports were found at all', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(200);
  });

  test('every file stands in a row of the picture', () => {
    expect(files.filter((file) => rowOf(file) < 0)).toEqual([]);
  });

  test('imports point down the rows, never up or sideways', () => {
    const wrong = imports.filter(({ from, to }) => roomOf(from) !== roomOf(to) && rowOf(to) >= rowOf(from));
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test('a devnet and a light node know nothing of each other, and neither of a replica', () => {
    const kindOf = (file: string) => /^src\/chain\/(devnet|light|replica)\//.exec(file)?.[1];
    const wrong = imports.filter(({ from, to }) => {
      const [own, other] = [kindOf(from), kindOf(to)];
      if (own === undefined || other === undefined || own === other) return false;
      // A replica is a light node that builds its zk proofs itself.
      return !(own === 'replica' && other === 'light');
    });
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test('what ships does not import the reference twins', () => {
    const wrong = imports.filter(({ from, to }) => roomOf(to) === 'reference' && roomOf(from) !== 'reference');
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test('no file reaches itself through its imports', () => {
    const edges = new Map<string, string[]>();
    for (const { from, to } of imports) edges.set(from, [...(edges.get(from) ?? []), to]);
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]) => {
      if (state.get(file) === 'done') return;
      if (state.get(file) === 'open') {
        cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
        return;
      }
      state.set(file, 'open');
      for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
      state.set(file, 'done');
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test('only src/kernel touches WebAssembly', () => {
    const users = files.filter((file) => /\bWebAssembly\./.test(readFileSync(join(root, file), 'utf8')));
    expect(users.filter((file) => roomOf(file) !== 'kernel')).toEqual([]);
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
