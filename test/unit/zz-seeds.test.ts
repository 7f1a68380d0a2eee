import { test } from 'vitest';
import { loadHasher } from '../../src/kernel/hasher.js';
import { rememberingHasher } from '../../conformance/remembering-hasher.js';
import { playBlocks, WorldPair } from '../differential/world-state-pair.js';
import { seededRandom } from '../support/random.js';
import { smallWorld } from '../support/random-blocks.js';
import { openState } from '../support/world-state.js';
test('seeds', async () => {
  const raw = await loadHasher('poseidon2');
  let hasher = rememberingHasher(raw);
  const end = Date.now() + 50_000;
  let seed = 0;
  while (++seed <= 2000 && Date.now() < end) {
    if (seed % 40 === 0) hasher = rememberingHasher(raw);
    const random = seededRandom(seed * 104_729);
    const state = await openState('poseidon2', seed % 2 === 0 ? 'simd' : 'scalar');
    playBlocks(new WorldPair(state, hasher, smallWorld(2 + random(7), 3 + random(4))), 30 + random(25), random);
  }
  console.log('seeds done', seed - 1);
}, 90_000);
