import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';
import { expect, test } from 'vitest';
import { docExamples } from './doc-examples.js';

/*
 * The names that programs can import, without a build: test/packaging/public-api.test.ts compares their declarations as well.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const API = readFileSync(`${root}/test/packaging/public-api.txt`, 'utf8');

/** Names that the API has for an entry point, such as `plumbline-l2/fees`. */
function listed(entry: string): string[] {
  const [, names = ''] = `\n${API}`.split(`\n${entry}\n`);
  return [...names.split(/\n\S/)[0]!.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name!);
}

/** Names that a module exports. */
function exported(file: string): string[] {
  const { program } = parseSync(file, readFileSync(file, 'utf8'));
  const names = program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const { specifiers, declaration } = statement;
    const renamed = specifiers.map((one) => (one.exported.type === 'Identifier' ? one.exported.name : ''));
    if (declaration === null) return renamed;
    if (declaration.type !== 'VariableDeclaration')
      return 'id' in declaration ? [(declaration.id as { name: string }).name] : [];
    return declaration.declarations.map(({ id }) => (id as { name: string }).name);
  });
  return [...new Set(names)];
}

const { exports } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  exports: Record<string, string | { types: string }>;
};
const ENTRIES = Object.entries(exports).flatMap(([name, target]): [string, string][] => {
  const file = typeof target === 'string' ? '' : target.types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts');
  return existsSync(`${root}/${file}`) && file !== '' ? [[`plumbline-l2${name.slice(1)}`, `${root}/${file}`]] : [];
});

test.each(ENTRIES)('%s exports what test/packaging/public-api.txt lists', (entry, file) => {
  expect(exported(file).sort()).toEqual(listed(entry).sort());
});

test('every entry point is listed', () => {
  for (const name of Object.keys(exports))
    if (name !== './package.json') expect(`\n${API}`).toContain(`\nplumbline-l2${name.slice(1)}\n`);
});

/** They need what a light node collects from endpoints: docs/guides/evidence.md has their examples, and the tests run those. */
const IN_GUIDES = ['verifyConsensusUpdate', 'verifyEvidence'];

test('each public function has an example in its comment, which doc-examples.test.ts or snippets.test.ts runs', () => {
  const all = docExamples();
  expect(all.length).toBeGreaterThan(50);
  const without = all.filter(({ name, snippet }) => snippet === undefined && !IN_GUIDES.includes(name));
  expect(without.map(({ name, file }) => `${file}: ${name}`)).toEqual([]);
});
