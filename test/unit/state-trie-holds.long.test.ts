import { expect, test } from 'vitest';
import { EMPTY_CODE_HASH } from '../../src/ethereum/constants.js';
import { StateTrie, type TrieWrite } from '../../src/ethereum/state-trie.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { seededRandom } from '../support/random.js';

const word = (value: number) => bigIntToBytes(BigInt(value), 32);
const address = (i: number) => bigIntToBytes(BigInt(i) * 7919n + 1n, 20);
const WINDOW = 4;

function isHeld(trie: StateTrie, root: Uint8Array): boolean {
  try {
    trie.prove(root, address(0), []);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'INTERNAL' });
    return false;
  }
}

/** One block: few values and few slots, so that accounts share storage tries and states come back. */
function randomBlock(random: (bound: number) => number): TrieWrite[] {
  return Array.from({ length: 1 + random(4) }, () => ({
    address: address(random(24)),
    account: random(8) === 0 ? undefined : { nonce: BigInt(random(2)), balance: 0n, codeHash: EMPTY_CODE_HASH },
    clearStorage: random(10) === 0,
    slots: Array.from({ length: random(4) }, () => ({ key: word(random(40)), after: word(random(3)) })),
  }));
}

test.each([1, 2, 3])('held states stay complete, and released ones are gone (seed %d)', async (seed) => {
  const random = seededRandom(seed);
  // Never holds, so it keeps everything.
  const [windowed, whole] = [new StateTrie(), new StateTrie()];
  const held: Uint8Array[] = [];
  for (let block = 0; block < 60; block++) {
    const writes = randomBlock(random);
    const root = await windowed.write(writes);
    expect(root).toEqual(await whole.write(writes));
    windowed.hold(root);
    held.push(root);
    if (held.length > WINDOW) windowed.release(held.shift()!);
    if (held.length > 1 && random(10) === 0) {
      // Two states back, what was written since then is forgotten.
      await windowed.write(randomBlock(random));
      for (const dropped of held.splice(1)) windowed.release(dropped);
      windowed.revertTo(held[0]!);
      whole.revertTo(held[0]!);
    }
    const keys = [word(random(40)), word(random(40))];
    for (const state of held) {
      for (let i = 0; i < 2; i++) {
        const account = address(random(24));
        expect(await windowed.prove(state, account, keys)).toEqual(await whole.prove(state, account, keys));
      }
    }
  }
  // A state that is held twice lasts until it has been released twice.
  const last = held.at(-1)!;
  windowed.hold(last);
  windowed.release(last);
  expect(isHeld(windowed, last)).toBe(true);
  for (const root of held) windowed.release(root);
  expect(held.filter((root) => isHeld(windowed, root))).toEqual([]);
});

test('roots that are not held are dropped, and the nodes of a held one are those of a trie that was made at once', async () => {
  const [straight, roundabout] = [new StateTrie(), new StateTrie()];
  const writes = Array.from({ length: 50 }, (_, i): TrieWrite => {
    const account = { nonce: 0n, balance: BigInt(i), codeHash: EMPTY_CODE_HASH };
    return { address: address(i), account, slots: [{ key: word(i % 7), after: word(1 + (i % 5)) }] };
  });
  const root = straight.load(writes, () => {});
  straight.hold(root);
  const steps = writes.map((write) => roundabout.write([write]));
  roundabout.hold(root);
  expect(steps.filter((step) => isHeld(roundabout, step))).toEqual([root]);
  const nodes = straight.nodesOf(root, () => false);
  expect(roundabout.nodesOf(root, () => false)).toEqual(nodes);
  // A trie is restored from exactly these.
  const restored = StateTrie.restore(nodes, root)!;
  expect(restored.prove(root, address(3), [word(3)])).toEqual(straight.prove(root, address(3), [word(3)]));
  expect(restored.write([writes[4]!])).toEqual(root);
  for (const name of nodes.keys()) {
    const lacking = new Map([...nodes].filter(([other]) => other !== name));
    expect(StateTrie.restore(lacking, root)).toBeUndefined();
  }
});
