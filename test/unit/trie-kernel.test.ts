import { describe, expect, test } from 'vitest';
import { hashWord } from '../../src/accumulator/keys.js';
import { encodeLeaf } from '../../src/accumulator/leaf-opening.js';
import { schemeFormat, ZERO_HASH } from '../../src/accumulator/scheme.js';
import { type ErrorCode, isPlumblineError } from '../../src/errors.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel, loadZkKernels, type TrieLeaf } from '../../src/kernel/trie.js';
import { bigIntToBytes, concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { type LeafStep, putStepwise, removeStepwise, type SteppedEffect } from '../../src/state/kernel-traces.js';
import { BLS12_377_MODULUS, KOALABEAR_MODULUS } from '../reference/field.js';

/** docs/spec/state-trie.md 2: the empty tree, a storage tree holding slot 0 = 1, and the same after slot 0 is removed. */
const PUBLISHED = {
  mimc: {
    emptySub: '0x0951bfcd4ac808d195af8247140b906a4379b3f2d37ec66e34d2f4a5d35fa166',
    emptyTop: '0x07977874126658098c066972282d4c85f230520af3847e297fe7524f976873e5',
    slotSub: '0x033872bed089870f2cdf8f7225e788529b462728411979d6d8daf6b4238b9523',
    slotTop: '0x0cb64b38d8631a95c7b57be839251759e73775b9cf09205eb33175915b3cb7fe',
    removedTop: '0x0bcb88342825fa7a079a5cf5f77d07b1590a140c311a35acd765080eea120329',
    headLeaf: '0x0891fa77c3d0c9b745840d71d41dcb58b638d4734bb4f0bba4a3d1a2d847b672',
    z1: '0x022efa6a7d3f639a3831916b27daaa5cbcaf1165e47f04ffbe1e707e30a32469',
    z39: '0x09e70d042c8766d9609b6d8169e4e99c664be32a9a4d6461726723723118cfbe',
  },
  poseidon2: {
    emptySub: '0x3a00a8e34a16f8a1225fee734816edb326f783bd6678d793345a28f046586ba6',
    emptyTop: '0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7',
    slotSub: '0x6076c4251ce973301fe3acbe16f45a39678a67836e2f07c512ef80592a67ec8b',
    slotTop: '0x621c231b265b04b87157ce2871c6285d4e1e92751a18e12626f8ab472717acbb',
    removedTop: '0x391010e55fad441a1e3a33b11fb8271f68e86b6c1812ebd402d678d343fded62',
    headLeaf: '0x2f5de7ad279a134761de0d89702e52743b2f04f41b86cc5400dfae1d4b981340',
    z1: '0x225471e76dca970375f18cc4222539bf1893f40b2c28b7d62119af207704c426',
    z39: '0x639bef4d255b33103543742212d4e7710dbd582b47ece1c76a481f3e7dea1639',
  },
} as const;

function codeOf(body: () => unknown): ErrorCode | undefined {
  try {
    body();
  } catch (error) {
    if (isPlumblineError(error)) return error.code;
    throw error;
  }
  return undefined;
}

describe.each(['mimc', 'poseidon2'] as const)('trie kernel, %s', (scheme) => {
  const published = PUBLISHED[scheme];

  async function setUp(undo = false) {
    const hasher = await loadHasher(scheme);
    const word = (n: number) => hashWord(hasher, bigIntToBytes(BigInt(n), 32));
    return { hasher, word, kernel: await loadTrieKernel(scheme, { undo }) };
  }

  test.each(['simd', 'scalar'] as const)(
    'a hasher of the same module works beside growing tries, %s',
    async (build) => {
      const { hasher } = await setUp();
      const own = await loadZkKernels(scheme, { build });
      expect(own.hasher.scheme).toBe(scheme);
      const trie = own.kernel.createTrie();
      const before = own.kernel.statistics().memoryBytes;
      for (let i = 1; i < 300; i++) {
        const word = hashWord(own.hasher, bigIntToBytes(BigInt(i), 32));
        expect(word).toEqual(hashWord(hasher, bigIntToBytes(BigInt(i), 32)));
        own.kernel.put(trie, word, word);
        if (i % 50 === 0) own.kernel.commit();
      }
      own.kernel.commit();
      expect(own.kernel.statistics().memoryBytes).toBeGreaterThan(before);
      const kernel = await loadTrieKernel(scheme, { build });
      const alone = kernel.createTrie();
      for (let i = 1; i < 300; i++) {
        const word = hashWord(hasher, bigIntToBytes(BigInt(i), 32));
        kernel.put(alone, word, word);
      }
      kernel.commit();
      expect(own.kernel.topRoot(trie)).toEqual(kernel.topRoot(alone));
    },
  );

  test.each(['simd', 'scalar'] as const)('gives the published roots, %s', async (build) => {
    const { word } = await setUp();
    const kernel = await loadTrieKernel(scheme, { build });
    const trie = kernel.createTrie();
    expect(bytesToHex(kernel.subRoot(trie))).toBe(published.emptySub);
    expect(bytesToHex(kernel.topRoot(trie))).toBe(published.emptyTop);
    expect(bytesToHex(kernel.siblings(trie, 1)[0]!)).toBe(published.headLeaf);
    expect(bytesToHex(kernel.siblings(trie, 0)[1]!)).toBe(published.z1);
    expect(bytesToHex(kernel.siblings(trie, 0)[39]!)).toBe(published.z39);
    kernel.put(trie, word(0), word(1));
    kernel.commit();
    expect(bytesToHex(kernel.subRoot(trie))).toBe(published.slotSub);
    expect(bytesToHex(kernel.topRoot(trie))).toBe(published.slotTop);
    kernel.remove(trie, word(0));
    kernel.commit();
    expect(bytesToHex(kernel.subRoot(trie))).toBe(published.emptySub);
    expect(bytesToHex(kernel.topRoot(trie))).toBe(published.removedTop);
  });

  test('input that is not canonical, reserved, of another length or out of range changes nothing', async () => {
    const { kernel, word } = await setUp();
    const trie = kernel.createTrie();
    for (let i = 0; i < 70; i++) kernel.put(trie, word(i), word(i));
    kernel.commit();
    const before = bytesToHex(kernel.topRoot(trie));
    const tooLarge = scheme === 'mimc' ? bigIntToBytes(BLS12_377_MODULUS, 32) : word(1).slice();
    if (scheme === 'poseidon2') tooLarge.set(bigIntToBytes(KOALABEAR_MODULUS, 4), 28);
    const { tailKey } = schemeFormat(scheme);
    const good = word(1);
    const leaf = (changes: Partial<TrieLeaf>): TrieLeaf => ({ ...kernel.leaf(trie, 3)!, ...changes });
    const refused: [ErrorCode, () => unknown][] = [
      ['HASH_INPUT_NOT_CANONICAL', () => kernel.put(trie, tooLarge, good)],
      ['HASH_INPUT_NOT_CANONICAL', () => kernel.put(trie, good, tooLarge)],
      ['HASH_INPUT_NOT_CANONICAL', () => kernel.put(trie, word(1000), tooLarge)],
      ['HASH_INPUT_NOT_CANONICAL', () => kernel.remove(trie, tooLarge)],
      ['HASH_INPUT_NOT_CANONICAL', () => kernel.find(trie, tooLarge)],
      ['HASH_INPUT_NOT_CANONICAL', () => kernel.setLeaf(trie, 3, leaf({ hval: tooLarge }))],
      ['HASH_INPUT_NOT_CANONICAL', () => putStepwise(kernel, trie, word(1000), tooLarge)],
      ['OUT_OF_RANGE', () => kernel.put(trie, ZERO_HASH, good)],
      ['OUT_OF_RANGE', () => kernel.put(trie, tailKey, good)],
      ['OUT_OF_RANGE', () => kernel.remove(trie, tailKey)],
      ['OUT_OF_RANGE', () => kernel.setLeaf(trie, 0, undefined)],
      ['OUT_OF_RANGE', () => kernel.setLeaf(trie, 1, leaf({}))],
      ['OUT_OF_RANGE', () => kernel.setLeaf(trie, 3, leaf({ hkey: tailKey }))],
      ['OUT_OF_RANGE', () => kernel.setLeaf(trie, 72, leaf({}))],
      ['OUT_OF_RANGE', () => kernel.setLeaf(trie, 3, leaf({ prevLeaf: -1 }))],
      ['OUT_OF_RANGE', () => kernel.setNextFreeNode(trie, 1)],
      ['OUT_OF_RANGE', () => kernel.setNextFreeNode(trie, 2 ** 32 - 1)],
      ['OUT_OF_RANGE', () => kernel.gatherProof(trie, 72)],
      ['OUT_OF_RANGE', () => kernel.gatherProof(trie, 0.5)],
      ['OUT_OF_RANGE', () => kernel.siblings(trie, 2 ** 32)],
      ['INVALID_LENGTH', () => kernel.put(trie, good.subarray(1), good)],
      ['INVALID_LENGTH', () => kernel.put(trie, good, new Uint8Array(33))],
      ['INVALID_PARAMETER', () => kernel.put(trie + 8, good, good)],
      ['INVALID_PARAMETER', () => kernel.undo(new Uint8Array(79))],
      ['INVALID_PARAMETER', () => kernel.undo(new Uint8Array(80))],
    ];
    for (const [code, body] of refused) {
      expect(codeOf(body)).toBe(code);
      expect(bytesToHex(kernel.topRoot(trie))).toBe(before);
    }
    // Nothing waits for a commit, and nothing was half done to the order of keys.
    kernel.put(trie, word(5), word(5));
    kernel.commit();
    expect(bytesToHex(kernel.topRoot(trie))).toBe(before);
    expect(kernel.nextFreeNode(trie)).toBe(72);
    expect(kernel.find(trie, word(1000)).present).toBe(false);
  });

  test('roots, proofs and undo records are refused while there are uncommitted writes', async () => {
    const { kernel, word } = await setUp(true);
    const trie = kernel.createTrie();
    kernel.put(trie, word(1), word(2));
    for (const body of [
      () => kernel.subRoot(trie),
      () => kernel.topRoot(trie),
      () => kernel.gatherProof(trie, 0),
      () => kernel.siblings(trie, 0),
      () => kernel.takeUndo(),
    ]) {
      expect(codeOf(body)).toBe('INVALID_PARAMETER');
    }
    kernel.commitSubRoot(trie);
    expect(kernel.subRoot(trie)).toHaveLength(32);
    expect(codeOf(() => kernel.topRoot(trie))).toBe('INVALID_PARAMETER');
    kernel.commit();
    expect(kernel.topRoot(trie)).toHaveLength(32);
    expect(kernel.takeUndo()).toHaveLength(4 * 80);
  });

  test('each changed node is hashed once, empty subtrees never', async () => {
    const { kernel, word } = await setUp();
    const [leaf, node, top] = scheme === 'mimc' ? [4, 2, 2] : [6, 2, 3];
    const tries = [kernel.createTrie(), kernel.createTrie()];
    const counted = (body: () => void) => {
      const before = kernel.statistics().compressions;
      body();
      kernel.commit();
      return kernel.statistics().compressions - before;
    };
    // Positions 0 to 3 of each: levels 1 has two nodes, 2 to 40 have one.
    const fill = () => {
      for (const trie of tries) for (const n of [1, 2]) kernel.put(trie, word(n), word(n));
    };
    expect(counted(fill)).toBe(2 * (4 * leaf + 41 * node + top));
    expect(counted(() => {})).toBe(0);
    expect(counted(() => kernel.put(tries[0]!, word(1), word(9)))).toBe(leaf + 40 * node + top);
    // Of three leaves one becomes unused, and with it a node of level 1 when its neighbour is unused as well.
    counted(() => kernel.remove(tries[0]!, word(2)));
    expect(counted(() => kernel.remove(tries[0]!, word(1)))).toBe(2 * leaf + (40 + 0) * node + top);
    expect(counted(() => kernel.gatherProof(tries[1]!, 2))).toBe(0);
  });

  test('the memory of dropped tries is reused', async () => {
    const { kernel, word } = await setUp(true);
    const keys = Array.from({ length: scheme === 'mimc' ? 500 : 3000 }, (_, i) => word(i));
    const start = kernel.statistics().usedBytes;
    const fill = () => {
      const large = kernel.createTrie();
      for (const hkey of keys) kernel.put(large, hkey, hkey);
      const small = keys.slice(0, keys.length / 4).map((hkey) => {
        const trie = kernel.createTrie();
        kernel.put(trie, hkey, hkey);
        return trie;
      });
      kernel.commit();
      kernel.takeUndo();
      const root = bytesToHex(kernel.topRoot(large));
      for (const trie of [large, ...small]) kernel.dropTrie(trie);
      expect(codeOf(() => kernel.nextFreeNode(large))).toBe('INVALID_PARAMETER');
      return root;
    };
    const root = fill();
    expect(kernel.statistics().usedBytes).toBe(start);
    const { memoryBytes } = kernel.statistics();
    for (let round = 0; round < 3; round++) expect(fill()).toBe(root);
    expect(kernel.statistics()).toMatchObject({ memoryBytes, usedBytes: start });
  });

  test('the memory of a large dropped trie is enough for small ones', async () => {
    const { kernel, word } = await setUp();
    const large = kernel.createTrie();
    for (let i = 0; i < 3000; i++) kernel.put(large, word(i), ZERO_HASH);
    kernel.dropTrie(large);
    const { memoryBytes } = kernel.statistics();
    for (let i = 0; i < 600; i++) kernel.put(kernel.createTrie(), word(i), ZERO_HASH);
    expect(kernel.statistics().memoryBytes).toBe(memoryBytes);
  });

  test('stepwise operations give the siblings of each step', async () => {
    const { hasher, kernel, word } = await setUp(true);
    const [trie, whole] = [kernel.createTrie(), kernel.createTrie()];

    /** The root over a leaf at a position with given siblings (docs/spec/state-trie.md 10). */
    const rootOf = ({ position, siblings }: LeafStep, leaf: TrieLeaf | undefined) => {
      let hash: Uint8Array = leaf === undefined ? ZERO_HASH : hasher.hash(encodeLeaf(scheme, leaf));
      for (const [level, sibling] of siblings.entries()) {
        const right = Math.floor(position / 2 ** level) % 2 === 1;
        hash = hasher.hash(right ? concatBytes(sibling, hash) : concatBytes(hash, sibling));
      }
      return bytesToHex(hash);
    };
    const check = ({ steps, oldSubRoot, newSubRoot, nextFreeNode }: SteppedEffect) => {
      let root = bytesToHex(oldSubRoot);
      for (const step of steps) {
        expect(rootOf(step, step.prior)).toBe(root);
        root = rootOf(step, kernel.leaf(trie, step.position));
      }
      expect(root).toBe(bytesToHex(newSubRoot));
      expect(nextFreeNode).toBe(kernel.nextFreeNode(trie));
      expect(bytesToHex(kernel.topRoot(trie))).toBe(bytesToHex(kernel.topRoot(whole)));
    };
    // What was not committed before is committed first.
    for (const each of [trie, whole]) kernel.put(each, word(900), word(0));
    kernel.put(whole, word(901), word(0));
    kernel.commit([whole]);
    check(putStepwise(kernel, trie, word(901), word(0)));
    for (let i = 0; i < 66; i++) {
      kernel.put(whole, word(i), word(i));
      kernel.commit();
      const done = putStepwise(kernel, trie, word(i), word(i));
      expect([done.effect, done.steps.length]).toEqual(['insert', 3]);
      if (i < 4 || i > 60) check(done);
    }
    kernel.put(whole, word(3), word(1));
    kernel.commit();
    check(putStepwise(kernel, trie, word(3), word(1)));
    for (const n of [3, 65, 700]) {
      const { effect } = kernel.remove(whole, word(n));
      kernel.commit();
      const done = removeStepwise(kernel, trie, word(n));
      expect(done.effect).toBe(effect);
      check(done);
    }
    kernel.undo(kernel.takeUndo());
    kernel.commit();
    for (const each of [trie, whole]) expect(bytesToHex(kernel.topRoot(each))).toBe(published.emptyTop);
  });
});
