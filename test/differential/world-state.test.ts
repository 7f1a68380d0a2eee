import { describe, expect, test } from 'vitest';
import { memoHasher } from '../support/memo-hasher.js';
import { seededRandom } from '../support/random.js';
import { smallWorld } from '../support/random-blocks.js';
import { openState } from '../support/world-state.js';
import { playBlocks, WorldPair } from './world-state-pair.js';

/* A few sequences; test/slow/world-state-fuzz.test.ts plays thousands. */
const SCHEMES = ['mimc', 'poseidon2'] as const;

describe.each(SCHEMES)('world state beside its bigint twin, %s', (scheme) => {
  test('25 random sequences of blocks, refusals, ways back and releases', async () => {
    const hasher = memoHasher(scheme);
    for (let seed = 1; seed <= 25; seed++) {
      const random = seededRandom(seed * 7919);
      const state = await openState(scheme, seed % 2 === 0 ? 'simd' : 'scalar');
      const pair = new WorldPair(state, hasher, smallWorld(2 + random(scheme === 'mimc' ? 3 : 5), 3 + random(3)));
      playBlocks(pair, 30 + random(10), random);
      expect(pair.steps).toBeGreaterThanOrEqual(30);
    }
  });

  test('blocks with and without traces, mixed', async () => {
    const hasher = memoHasher(scheme);
    for (let seed = 1; seed <= (scheme === 'mimc' ? 2 : 4); seed++) {
      const random = seededRandom(seed * 6007);
      const state = await openState(scheme, seed % 2 === 0 ? 'simd' : 'scalar');
      playBlocks(new WorldPair(state, hasher, smallWorld(2 + random(5), 3 + random(3)), true), 30, random);
    }
  });
});
