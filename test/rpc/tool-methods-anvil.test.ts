import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { METHOD_INFO } from '../../src/rpc/method-info.js';
import { Anvil, anvilPath } from '../support/anvil.js';
import { ANVIL_METHODS } from '../support/tool-methods.js';

const METHOD_NOT_FOUND = -32601;

describe.skipIf(anvilPath() === undefined)('the list of methods in docs/tools.md', () => {
  let anvil: Anvil;
  beforeAll(async () => {
    anvil = await Anvil.start('osaka');
  }, 90_000);
  afterAll(() => anvil.close());

  test('is that of anvil', async () => {
    // Over HTTP anvil knows no subscriptions.
    const ours = Object.keys(METHOD_INFO.l2).filter((name) => !/^eth_(un)?subscribe$/.test(name));
    const listed = ANVIL_METHODS.filter((name) => !/^eth_(un)?subscribe$/.test(name));
    const names = [...new Set([...ours, ...listed])];
    // Parameters of a wrong form, so that nothing is carried out; but methods without parameters are.
    const wrong = { neither: 'a list' } as unknown as readonly unknown[];
    const replies = await anvil.batch(names.map((method) => ({ method, params: wrong })));
    const known = names.filter((_, i) => replies[i]!.error?.code !== METHOD_NOT_FOUND);
    expect(known.sort()).toEqual([...listed].sort());
  });
});
