import { describe, expect, test } from 'vitest';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { instantiate } from '../../src/kernel/instantiate.js';
import {
  loadTrieKernel,
  readUndo,
  STATUS,
  TRIE_SOURCE,
  type TrieExports,
  trieKernelOf,
  trieRefusal,
} from '../../src/kernel/trie.js';
import { bytesToHex } from '../../src/primitives/hex.js';

const value = (byte: number) => new Uint8Array(32).fill(byte);

describe('what the trie module refuses', () => {
  test.each([
    [
      'notCanonical',
      'HASH_INPUT_NOT_CANONICAL',
      'a word of the mimc input is not below the modulus',
      { scheme: 'mimc' },
    ],
    [
      'reservedKey',
      'OUT_OF_RANGE',
      'hkey is that of head or tail, must be between the keys of head and tail',
      { what: 'hkey', value: 'that of head or tail', limit: 'between the keys of head and tail' },
    ],
    [
      'trieFull',
      'OUT_OF_RANGE',
      'leaf position is 4294967295, must be 2^32 - 2',
      { what: 'leaf position', value: '4294967295', limit: '2^32 - 2' },
    ],
    [
      'badPosition',
      'OUT_OF_RANGE',
      'leaf position is not in use, must be below nextFreeNode',
      { what: 'leaf position', value: 'not in use', limit: 'below nextFreeNode' },
    ],
    [
      'noMemory',
      'KERNEL_OUT_OF_MEMORY',
      'the kernel needs more than 393216 bytes of memory, and the engine gives no more',
      { kernel: 'trie', memoryBytes: 393_216 },
    ],
  ] as const)('%s', (status, code, message, details) => {
    expect(trieRefusal('mimc', STATUS[status], 393_216)).toMatchObject({ code, message, details });
  });

  test('a status that it does not have', () => {
    expect(trieRefusal('poseidon2', -99, 0)).toMatchObject({
      code: 'INTERNAL',
      message: 'the trie kernel returned the unknown status -99',
      details: { reason: 'status -99' },
    });
  });
});

test('a module without memory is refused at each step that needs some', async () => {
  const wasm = await instantiate<TrieExports>(TRIE_SOURCE);
  const without = (name: 'init' | 'createTrie' | 'commit') =>
    trieKernelOf('poseidon2', { ...wasm, [name]: () => 0 }, { nodes: true });
  const noMemory = expect.objectContaining({ code: 'KERNEL_OUT_OF_MEMORY' });
  expect(() => without('init')).toThrow(noMemory);
  expect(() => without('createTrie').createTrie()).toThrow(noMemory);
  const kernel = without('commit');
  const trie = kernel.createTrie();
  kernel.put(trie, value(1), value(1));
  expect(() => kernel.commit()).toThrow(noMemory);
  expect(() => kernel.commitSubRoot(trie)).toThrow(noMemory);
});

describe.each(['mimc', 'poseidon2'] as const)('calls that a trie kernel refuses, %s', (scheme) => {
  const refused = (parameter: string, reason: string) =>
    expect.objectContaining({ code: 'INVALID_PARAMETER', details: { parameter, reason } });

  test('of tries that are not there', async () => {
    const kernel = await loadTrieKernel(scheme);
    const trie = kernel.createTrie();
    kernel.dropTrie(trie);
    const calls: (() => unknown)[] = [
      () => kernel.dropTrie(trie),
      () => kernel.nextFreeNode(trie),
      () => kernel.leafCount(trie),
      () => kernel.subRoot(trie),
      () => kernel.topRoot(trie),
      () => kernel.find(trie, value(1)),
      () => kernel.put(trie, value(1), value(1)),
      () => kernel.remove(trie, value(1)),
      () => kernel.leaf(trie, 0),
      () => kernel.setLeaf(trie, 2, undefined),
      () => kernel.setNextFreeNode(trie, 2),
      () => kernel.commit([trie]),
      () => kernel.commitSubRoot(trie),
      () => kernel.gatherProof(trie, 0),
      () => kernel.siblings(trie, 0),
      () => kernel.node(trie, 0, 0),
      () => kernel.siblingPairs(trie, 0),
    ];
    const reason = `${trie} must be the handle of a trie of this kernel that was not dropped`;
    for (const call of calls) expect(call).toThrow(refused('trie', reason));
  });

  test('of tries with writes that are not committed, and of records that are none', async () => {
    const kernel = await loadTrieKernel(scheme, { undo: true, nodes: true });
    const trie = kernel.createTrie();
    kernel.put(trie, value(1), value(1));
    const calls: (() => unknown)[] = [
      () => kernel.subRoot(trie),
      () => kernel.topRoot(trie),
      () => kernel.gatherProof(trie, 0),
      () => kernel.siblings(trie, 0),
      () => kernel.node(trie, 0, 0),
      () => kernel.siblingPairs(trie, 0),
      () => kernel.takeUndo(),
      () => kernel.takeNodes(),
    ];
    for (const call of calls) expect(call).toThrow(refused('trie', 'has uncommitted writes; commit first'));
    kernel.commit();
    for (const call of calls) expect(call).not.toThrow();
    const reason = 'must be an undo record of tries that exist';
    for (const length of [79, 80, 81]) {
      expect(() => kernel.undo(new Uint8Array(length))).toThrow(refused('record', reason));
    }
    kernel.put(trie, value(2), value(2));
    kernel.commit();
    const record = kernel.takeUndo();
    for (const part of [record.subarray(0, 79), record.subarray(0, 81), record.subarray(1)]) {
      expect(() => kernel.undo(part)).toThrow(refused('record', reason));
    }
    expect(kernel.find(trie, value(2)).present).toBe(true);
  });

  test('of positions and nodes outside the tree', async () => {
    const kernel = await loadTrieKernel(scheme);
    const trie = kernel.createTrie();
    const outside = expect.objectContaining({ code: 'OUT_OF_RANGE' });
    for (const position of [-1, 0.5, 2.5, 2 ** 32, 2 ** 32 + 2, Number.NaN]) {
      expect(kernel.leaf(trie, position)).toBeUndefined();
      for (const call of [
        () => kernel.gatherProof(trie, position),
        () => kernel.siblings(trie, position),
        () => kernel.siblingPairs(trie, position),
        () => kernel.setLeaf(trie, position, undefined),
        () => kernel.setNextFreeNode(trie, position),
      ]) {
        expect(call).toThrow(outside);
      }
    }
    for (const [level, index] of [
      [-1, 0],
      [40, 0],
      [0.5, 0],
      [39, 2],
      [0, 2 ** 40],
      [0, -1],
      [0, 0.5],
    ] as const) {
      expect(() => kernel.node(trie, level, index)).toThrow(outside);
    }
    expect(kernel.node(trie, 39, 1)).toHaveLength(32);
  });

  test('taking back without the option', async () => {
    const kernel = await loadTrieKernel(scheme);
    expect(() => kernel.takeBack()).toThrow(
      refused('undo', 'load the kernel with the option `undo` to take changes back'),
    );
  });
});

describe.each(['mimc', 'poseidon2'] as const)('undo records and drops, %s', (scheme) => {
  test('a record leads back from what changed, inserted, removed and emptied', async () => {
    const kernel = await loadTrieKernel(scheme, { undo: true });
    const [one, other] = [kernel.createTrie(), kernel.createTrie()];
    for (let byte = 1; byte < 9; byte++) kernel.put(byte % 2 === 0 ? one : other, value(byte), value(byte));
    kernel.commit();
    kernel.takeUndo();
    const shown = () =>
      [one, other].map((trie) => [bytesToHex(kernel.topRoot(trie)), kernel.nextFreeNode(trie), kernel.leafCount(trie)]);
    const before = shown();
    kernel.put(one, value(2), value(10));
    kernel.put(one, value(9), value(9));
    kernel.remove(one, value(4));
    for (const byte of [1, 3, 5, 7]) kernel.remove(other, value(byte));
    kernel.commit();
    expect(shown()).not.toEqual(before);
    const record = kernel.takeUndo();
    expect(kernel.takeUndo()).toHaveLength(0);
    kernel.undo(record);
    kernel.commit();
    expect(shown()).toEqual(before);
    expect(kernel.find(one, value(9)).present).toBe(false);
    expect(kernel.find(one, value(4)).present).toBe(true);
  });

  test('a record says what was before (docs/spec/state-trie.md 2)', async () => {
    const kernel = await loadTrieKernel(scheme, { undo: true });
    const [one, other] = [kernel.createTrie(), kernel.createTrie()];
    for (const trie of [one, other]) kernel.put(trie, value(5), value(trie === one ? 6 : 7));
    kernel.commit();
    kernel.takeUndo();
    expect(readUndo(kernel.takeUndo())).toEqual([]);
    kernel.put(other, value(5), value(8));
    kernel.put(one, value(9), value(9));
    kernel.commit();
    const leaf = (hval: number) => ({ prevLeaf: 0, nextLeaf: 1, hkey: value(5), hval: value(hval) });
    const tail = { prevLeaf: 2, nextLeaf: 1, hkey: schemeFormat(scheme).tailKey, hval: value(0) };
    expect(readUndo(kernel.takeUndo())).toEqual([
      { trie: other, position: 2, leaf: leaf(7) },
      { trie: one, position: 2, leaf: leaf(6) },
      { trie: one, nextFreeNode: 3 },
      { trie: one, position: 3, leaf: undefined },
      { trie: one, position: 1, leaf: tail },
    ]);
  });

  test('a trie that was dropped has no writes to commit', async () => {
    const kernel = await loadTrieKernel(scheme, { undo: true });
    const [gone, stays] = [kernel.createTrie(), kernel.createTrie()];
    kernel.put(gone, value(1), value(1));
    kernel.put(stays, value(1), value(1));
    kernel.dropTrie(gone);
    kernel.commit();
    expect(kernel.leafCount(stays)).toBe(3);
    expect(() => kernel.takeUndo()).not.toThrow();
  });
});

describe.each(['mimc', 'poseidon2'] as const)('effects and proofs, %s', (scheme) => {
  test('a write tells what it did, and where', async () => {
    const kernel = await loadTrieKernel(scheme);
    const trie = kernel.createTrie();
    // Head and tail have the positions 0 and 1 (docs/spec/state-trie.md 2).
    expect(kernel.put(trie, value(3), value(1))).toEqual({ effect: 'insert', position: 2 });
    expect(kernel.put(trie, value(5), value(1))).toEqual({ effect: 'insert', position: 3 });
    expect(kernel.put(trie, value(3), value(2))).toEqual({ effect: 'update', position: 2 });
    expect(kernel.remove(trie, value(4))).toEqual({ effect: 'none' });
    expect(kernel.find(trie, value(4))).toEqual({ present: false, left: 2, right: 3 });
    expect(kernel.remove(trie, value(3))).toEqual({ effect: 'remove', position: 2 });
    expect(kernel.leaf(trie, 2)).toBeUndefined();
    expect(kernel.leaf(trie, 3)).toEqual({ prevLeaf: 0, nextLeaf: 1, hkey: value(5), hval: value(1) });
  });

  test('a proof has 42 preimages: the top, 40 siblings, the leaf', async () => {
    const [kernel, hasher] = [await loadTrieKernel(scheme), await loadHasher(scheme)];
    const trie = kernel.createTrie();
    for (const byte of [3, 5, 7]) kernel.put(trie, value(byte), value(byte));
    kernel.commit();
    const indexBytes = scheme === 'mimc' ? 32 : 64;
    const leafBytes = 2 * indexBytes + 64;
    const hash = (bytes: Uint8Array) => bytesToHex(hasher.hash(bytes));
    for (const [position, besideBytes] of [
      [3, leafBytes],
      [4, 32],
    ] as const) {
      const proof = kernel.gatherProof(trie, position);
      const lengths = [indexBytes + 32, ...Array<number>(39).fill(64), besideBytes, leafBytes];
      expect(proof.map(({ length }) => length)).toEqual(lengths);
      expect(hash(proof[0]!)).toBe(bytesToHex(kernel.topRoot(trie)));
      // The siblings of the siblings of a leaf lead to that leaf.
      expect(hash(proof[41]!)).toBe(bytesToHex(kernel.siblings(trie, position ^ 1)[0]!));
      const siblings = kernel.siblings(trie, position).map(bytesToHex);
      if (besideBytes === leafBytes) expect(hash(proof[40]!)).toBe(siblings[0]);
      const pairs = kernel.siblingPairs(trie, position);
      expect(pairs.map(hash).reverse()).toEqual(siblings.slice(1));
      expect(proof.slice(1, 40).map(hash).reverse()).toEqual(siblings.slice(1));
    }
  });
});
