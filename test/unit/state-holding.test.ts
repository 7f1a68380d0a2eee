import { describe, expect, it, vi } from 'vitest';
import { encodeFull } from '../../src/accumulator/scheme.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { hashEach, KeyHashes } from '../../src/state/hash-cache.js';
import { openWorldState } from '../../src/state/open-world-state.js';
import { openWithPages } from '../support/paged-state.js';
import { address, change, openSmall, set, state, word } from '../support/small-state.js';
import { openState } from '../support/world-state.js';

const same = state(1n, 0n);

describe('a state of some blocks', () => {
  it('begins with any number from 0 on', async () => {
    for (const block of [-1, 0.5, Number.NaN, 2 ** 53]) {
      const held = await openState('poseidon2');
      expect(() => held.applyBlock(block, [])).toThrow(expect.objectContaining({ code: 'STATE_MISMATCH' }));
    }
    const held = await openState('poseidon2');
    held.applyBlock(7, []);
    expect([held.head, held.oldest]).toEqual([7, 7]);
  });

  it('gives roots and values that are copies', async () => {
    const held = await openState('poseidon2');
    const empty = held.root().slice();
    held.root().fill(0);
    expect(held.root()).toEqual(empty);
    const root = held.applyBlock(0, [change(1, undefined, same)]);
    const kept = root.slice();
    root.fill(0);
    expect(held.root()).toEqual(kept);
    held.slot(0, address(1), word(1)).fill(1);
    held.slot(0, address(9), word(1)).fill(1);
    expect(held.slot(0, address(9), word(1))).toEqual(new Uint8Array(32));
    // What a caller writes into the values of a block afterwards is no part of the state.
    const slot = set(1, 0, 5);
    const next = held.applyBlock(1, [change(1, same, same, [slot])]).slice();
    slot.after.fill(9);
    expect([held.slot(1, address(1), word(1)), held.root()]).toEqual([word(5), next]);
    const traced = set(2, 0, 6);
    const { traces } = held.applyBlockTraced(2, [change(1, same, same, [traced])]);
    traced.after.fill(9);
    expect(held.slot(2, address(1), word(2))).toEqual(word(6));
    expect(traces[0]).toMatchObject({ type: 'insert', value: word(6) });
  });

  it('answers for many earlier blocks, in any order', async () => {
    const held = await openSmall();
    const count = 20;
    for (let block = 1; block < count; block++) {
      held.applyBlock(block, [change(2, same, same, [set(1, 10 + block, 11 + block)])]);
    }
    const values = () => Array.from({ length: count }, (_, block) => held.slot(block, address(2), word(1)).at(-1));
    const expected = Array.from({ length: count }, (_, block) => 11 + block);
    expect([values(), values()]).toEqual([expected, expected]);
    const free = Array.from({ length: count }, (_, block) => held.nextFreeNode(block));
    expect(free).toEqual(Array(count).fill(5));
    held.releaseBefore(0);
    held.releaseBefore(-5);
    expect([held.oldest, values()]).toEqual([0, expected]);
    held.revertTo(5);
    held.applyBlock(6, [change(2, same, same, [set(1, 16, 99)])]);
    expect([5, 6].map((block) => held.slot(block, address(2), word(1)).at(-1))).toEqual([16, 99]);
  });

  it.each(['applyBlock', 'applyBlockTraced'] as const)(
    'keeps only the tries that its blocks need: %s',
    async (apply) => {
      const kernel = await loadTrieKernel('poseidon2', { undo: true, nodes: true });
      const drop = vi.spyOn(kernel, 'dropTrie');
      const held = openWorldState(await loadHasher('poseidon2'), kernel);
      held[apply](
        0,
        [1, 2, 3, 4].map((n) => change(n, undefined, same, n === 4 ? [] : [set(1, 0, n)])),
      );
      const emptied = [set(1, 3, 0)];
      const blocks = [
        // A slot more; nothing of its storage; without storage. All keep what they have.
        [change(1, same, same, [set(2, 0, 5)]), change(2, same, state(2n, 0n)), change(4, same, state(2n, 0n))],
        // Destroyed, with its storage. One trie is not needed any more.
        [change(1, same, undefined, [set(1, 1, 0), set(2, 5, 0)], true)],
        // Recreated with slots: another trie takes the place of the first.
        [change(2, state(2n, 0n), same, [set(1, 2, 9)], true)],
        // Emptied, and recreated without slots: it keeps its trie, until a slot is written.
        [change(3, same, same, emptied)],
        [change(3, same, same, [], true)],
        [change(3, same, same, [set(1, 0, 8)])],
      ];
      const dropped: number[] = [];
      for (const [i, block] of blocks.entries()) {
        held[apply](i + 1, block);
        held.releaseBefore(i + 1);
        dropped.push(drop.mock.calls.length);
      }
      expect(dropped).toEqual([0, 1, 2, 2, 2, 3]);
      expect(new Set(drop.mock.calls.map(([trie]) => trie)).size).toBe(3);
      expect([2, 3].map((n) => held.slot(6, address(n), word(1)).at(-1))).toEqual([9, 8]);
    },
  );

  it('has no pages to take before its first block, or without the option', async () => {
    expect((await openWithPages('poseidon2')).takePages()).toEqual({ puts: [], deletes: [] });
    const held = await openState('poseidon2');
    expect(() => held.takePages()).toThrow(
      expect.objectContaining({
        code: 'INVALID_PARAMETER',
        message: expect.stringMatching(/pages.*open the state with the option `pages` to take pages/),
      }),
    );
  });

  it('stays as it is when there is no memory for the way back', async () => {
    const kernel = await loadTrieKernel('poseidon2', { undo: true, nodes: true });
    const held = openWorldState(await loadHasher('poseidon2'), kernel);
    held.applyBlock(0, [change(1, undefined, same, [set(1, 0, 1)]), change(2, undefined, same)]);
    held.applyBlock(1, [change(1, same, state(2n, 0n), [set(1, 1, 2)]), change(3, undefined, same)]);
    const said = () => JSON.stringify([1, 2, 3].map((n) => held.prove(held.head!, address(n), [word(1)])));
    const before = [held.head, held.root(), said()];
    const commit = vi.spyOn(kernel, 'commit').mockImplementationOnce(() => {
      throw new Error('no memory');
    });
    expect(() => held.revertTo(0)).toThrow('no memory');
    expect([held.head, held.root(), said()]).toEqual(before);
    commit.mockRestore();
    // A block on top is that of a state that was never reverted.
    held.applyBlock(2, []);
    expect([held.root(), said()]).toEqual(before.slice(1));
    held.revertTo(0);
    expect(held.account(0, address(3))).toBeUndefined();
    expect(held.slot(0, address(1), word(1))).toEqual(word(1));
  });

  it('needs a kernel of the same scheme, with its records', async () => {
    const hasher = await loadHasher('poseidon2');
    for (const [scheme, options] of [
      ['mimc', { undo: true, nodes: true }],
      ['poseidon2', { undo: true }],
      ['poseidon2', { nodes: true }],
    ] as const) {
      const kernel = await loadTrieKernel(scheme, options);
      expect(() => openWorldState(hasher, kernel)).toThrow(
        expect.objectContaining({
          code: 'INVALID_PARAMETER',
          message: "kernel: must have the hasher's scheme and the options undo and nodes",
        }),
      );
    }
  });
});

describe('hashes of keys', () => {
  /** Hashes, and how many of them were asked for. */
  async function counting() {
    const hasher = await loadHasher('poseidon2');
    const asked: number[] = [];
    const counted: Hasher = {
      ...hasher,
      scheme: hasher.scheme,
      hashMany(inputs, bytes) {
        asked.push(inputs.length / bytes);
        return hasher.hashMany(inputs, bytes);
      },
    };
    return { hasher, asked, keys: new KeyHashes(counted) };
  }

  it('are computed once for each key, in the order of the keys', async () => {
    const { hasher, asked, keys } = await counting();
    const expected = (n: number) => hasher.hash(encodeFull('poseidon2', word(n)));
    expect(keys.ofSlots([1, 2, 1].map(word))).toEqual([1, 2, 1].map(expected));
    expect(asked).toEqual([2]);
    expect(keys.ofSlots([2, 3].map(word))).toEqual([2, 3].map(expected));
    expect(keys.hashedSlots([3].map(word))).toEqual([{ key: word(3), hkey: expected(3) }]);
    expect([asked, keys.ofSlots([]), hashEach(hasher, [], encodeFull)]).toEqual([[2, 1], [], []]);
  });

  it('are forgotten when there are more than 65 536', async () => {
    const { asked, keys } = await counting();
    const some = (count: number, from: number) => Array.from({ length: count }, (_, i) => word(from + i));
    keys.ofSlots(some(65_535, 0));
    keys.ofSlots([word(0)]);
    keys.ofSlots([word(65_535)]);
    keys.ofSlots([word(0)]);
    expect(asked).toEqual([65_535, 1]);
    keys.ofSlots([word(65_536)]);
    keys.ofSlots([word(0), word(65_536)]);
    expect(asked).toEqual([65_535, 1, 1, 1]);
  });

  it('are refused for keys of another length, by their name', async () => {
    const { keys } = await counting();
    const refused = (name: RegExp) =>
      expect.objectContaining({ code: 'INVALID_LENGTH', message: expect.stringMatching(name) });
    expect(() => keys.hashedAddress(new Uint8Array(32))).toThrow(refused(/^address.*20/));
    expect(() => keys.hashedSlots([new Uint8Array(20)])).toThrow(refused(/^slot key.*32/));
  });
});
