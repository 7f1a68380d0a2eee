import { describe, expect, test, vi } from 'vitest';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { openWorldState } from '../../src/state/open-world-state.js';
import type { WorldState } from '../../src/state/world-state.js';
import { seededRandom } from '../support/random.js';
import { type Model, type Random, randomBlock, smallWorld } from '../support/random-blocks.js';
import { openState } from '../support/world-state.js';

const HELD = 128;
const world = smallWorld(7, 3);

/** What a state says of a block: root, free position, every account with every slot, and their proofs. */
function everything(state: WorldState, block: number): string {
  const accounts = world.addresses.map((address) => {
    const account = state.account(block, address);
    const slots = world.keys.map((key) => bytesToHex(state.slot(block, address, key)));
    return [account?.nonce.toString(), account?.balance.toString(), slots, state.prove(block, address, world.keys)];
  });
  return JSON.stringify([bytesToHex(state.root(block)), state.nextFreeNode(block), accounts]);
}

/** A chain on a state, with all that it said of each block when that was the newest. */
class RecordedChain {
  readonly said = new Map<number, string>();
  readonly models = new Map<number, Model>();
  readonly state: WorldState;

  constructor(state: WorldState) {
    this.state = state;
  }

  grow(random: Random, blocks: number): void {
    for (let i = 0; i < blocks; i++) {
      const block = (this.state.head ?? -1) + 1;
      const { changes, model } = randomBlock(random, world, this.models.get(block - 1) ?? [], 4);
      if (random(3) === 0) this.state.applyBlockTraced(block, changes);
      else this.state.applyBlock(block, changes);
      this.state.releaseBefore(block + 1 - HELD);
      this.models.set(block, model);
      this.said.set(block, everything(this.state, block));
    }
  }
}

describe.each([
  ['mimc', 'simd'],
  ['poseidon2', 'scalar'],
] as const)('the last 128 blocks, %s, %s', (scheme, build) => {
  test('give the same roots, values and proofs as when they were the newest, also after going back to them', async () => {
    const random = seededRandom(4711);
    const chain = new RecordedChain(await openState(scheme, build));
    const { state, said } = chain;
    chain.grow(random, HELD + 30);
    expect([state.oldest, state.head]).toEqual([30, HELD + 29]);
    for (let block = 30; block <= state.head!; block++) expect(everything(state, block)).toBe(said.get(block));
    expect(() => state.root(29)).toThrow(expect.objectContaining({ code: 'STATE_NOT_HELD', details: { block: 29 } }));

    // Back to a random block, forward again on another path, and so on, to the oldest.
    while (state.head! > state.oldest!) {
      const back = state.oldest! + random(state.head! - state.oldest!);
      state.revertTo(back);
      for (const block of [back, state.oldest!, state.oldest! + random(back + 1 - state.oldest!)]) {
        expect(everything(state, block)).toBe(said.get(block));
      }
      if (random(3) > 0) chain.grow(random, random(12));
      else if (random(4) === 0) state.revertTo(state.oldest!);
    }
    expect(everything(state, state.oldest!)).toBe(said.get(state.oldest!));
  });

  test('storage tries that no held block needs are freed', async () => {
    const random = seededRandom(815);
    const kernel = await loadTrieKernel(scheme, { build, undo: true, nodes: true });
    const create = vi.spyOn(kernel, 'createTrie');
    const drop = vi.spyOn(kernel, 'dropTrie');
    const tries = () => create.mock.calls.length - drop.mock.calls.length;
    const state = openWorldState(await loadHasher(scheme), kernel);
    let model: Model = [];
    for (let block = 0; block < 120; block++) {
      const { changes, model: after } = randomBlock(random, world, model, 4);
      if (random(2) === 0) state.applyBlockTraced(block, changes);
      else state.applyBlock(block, changes);
      state.releaseBefore(block - 2);
      if (block === 0 || random(4) > 0) {
        model = after;
        continue;
      }
      state.revertTo(block - 1);
      state.applyBlock(block, []);
    }
    state.applyBlock(120, []);
    state.releaseBefore(120);
    expect(create.mock.calls.length).toBeGreaterThan(50);
    // That of the accounts, one that stays empty, and at most one for each account.
    expect(tries()).toBeLessThanOrEqual(2 + world.addresses.length);
  });
});
