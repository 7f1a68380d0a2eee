import { describe, expect, test } from 'vitest';
import { schemeFormat, ZERO_HASH } from '../../src/accumulator/scheme.js';
import { loadTrieKernel, PastTries, readTriesBefore, type TrieKernel } from '../../src/kernel/trie.js';

const value = (byte: number) => new Uint8Array(32).fill(byte);

describe.each(['mimc', 'poseidon2'] as const)('tries at an earlier moment, %s', (scheme) => {
  const { tailKey } = schemeFormat(scheme);

  async function open(...keys: number[]): Promise<{ kernel: TrieKernel; trie: number; past: () => PastTries }> {
    const kernel = await loadTrieKernel(scheme, { undo: true, nodes: true });
    const trie = kernel.createTrie();
    for (const key of keys) kernel.put(trie, value(key), value(key));
    const record = () => readTriesBefore(kernel.takeUndo(), kernel.takeNodes());
    const past = () => {
      kernel.commit();
      return new PastTries(kernel, [record()]);
    };
    past();
    return { kernel, trie, past };
  }

  test('have the branches of leaves whose nodes share an index at two levels', async () => {
    const { kernel, trie, past } = await open();
    // Level 0 has a node of index 2^30 for the one, and level 1 for the other.
    const positions = [2 ** 30, 2 ** 30 + 2, 2 ** 31, 2 ** 31 + 4];
    for (const [i, position] of positions.entries()) {
      kernel.setNextFreeNode(trie, position);
      expect(kernel.put(trie, value(i + 1), value(1)).effect).toBe('insert');
    }
    past();
    const before = positions.map((position) => kernel.siblingPairs(trie, position));
    const root = kernel.subRoot(trie);
    for (const i of positions.keys()) kernel.put(trie, value(i + 1), value(2));
    const then = past();
    expect(positions.map((position) => then.branch(trie, position)?.pairs)).toEqual(before);
    expect(positions.map((position) => then.branch(trie, position)?.leaf.hval)).toEqual(Array(4).fill(value(1)));
    expect(then.subRoot(trie)).toEqual(root);
    expect(kernel.subRoot(trie)).not.toEqual(root);
  });

  test('have no branch of a position that was not used', async () => {
    const { kernel, trie, past } = await open(3);
    kernel.put(trie, value(5), value(5));
    const then = past();
    expect(then.branch(trie, 2)?.leaf.hkey).toEqual(value(3));
    expect([then.branch(trie, 3), then.branch(trie, 4)]).toEqual([undefined, undefined]);
  });

  test('find head and tail', async () => {
    const { kernel, trie, past } = await open(3);
    for (const key of [undefined, 5]) {
      if (key !== undefined) kernel.put(trie, value(key), value(key));
      const then = past();
      expect(then.find(trie, ZERO_HASH)).toEqual({ present: true, position: 0 });
      expect(then.find(trie, tailKey)).toEqual({ present: true, position: 1 });
    }
  });

  test('find a key, or its neighbours, where a position had another key', async () => {
    // A record that is undone gives its position to the next key.
    const { kernel, trie, past } = await open(3);
    kernel.put(trie, value(7), value(7));
    kernel.commit();
    const record = kernel.takeUndo();
    kernel.takeNodes();
    kernel.undo(record);
    kernel.put(trie, value(4), value(4));
    const then = past();
    expect(kernel.find(trie, value(4))).toEqual({ present: true, position: 3 });
    expect(then.find(trie, value(7))).toEqual({ present: true, position: 3 });
    for (const absent of [4, 5]) {
      expect(then.find(trie, value(absent))).toEqual({ present: false, left: 2, right: 3 });
    }
    expect(then.find(trie, value(8))).toEqual({ present: false, left: 3, right: 1 });
    expect(then.find(trie, value(3))).toEqual({ present: true, position: 2 });
    expect(then.find(trie, value(2))).toEqual({ present: false, left: 0, right: 2 });
  });
});
