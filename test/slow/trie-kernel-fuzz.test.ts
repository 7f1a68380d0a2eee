import { describe, test } from 'vitest';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { digestPool, playRandomly, TriePair } from '../differential/trie-kernel-pair.js';
import { referenceHasher } from '../reference/hasher.js';
import { seededRandom } from '../support/random.js';

/* Slow because of its thousands of sequences, half of them hashed by the bigint twin: an hour. */

describe.each(['mimc', 'poseidon2'] as const)('trie kernel, many random sequences, %s', (scheme) => {
  test('2 000 beside the first engine, scalar build', async () => {
    const hasher = await loadHasher(scheme);
    for (let seed = 1; seed <= 2000; seed++) {
      const random = seededRandom(seed * 7907);
      const kernel = await loadTrieKernel(scheme, { build: 'scalar', undo: true, nodes: true });
      const pool = digestPool(hasher, 4 + random(seed % 40 === 0 ? 300 : 30), random);
      playRandomly(new TriePair(kernel, hasher, 1 + random(3)), pool, 30 + random(30), random);
    }
  });

  // The twin is slow: the 2 000 are cut so that each part keeps well within its time.
  test.each([0, 1, 2, 3, 4])('400 hashed by the bigint twin, part %i', async (part) => {
    const hasher = referenceHasher(scheme);
    for (let seed = 1 + 400 * part; seed <= 400 * (part + 1); seed++) {
      const random = seededRandom(seed * 104_723);
      const kernel = await loadTrieKernel(scheme, { undo: true, nodes: true });
      playRandomly(new TriePair(kernel, hasher, 2), digestPool(hasher, 12, random), 30, random);
    }
  });
});
