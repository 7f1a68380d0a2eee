import { describe, expect, test } from 'vitest';
import { playBlocks, WorldPair } from '../differential/world-state-pair.js';
import { memoHasher } from '../support/memo-hasher.js';
import { seededRandom } from '../support/random.js';
import { smallWorld } from '../support/random-blocks.js';
import { openState } from '../support/world-state.js';

/* Slow because of its thousands of sequences beside the bigint twin: an hour. */

/** Digests that a twin's hasher may remember before it starts over. */
const MAX_REMEMBERED = 200_000;

describe.each(['mimc', 'poseidon2'] as const)('world state, many random sequences, %s', (scheme) => {
  test('2 000 beside the bigint twin', { timeout: 3_600_000 }, async () => {
    let hasher = memoHasher(scheme);
    for (let seed = 1; seed <= 2000; seed++) {
      const random = seededRandom(seed * 104_729);
      const state = await openState(scheme, seed % 2 === 0 ? 'simd' : 'scalar');
      const pair = new WorldPair(state, hasher, smallWorld(2 + random(7), 3 + random(4)));
      playBlocks(pair, 30 + random(25), random);
      expect(pair.steps).toBeGreaterThanOrEqual(30);
      if (hasher.size > MAX_REMEMBERED) hasher = memoHasher(scheme);
    }
  });

  test('200 with and without traces, mixed', async () => {
    let hasher = memoHasher(scheme);
    for (let seed = 1; seed <= 200; seed++) {
      const random = seededRandom(seed * 15_485_863);
      const state = await openState(scheme, seed % 2 === 0 ? 'simd' : 'scalar');
      playBlocks(new WorldPair(state, hasher, smallWorld(2 + random(7), 3 + random(4)), true), 30 + random(25), random);
      if (hasher.size > MAX_REMEMBERED) hasher = memoHasher(scheme);
    }
  });
});
