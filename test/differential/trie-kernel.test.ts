import { describe, expect, test } from 'vitest';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { referenceHasher } from '../reference/hasher.js';
import { seededRandom } from '../support/random.js';
import { digestPool, playRandomly, TriePair } from './trie-kernel-pair.js';

/* A few random sequences; test/slow/trie-kernel-fuzz.test.ts plays thousands. */
const SCHEMES = ['mimc', 'poseidon2'] as const;
const BUILDS = ['simd', 'scalar'] as const;

describe.each(SCHEMES)('trie kernel beside the first engine, %s', (scheme) => {
  describe.each(BUILDS)('%s', (build) => {
    test('random sequences on several tries, with rollbacks', async () => {
      const hasher = await loadHasher(scheme);
      for (let seed = 1; seed <= (scheme === 'mimc' ? 8 : 24); seed++) {
        const random = seededRandom(seed * 7919);
        const kernel = await loadTrieKernel(scheme, { build, undo: true, nodes: true });
        const pair = new TriePair(kernel, hasher, 1 + random(4));
        // Small pools make updates and removals of what is there; large ones make tries that outgrow one chunk.
        const pool = digestPool(hasher, 4 + random(seed % 4 === 0 ? 200 : 30), random);
        if (seed % 4 === 0) for (const hkey of pool.slice(0, 70)) pair.put(0, hkey, pool[0]!);
        playRandomly(pair, pool, 40, random);
      }
    });

    test('a trie of three tiers grows in batches, shrinks and grows again', async () => {
      const hasher = await loadHasher(scheme);
      const random = seededRandom(11);
      const kernel = await loadTrieKernel(scheme, { build, undo: true, nodes: true });
      const pair = new TriePair(kernel, hasher, 2);
      const count = scheme === 'mimc' ? 900 : 4500;
      const pool = digestPool(hasher, count, random);
      for (const [i, hkey] of pool.entries()) {
        pair.put(0, hkey, pool[count - 1 - i]!);
        if (i % 64 === 0) pair.put(1, hkey, hkey);
        if (i % 1100 === 0) pair.commit();
      }
      pair.commit();
      pair.mark();
      for (const [i, hkey] of pool.entries()) if (i % 8 !== 3) pair.remove(0, hkey);
      pair.commit();
      for (let i = 0; i < 20; i++) pair.compareProof(i % 2, pool[random(count)]!);
      for (let i = 0; i < 300; i++) pair.put(0, pool[random(count)]!, pool[random(count)]!);
      pair.commit();
      for (let i = 0; i < 20; i++) pair.compareProof(i % 2, pool[random(count)]!);
      for (let i = 0; i < 40; i++) pair.comparePastProof(0, i % 2, pool[random(count)]!);
      pair.rollback(0);
      for (let i = 0; i < 20; i++) pair.compareProof(i % 2, pool[random(count)]!);
      for (const hkey of pool) pair.remove(0, hkey);
      pair.commit();
    });
  });

  test('leaves loaded in any order, with holes, make the same trie', async () => {
    const hasher = await loadHasher(scheme);
    for (const count of [3, 14, 100, 300, scheme === 'mimc' ? 700 : 6000]) {
      const random = seededRandom(count);
      const kernel = await loadTrieKernel(scheme);
      const [trie, copy] = [kernel.createTrie(), kernel.createTrie()];
      const pool = digestPool(hasher, count, random);
      for (const hkey of pool) kernel.put(trie, hkey, hkey);
      for (const hkey of pool) if (random(4) === 0) kernel.remove(trie, hkey);
      kernel.commit();
      const free = kernel.nextFreeNode(trie);
      const positions = Array.from({ length: free }, (_, position) => position);
      for (let i = free - 1; i > 0; i--) {
        const j = random(i + 1);
        [positions[i], positions[j]] = [positions[j]!, positions[i]!];
      }
      kernel.setNextFreeNode(copy, free);
      for (const position of positions) {
        kernel.setLeaf(copy, position, kernel.leaf(trie, position));
        if (random(free) < 5) kernel.commit();
      }
      kernel.commit();
      expect(bytesToHex(kernel.topRoot(copy))).toBe(bytesToHex(kernel.topRoot(trie)));
      for (const hkey of pool.slice(0, 200)) expect(kernel.find(copy, hkey)).toEqual(kernel.find(trie, hkey));
      for (const beyond of [free, 2 * free, 100 * free]) {
        kernel.setNextFreeNode(trie, 100 * free + 1);
        kernel.setNextFreeNode(copy, 100 * free + 1);
        kernel.commit();
        const siblings = kernel.siblings(trie, beyond).map(bytesToHex);
        // Room made for a far leaf must not change what stands beside it.
        kernel.setLeaf(copy, beyond, kernel.leaf(trie, 1) && { ...kernel.leaf(trie, 1)!, hkey: pool[0]! });
        kernel.commit();
        expect(kernel.siblings(copy, beyond).map(bytesToHex)).toEqual(siblings);
        kernel.setLeaf(copy, beyond, undefined);
        kernel.commit();
        expect(bytesToHex(kernel.topRoot(copy))).toBe(bytesToHex(kernel.topRoot(trie)));
      }
    }
  });

  test('random sequences hashed by the bigint twin', async () => {
    const hasher = referenceHasher(scheme);
    for (let seed = 1; seed <= 2; seed++) {
      const random = seededRandom(seed * 104_729);
      const kernel = await loadTrieKernel(scheme, { undo: true, nodes: true });
      playRandomly(new TriePair(kernel, hasher, 2), digestPool(hasher, 12, random), 30, random);
    }
  });

  test('both builds hold the same bytes', async () => {
    const hasher = await loadHasher(scheme);
    const random = seededRandom(3);
    const pool = digestPool(hasher, 150, random);
    const roots = [];
    for (const build of BUILDS) {
      const kernel = await loadTrieKernel(scheme, { build });
      const trie = kernel.createTrie();
      for (const hkey of pool) kernel.put(trie, hkey, hkey);
      kernel.commit();
      roots.push([kernel.topRoot(trie), ...kernel.gatherProof(trie, 77)].map(bytesToHex));
    }
    expect(roots[0]).toEqual(roots[1]);
  });
});
