import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { METHOD_INFO } from '../../src/rpc/method-info.js';
import { devNode } from '../support/dev-node.js';
import { history, validRequests } from '../support/hostile/requests.js';
import { lightScene } from '../support/light-node.js';

const require = createRequire(import.meta.url);
// Without its types, which do not compile here.
const { validateOpenRPCDocument } = require('@open-rpc/schema-utils-js') as {
  validateOpenRPCDocument(document: object): true | Error;
};
/** The validator that the tools of OpenRPC use. */
const Ajv = createRequire(require.resolve('@open-rpc/schema-utils-js'))('ajv') as new (
  options: object,
) => {
  validate(schema: object, value: unknown): boolean;
  errorsText(): string;
};

interface Document {
  readonly info: { readonly version: string };
  readonly methods: readonly {
    readonly name: string;
    readonly params: readonly { readonly name: string; readonly required: boolean; readonly schema: object }[];
    readonly result: { readonly schema: object };
    readonly 'x-answers': Readonly<Record<string, string>>;
  }[];
  readonly components: object;
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

test('requests and answers of every method have the form that is described', async () => {
  const { ask } = await devNode();
  await history(ask);
  const { methods, components } = await ask<Document>('rpc.discover');
  const ajv = new Ajv({ schemaId: 'auto', jsonPointers: true });
  const mismatches: string[] = [];
  const check = (what: string, schema: object, value: unknown) => {
    // References of the document lead to its components.
    if (!ajv.validate({ components, ...schema }, value)) mismatches.push(`${what}: ${ajv.errorsText().slice(0, 200)}`);
  };
  let answered = 0;
  for (const [name, sets] of Object.entries(await validRequests(ask))) {
    const method = methods.find((one) => one.name === name);
    if (method === undefined) {
      expect(METHOD_INFO.l2[name as keyof typeof METHOD_INFO.l2].answers.devnet, name).toBe('off');
      continue;
    }
    for (const [n, params] of sets.entries()) {
      // The first request has the form that is described. Others have forms that a node takes as well, such as decimal text.
      for (const [i, value] of n === 0 ? params.entries() : [])
        check(`${name} ${method.params[i]?.name}`, method.params[i]!.schema, value);
      const result = await ask(name, ...params).then(
        (value) => ({ value }),
        () => undefined,
      );
      if (result === undefined) continue;
      answered++;
      check(`${name} result`, method.result.schema, result.value);
    }
  }
  expect(mismatches).toEqual([]);
  expect(answered).toBeGreaterThan(150);
});
