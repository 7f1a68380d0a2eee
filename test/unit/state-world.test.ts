import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it, vi } from 'vitest';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { openWorldState } from '../../src/state/open-world-state.js';
import { address, CODE, change, openSmall as open, set, state, word } from '../support/small-state.js';
import { openState } from '../support/world-state.js';

const { emptyRoot, emptyCodeHash } = schemeFormat('poseidon2');
const ZERO = new Uint8Array(32);
const leafIndexOf = (held: Awaited<ReturnType<typeof open>>, n: number) => {
  const { accountProof } = held.prove(held.head!, address(n), []);
  return 'leafIndex' in accountProof ? accountProof.leafIndex : undefined;
};

describe('world state', () => {
  it('starts empty', async () => {
    const held = await openState('poseidon2');
    expect(held.root()).toEqual(emptyRoot);
    expect([held.head, held.oldest, held.nextFreeNode()]).toEqual([undefined, undefined, 2]);
    expect(() => held.root(0)).toThrow(expect.objectContaining({ code: 'STATE_NOT_HELD', details: { block: 0 } }));
  });

  it('returns the values of every held block', async () => {
    const held = await open();
    held.applyBlock(1, [
      change(1, state(0n, 100n), state(1n, 90n)),
      change(2, state(1n, 0n), state(1n, 10n), [set(1, 11, 0), set(2, 12, 22), set(4, 0, 14)]),
    ]);
    expect(held.account(0, address(1))).toEqual({
      ...state(0n, 100n),
      storageRoot: emptyRoot,
      zkCodeHash: emptyCodeHash,
      keccakCodeHash: keccak_256(new Uint8Array(0)),
      codeSize: 0n,
    });
    expect(held.account(1, address(1))).toMatchObject(state(1n, 90n));
    expect(held.account(1, address(2))).toMatchObject({ keccakCodeHash: keccak_256(CODE), codeSize: 5n });
    expect(held.account(1, address(9))).toBeUndefined();
    const slots = (block: number) => [1, 2, 3, 4].map((key) => held.slot(block, address(2), word(key)).at(-1));
    expect([slots(0), slots(1)]).toEqual([
      [11, 12, 13, 0],
      [0, 22, 13, 14],
    ]);
    expect(held.slot(1, address(9), word(1))).toEqual(ZERO);
  });

  it('does not depend on the order of the changes', async () => {
    const changes = Array.from({ length: 12 }, (_, i) =>
      change(i + 1, undefined, state(1n, BigInt(i)), [set(1, 0, i + 1), set(2, 0, 1), set(3, 0, 2)]),
    );
    const turned = changes.map((one) => ({ ...one, slots: [...one.slots].reverse() })).reverse();
    const [one, other] = [await openState('poseidon2'), await openState('poseidon2')];
    expect(one.applyBlock(0, changes)).toEqual(other.applyBlock(0, turned));
  });

  it('changes nothing for accounts and slots that were only touched', async () => {
    const held = await open();
    const root = held.root();
    held.applyBlock(1, [
      change(1, state(0n, 100n), state(0n, 100n)),
      change(2, state(1n, 0n), state(1n, 0n), [set(1, 11, 11), set(7, 0, 0)]),
      change(8, undefined, undefined, [set(1, 0, 0)]),
    ]);
    expect(held.root()).toEqual(root);
    expect(held.nextFreeNode()).toBe(5);
  });

  it('gives a recreated account a new position and new storage', async () => {
    const held = await open();
    const position = leafIndexOf(held, 2);
    held.applyBlock(1, [
      change(2, state(1n, 0n), { ...state(1n, 7n), code: CODE }, [set(1, 11, 0), set(2, 12, 0), set(5, 0, 1)], true),
    ]);
    const fresh = await openState('poseidon2');
    fresh.applyBlock(0, [change(2, undefined, { ...state(1n, 7n), code: CODE }, [set(5, 0, 1)])]);
    expect([leafIndexOf(held, 2), held.nextFreeNode()]).toEqual([5, 6]);
    expect(position).toBeLessThan(5);
    expect(held.account(1, address(2))).toEqual(fresh.account(0, address(2)));
    expect(held.slot(1, address(2), word(3))).toEqual(ZERO);
  });

  it('ignores the before-values of slots of a destroyed account', async () => {
    const held = await open();
    const after = { ...state(1n, 0n), code: CODE };
    held.applyBlock(1, [change(2, state(1n, 0n), after, [set(1, 99, 11), set(2, 12, 12)], true)]);
    expect([1, 2, 3].map((key) => held.slot(1, address(2), word(key)).at(-1))).toEqual([11, 12, 0]);
  });

  it.each(['applyBlock', 'applyBlockTraced'] as const)('removes and recreates accounts: %s', async (apply) => {
    // One with slots that the block does not list, one without storage, and one that is not said to be destroyed.
    const held = await open();
    held[apply](1, [
      change(1, state(0n, 100n), state(1n, 1n), [], true),
      change(2, state(1n, 0n), undefined, [], true),
      change(3, state(1n, 5n), undefined),
    ]);
    const items = [1, 2, 3].map((n) => held.prove(1, address(n), [word(1)]));
    expect(items.map(({ accountProof }) => 'leafIndex' in accountProof)).toEqual([true, false, false]);
    for (const [i, item] of items.entries()) {
      const request = { address: address(i + 1), storageKeys: [word(1)], stateRoot: held.root() };
      const verdict = verifyLineaProof(await loadHasher('poseidon2'), request, JSON.parse(JSON.stringify(item)));
      expect([i, verdict]).toMatchObject([i, { verified: true }]);
    }
    expect([leafIndexOf(held, 1), held.nextFreeNode()]).toEqual([5, 6]);
    expect(held.account(1, address(1))).toMatchObject({ ...state(1n, 1n), storageRoot: emptyRoot });
    expect([2, 3].map((n) => held.account(1, address(n)))).toEqual([undefined, undefined]);
  });

  it('removes an account, which starts empty when recreated later', async () => {
    const held = await open();
    held.applyBlock(1, [change(2, state(1n, 0n), undefined, [set(1, 11, 0)], true)]);
    expect([held.account(1, address(2)), held.nextFreeNode()]).toEqual([undefined, 5]);
    held.applyBlock(2, [change(2, undefined, state(0n, 1n))]);
    expect(held.account(2, address(2))?.storageRoot).toEqual(emptyRoot);
    expect([leafIndexOf(held, 2), held.nextFreeNode()]).toEqual([5, 6]);
  });

  it('a recreated account whose empty storage was not touched keeps its root, and writes to a new trie', async () => {
    const held = await open();
    held.applyBlock(1, [change(2, state(1n, 0n), state(1n, 0n), [set(1, 11, 0), set(2, 12, 0), set(3, 13, 0)])]);
    const kept = held.account(1, address(2))!.storageRoot;
    expect(kept).not.toEqual(emptyRoot);
    held.applyBlock(2, [change(2, state(1n, 0n), state(2n, 0n), [], true)]);
    expect(held.account(2, address(2))?.storageRoot).toEqual(kept);
    expect(held.prove(2, address(2), [word(1)]).storageProofs).toHaveLength(1);
    held.applyBlock(3, [change(2, state(2n, 0n), state(2n, 1n))]);
    held.applyBlock(4, [change(2, state(2n, 1n), state(2n, 1n), [set(1, 0, 11), set(2, 0, 12), set(3, 0, 13)])]);
    expect(held.account(4, address(2))?.storageRoot).toEqual(held.account(0, address(2))?.storageRoot);
  });

  it('a slot cleared and written again in one block moves to a new position', async () => {
    const held = await open();
    held.applyBlock(1, [change(2, state(1n, 0n), state(1n, 0n), [{ ...set(1, 11, 21), cleared: true }])]);
    const [item] = held.prove(1, address(2), [word(1)]).storageProofs;
    expect(item).toMatchObject({ leafIndex: 5 });
  });

  it('reverts exactly, and continues with other blocks', async () => {
    const held = await open();
    const root = held.root();
    const proof = JSON.stringify(held.prove(0, address(2), [word(1), word(9)]));
    const block = [change(2, state(1n, 0n), undefined, [], true), change(4, undefined, state(0n, 1n))];
    const first = held.applyBlock(1, block);
    held.applyBlock(2, [change(4, state(0n, 1n), undefined)]);
    held.revertTo(0);
    expect([held.head, held.root(), held.nextFreeNode()]).toEqual([0, root, 5]);
    expect(JSON.stringify(held.prove(0, address(2), [word(1), word(9)]))).toBe(proof);
    expect(() => held.root(1)).toThrow(expect.objectContaining({ code: 'STATE_NOT_HELD' }));
    expect(() => held.revertTo(1)).toThrow(expect.objectContaining({ code: 'STATE_NOT_HELD' }));
    expect(held.applyBlock(1, block)).toEqual(first);
  });

  it('releases old blocks, never the newest', async () => {
    const held = await open();
    const root = held.applyBlock(1, [change(4, undefined, state(0n, 1n))]);
    held.applyBlock(2, []);
    held.releaseBefore(1);
    expect([held.oldest, held.head]).toEqual([1, 2]);
    expect(held.root(1)).toEqual(root);
    expect(() => held.account(0, address(1))).toThrow(expect.objectContaining({ code: 'STATE_NOT_HELD' }));
    held.releaseBefore(99);
    expect([held.oldest, held.head, held.root(2)]).toEqual([2, 2, root]);
    held.applyBlock(3, []);
    expect(() => held.revertTo(0)).toThrow(expect.objectContaining({ code: 'STATE_NOT_HELD' }));
  });

  it('applies many first accounts in chunks, reports progress, and gives the same state as one by one', async () => {
    const first = Array.from({ length: 2500 }, (_, i) => {
      const slots = i % 50 === 0 ? [set(1, 0, i + 1), set(2, 0, 5)] : [];
      return change(7919 * (i + 1), undefined, i % 99 === 98 ? undefined : state(1n, BigInt(i)), slots);
    });
    const [held, onebyone] = [await openState('poseidon2'), await openState('poseidon2')];
    const refused = [...first];
    const at = first.findLastIndex(({ after }) => after !== undefined);
    refused[at] = { ...first[at]!, after: state(1n, 1n << 256n) };
    const told: number[] = [];
    const tell = (fraction: number) => told.push(fraction);
    expect(() => held.applyBlock(0, refused, tell)).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }));
    expect(() => held.applyBlock(0, [...first, first[0]!])).toThrow(
      expect.objectContaining({ code: 'INVALID_PARAMETER' }),
    );
    expect([held.head, held.nextFreeNode(), held.root()]).toEqual([undefined, 2, onebyone.root()]);
    told.length = 0;
    const root = held.applyBlock(0, first, tell);
    expect(root).toEqual(onebyone.applyBlockTraced(0, first).root);
    expect(told).toEqual([1024 / 2500, 2048 / 2500, 1]);
    for (const i of [0, 50, 98, 2499]) {
      const { address } = first[i]!;
      expect(held.prove(0, address, [word(1)])).toEqual(onebyone.prove(0, address, [word(1)]));
    }
  });

  it('reports progress in chunks of the first accounts, else once', async () => {
    const held = await openState('poseidon2');
    const told: number[] = [];
    const tell = (fraction: number) => told.push(fraction);
    const first = Array.from({ length: 1100 }, (_, i) => change(i + 1, undefined, state(1n, BigInt(i))));
    held.applyBlock(0, [], tell);
    held.applyBlock(1, first, tell);
    expect(told).toEqual([1024 / 1100, 1]);
    expect([held.account(1, address(1)), held.account(1, address(1100))]).toMatchObject([
      state(1n, 0n),
      state(1n, 1099n),
    ]);
    held.applyBlock(
      2,
      first.map((one, i) => ({ ...one, before: state(1n, BigInt(i)), after: state(2n, 0n) })),
      tell,
    );
    expect(told).toEqual([1024 / 1100, 1, 1]);
  });

  it('drops the undo record of the oldest block, and the tries that only it needed', async () => {
    const kernel = await loadTrieKernel('poseidon2', { undo: true, nodes: true });
    const drop = vi.spyOn(kernel, 'dropTrie');
    const held = openWorldState(await loadHasher('poseidon2'), kernel);
    held.applyBlock(0, [change(1, undefined, state(0n, 1n), [set(1, 0, 1)])]);
    held.applyBlock(1, [change(1, state(0n, 1n), undefined, [], true)]);
    held.applyBlock(2, []);
    expect(held.slot(0, address(1), word(1))).toEqual(word(1));
    expect(drop).not.toHaveBeenCalled();
    held.releaseBefore(1);
    expect(drop).toHaveBeenCalledTimes(1);
    held.revertTo(1);
    expect(held.account(1, address(1))).toBeUndefined();
    held.releaseBefore(1);
    expect(drop).toHaveBeenCalledTimes(1);
  });

  it('keeps the tries of accounts that are only touched', async () => {
    const held = await open();
    held.applyBlock(1, [change(2, state(1n, 0n), state(1n, 0n), [set(1, 11, 11)])]);
    held.applyBlock(2, [change(2, state(1n, 0n), state(1n, 0n), [set(2, 12, 22)])]);
    const proof = JSON.stringify(held.prove(2, address(2), [word(1), word(2)]));
    held.releaseBefore(2);
    expect([1, 2, 3].map((key) => held.slot(2, address(2), word(key)).at(-1))).toEqual([11, 22, 13]);
    expect(JSON.stringify(held.prove(2, address(2), [word(1), word(2)]))).toBe(proof);
  });

  it('returns copies of traces', async () => {
    const held = await open();
    const before = held.root();
    const proof = () => JSON.stringify(held.prove(held.head!, address(2), [word(1), word(2), word(3)]));
    const changes = [
      change(1, state(0n, 100n), state(1n, 100n)),
      change(2, state(1n, 0n), state(2n, 0n), [set(1, 11, 7), set(2, 12, 0), set(3, 13, 13)]),
      change(3, state(1n, 5n), undefined, [], true),
    ];
    const { root, traces } = held.applyBlockTraced(1, changes);
    const said = proof();
    const wipe = (item: unknown): void => {
      if (item instanceof Uint8Array) item.fill(0);
      else if (typeof item === 'object' && item !== null) Object.values(item).forEach(wipe);
    };
    wipe(traces);
    expect([held.root(), proof()]).toEqual([root, said]);
    // The next block compares with what is held.
    held.applyBlock(2, [change(2, state(2n, 0n), state(2n, 0n), [set(1, 7, 7), set(3, 13, 13)])]);
    held.revertTo(0);
    expect(held.root()).toEqual(before);
    expect(held.account(0, address(3))).toMatchObject({ nonce: 1n, balance: 5n });
    expect(held.slot(0, address(2), word(2))).toEqual(word(12));
  });

  it('returns copies', async () => {
    const held = await open();
    const root = held.root();
    held.root().fill(0);
    held.slot(0, address(2), word(1)).fill(0);
    held.account(0, address(2))?.storageRoot.fill(0);
    expect(held.root()).toEqual(root);
    expect(held.slot(0, address(2), word(1))).toEqual(word(11));
    expect(held.account(0, address(2))?.storageRoot.some((byte) => byte !== 0)).toBe(true);
  });
});
