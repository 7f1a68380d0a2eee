import { describe, expect, test } from 'vitest';
import { memoHasher } from '../support/memo-hasher.js';
import { seededRandom } from '../support/random.js';
import { smallWorld } from '../support/random-blocks.js';
import { openState } from '../support/world-state.js';
import { playBlocks, WorldPair } from './world-state-pair.js';

/** Milliseconds: seconds of bigint hashing, with room for a busy machine. */
const PATIENCE = 300_000;
const SCHEMES = ['mimc', 'poseidon2'] as const;

describe.each(SCHEMES)('world state beside its bigint twin, %s', (scheme) => {
  test('100 random sequences of blocks, refusals, ways back and releases', { timeout: PATIENCE }, async () => {
    const hasher = memoHasher(scheme);
    for (let seed = 1; seed <= 100; seed++) {
      const random = seededRandom(seed * 7919);
      const state = await openState(scheme, seed % 2 === 0 ? 'simd' : 'scalar');
      const pair = new WorldPair(state, hasher, smallWorld(2 + random(scheme === 'mimc' ? 3 : 5), 3 + random(3)));
      playBlocks(pair, 30 + random(10), random);
      expect(pair.steps).toBeGreaterThanOrEqual(30);
    }
  });

  test('blocks with and without traces, mixed', { timeout: PATIENCE }, async () => {
    const hasher = memoHasher(scheme);
    for (let seed = 1; seed <= (scheme === 'mimc' ? 4 : 8); seed++) {
      const random = seededRandom(seed * 6007);
      const state = await openState(scheme, seed % 2 === 0 ? 'simd' : 'scalar');
      playBlocks(new WorldPair(state, hasher, smallWorld(2 + random(5), 3 + random(3)), true), 30, random);
    }
  });
});
