import { beforeEach, expect, test } from 'vitest';
import { addressesIn, ensNames, findNames, namesAsked } from '../../demo/preview/ens.js';
import { namesOf } from '../../demo/preview/names.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, devNode, stranger } from '../support/dev-node.js';
import { deployEns, ENS } from '../support/ens-contracts.js';

const [alice, liar, nobody] = ['a1', 'b2', 'c3'].map(stranger) as [Hex, Hex, Hex];

beforeEach(() => {
  ensNames.value = new Map();
  namesAsked.value = 0;
});

test('of a preview, names are shown whose forward check agrees, beside the address', async () => {
  const { node, ask } = await devNode({
    chain: { kind: 'devnet', network: { ...devnet(), ens: { registry: ENS.registry } } },
  });
  const ens = await deployEns(ask);
  await ens.address('alice.eth', alice);
  await ens.reverse(alice, 'alice.eth');
  // Claims the name of another.
  await ens.reverse(liar, 'alice.eth');
  const calls = [alice, liar, nobody].map((to) => ({ from: accountAt(0), to, value: '0x1' as const }));
  const result = await node.previewTransaction(calls);
  const addresses = addressesIn(result);
  expect(addresses).toEqual(expect.arrayContaining([accountAt(0), alice, liar, nobody]));
  await findNames(addresses, (address) => node.lookupAddress(address), new AbortController().signal);
  expect([...ensNames.value]).toEqual([[alice, 'alice.eth']]);
  const names = namesOf(result, ensNames.value);
  expect([alice, liar, accountAt(0)].map(names.account)).toEqual([
    '\u2068alice.eth\u2069 (0xa1a1…a1a1)',
    '0xb2b2…b2b2',
    'you',
  ]);
});

test('a lookup that fails, or is for another preview, shows nothing and stops nobody', async () => {
  const found = { status: 'found', name: 'alice.eth', coinType: 60, trust: {} as never } as const;
  const asked: Hex[] = [];
  const lookUp = async (address: Hex) => {
    asked.push(address);
    if (address === liar) throw new Error('offline');
    return { ...found, address: alice };
  };
  // The answer for nobody names another address.
  await findNames([liar, nobody, alice], lookUp, new AbortController().signal);
  expect([...ensNames.value.keys()]).toEqual([alice]);
  expect(asked).toEqual([liar, nobody, alice]);
  expect(namesAsked.value).toBe(3);
  ensNames.value = new Map();
  await findNames([alice, nobody], lookUp, AbortSignal.abort());
  expect([...ensNames.value]).toEqual([]);
  expect(asked).toHaveLength(3);
});
