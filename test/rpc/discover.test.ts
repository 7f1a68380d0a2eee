import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { devNode } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';

const require = createRequire(import.meta.url);
// Without its types, which do not compile here.
const { validateOpenRPCDocument } = require('@open-rpc/schema-utils-js') as {
  validateOpenRPCDocument(document: object): true | Error;
};
interface Document {
  readonly info: { readonly version: string };
  readonly methods: readonly {
    readonly name: string;
  }[];
}

/** Names of docs/methods.md that a kind of chain has: a class stands in its column. */
function documented(column: 2 | 3): string[] {
  const rows = readFileSync(new URL('../../docs/methods.md', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells[1]?.startsWith('`') && cells[column] !== '–');
  return rows.flatMap(([, names]) => [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)).sort();
}

test('a devnet describes its methods as an OpenRPC document', async () => {
  const { ask } = await devNode();
  const found = await ask<Document>('rpc.discover');
  expect(validateOpenRPCDocument(found)).toBe(true);
  expect(found.methods.map(({ name }) => name).sort()).toEqual(documented(2));
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(found.info.version).toBe(version);
  const [alias, own] = ['l2_estimateGas', 'linea_estimateGas'].map((name) =>
    found.methods.find((method) => method.name === name),
  );
  expect({ ...alias, name: own!.name }).toEqual(own);
});

test('a light node describes what it has, which is less', async () => {
  const { ask } = await lightScene();
  const found = await ask<Document>('rpc.discover');
  expect(validateOpenRPCDocument(found)).toBe(true);
  expect(found.methods.map(({ name }) => name).sort()).toEqual(documented(3));
});
