import { describe, expect, it } from 'vitest';
import type { ZkAccountChange } from '../../src/state/world-state.js';
import { address, change, openSmall as open, set, state, word } from '../support/small-state.js';

const ZERO = new Uint8Array(32);

describe('a block that contradicts the state is refused:', () => {
  const good = change(1, state(0n, 100n), state(1n, 100n));
  const cases: [string, string, ZkAccountChange[]][] = [
    ['a nonce that is not held', 'STATE_MISMATCH', [change(1, state(1n, 100n), state(2n, 100n))]],
    ['a balance that is not held', 'STATE_MISMATCH', [change(1, state(0n, 99n), state(1n, 99n))]],
    ['an account that is not there', 'STATE_MISMATCH', [change(9, state(0n, 1n), state(0n, 2n))]],
    ['an account that is there already', 'STATE_MISMATCH', [change(1, undefined, state(0n, 2n))]],
    ['a slot that is not held', 'STATE_MISMATCH', [change(2, state(1n, 0n), state(1n, 0n), [set(1, 12, 13)])]],
    [
      'a slot of an account without storage',
      'STATE_MISMATCH',
      [change(3, state(1n, 5n), state(1n, 5n), [set(1, 1, 2)])],
    ],
    ['another code', 'STATE_MISMATCH', [change(2, { ...state(1n, 0n), keccakCodeHash: ZERO }, state(2n, 0n))]],
    [
      'a code hash without its code',
      'STATE_MISMATCH',
      [change(4, undefined, { ...state(1n, 0n), keccakCodeHash: ZERO })],
    ],
    ['slots left behind by a recreation', 'STATE_MISMATCH', [change(2, state(1n, 0n), state(1n, 0n), [], true)]],
    ['an address twice', 'INVALID_PARAMETER', [good, good]],
    ['a slot twice', 'INVALID_PARAMETER', [change(2, state(1n, 0n), state(1n, 0n), [set(1, 11, 2), set(1, 11, 3)])]],
    ['a balance of 2^256', 'OUT_OF_RANGE', [change(1, state(0n, 100n), state(1n, 1n << 256n))]],
    ['a short address', 'INVALID_LENGTH', [{ ...good, address: new Uint8Array(19) }]],
    ['a short slot key', 'INVALID_LENGTH', [{ ...good, slots: [{ ...set(1, 0, 1), key: new Uint8Array(31) }] }]],
    ['a short slot value', 'INVALID_LENGTH', [{ ...good, slots: [{ ...set(1, 0, 1), after: new Uint8Array(31) }] }]],
  ];

  it.each(cases)('%s, with the state unchanged', async (_, code, changes) => {
    const held = await open();
    const root = held.root();
    const before = JSON.stringify(held.prove(0, address(2), [word(1)]));
    const others = code === 'INVALID_PARAMETER' ? [] : [change(5, undefined, state(0n, 1n), [set(1, 0, 1)])];
    expect(() => held.applyBlock(1, [...others, ...changes])).toThrow(expect.objectContaining({ code }));
    expect([held.head, held.root(), held.nextFreeNode()]).toEqual([0, root, 5]);
    expect(JSON.stringify(held.prove(0, address(2), [word(1)]))).toBe(before);
    expect(() => held.applyBlock(1, [good])).not.toThrow();
  });

  it.each([0, 2, -1, 1.5])('number %d after block 0', async (block) => {
    const held = await open();
    expect(() => held.applyBlock(block, [])).toThrow(expect.objectContaining({ code: 'STATE_MISMATCH' }));
  });
});

describe('proof shapes', async () => {
  const held = await open();
  const fields = (item: object) => Object.keys(item).sort();
  const present = ['key', 'leafIndex', 'proof'];
  const absent = ['key', 'leftLeafIndex', 'leftProof', 'rightLeafIndex', 'rightProof'];

  it('an account with slots has one item per requested key, in order, duplicates included', async () => {
    const { accountProof, storageProofs } = held.prove(0, address(2), [word(3), word(9), word(3)]);
    expect([accountProof, ...storageProofs].map(fields)).toEqual([present, present, absent, present]);
    expect(storageProofs.map(({ key }) => Number(key))).toEqual([3, 9, 3]);
    expect(accountProof.key).toBe('0x0000000000000000000000000000000000000002');
  });

  it('an account with empty storage and a missing account have no storage items', async () => {
    const without = held.prove(0, address(3), [word(1)]);
    const missing = held.prove(0, address(9), [word(1)]);
    expect([fields(without.accountProof), without.storageProofs]).toEqual([present, []]);
    expect([fields(missing.accountProof), missing.storageProofs]).toEqual([absent, []]);
  });

  it('a block that is not held and keys of another length are refused', async () => {
    expect(() => held.prove(1, address(2), [])).toThrow(expect.objectContaining({ code: 'STATE_NOT_HELD' }));
    expect(() => held.prove(0, address(2), [new Uint8Array(31)])).toThrow(
      expect.objectContaining({ code: 'INVALID_LENGTH' }),
    );
    expect(() => held.prove(0, new Uint8Array(32), [])).toThrow(expect.objectContaining({ code: 'INVALID_LENGTH' }));
  });
});
