import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { METHOD_INFO } from '../../src/rpc/method-info.js';
import { devNode } from '../support/dev-node.js';
import { history, validRequests } from '../support/hostile/requests.js';

const require = createRequire(import.meta.url);
/** The validator that the tools of OpenRPC use. */
const Ajv = createRequire(require.resolve('@open-rpc/schema-utils-js'))('ajv') as new (
  options: object,
) => {
  validate(schema: object, value: unknown): boolean;
  errorsText(): string;
};

interface Document {
  readonly methods: readonly {
    readonly name: string;
    readonly params: readonly { readonly name: string; readonly schema: object }[];
    readonly result: { readonly schema: object };
  }[];
  readonly components: object;
}

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
