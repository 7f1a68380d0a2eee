import { expect, test } from 'vitest';
import { EMPTY_CODE_HASH } from '../../src/ethereum/constants.js';
import { StateTrie, type TrieWrite } from '../../src/ethereum/state-trie.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';

const word = (value: number) => bigIntToBytes(BigInt(value), 32);

/** Accounts with and without storage; the storage of each third is the same as its neighbour's. */
const writes: TrieWrite[] = Array.from({ length: 700 }, (_, i) => ({
  address: bigIntToBytes(BigInt(i) * 7919n + 1n, 20),
  account: { nonce: BigInt(i % 3), balance: BigInt(i) ** 5n, codeHash: EMPTY_CODE_HASH },
  slots: i % 3 === 0 ? [] : [{ key: word(i % 5), after: word(Math.floor(i / 3) + 1) }],
}));

test('loading gives the same root and proofs as single writes, and reports progress', async () => {
  const [loaded, written] = [new StateTrie(), new StateTrie()];
  const fractions: number[] = [];
  const root = await loaded.load(writes, (fraction) => fractions.push(fraction));
  expect(root).toEqual(await written.write(writes));
  expect(fractions.length).toBeGreaterThan(1);
  expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  for (const { address, slots } of writes.slice(0, 40)) {
    const keys = [...slots.map(({ key }) => key), word(77)];
    expect(await loaded.prove(root, address, keys)).toEqual(await written.prove(root, address, keys));
  }
});

test('writes after loading continue from it, and can be reverted', async () => {
  const [loaded, written] = [new StateTrie(), new StateTrie()];
  const root = await loaded.load(writes, () => {});
  await written.write(writes);
  const change: TrieWrite = { ...writes[1]!, slots: [{ key: word(1), after: word(99) }] };
  expect(await loaded.write([change])).toEqual(await written.write([change]));
  loaded.revertTo(root);
  const removal: TrieWrite = { address: writes[4]!.address, account: undefined, slots: [] };
  written.revertTo(root);
  expect(await loaded.write([removal])).toEqual(await written.write([removal]));
});

test('of two writes of one account or slot the later counts, and zero is no value', async () => {
  const [loaded, written] = [new StateTrie(), new StateTrie()];
  const slots = Array.from({ length: 60 }, (_, i) => ({ key: word(i % 40), after: word(i % 7) }));
  const twice: TrieWrite[] = [...writes.slice(0, 9), { ...writes[3]!, clearStorage: true, slots }];
  const root = await loaded.load(twice, () => {});
  expect(root).toEqual(await written.write(twice));
  const keys = slots.map(({ key }) => key);
  const { address } = writes[3]!;
  expect(await loaded.prove(root, address, keys)).toEqual(await written.prove(root, address, keys));
});
