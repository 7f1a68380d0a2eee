import { describe, expect, test } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import { ForkState } from '../../src/chain/fork/fork-state.js';
import { KeptNodes, NetworkState } from '../../src/chain/fork/network-state.js';
import type { FetchedState } from '../../src/chain/light/state/fetch-with-nodes.js';
import { EMPTY_CODE_HASH } from '../../src/ethereum/constants.js';
import { StateTrie } from '../../src/ethereum/state-trie.js';
import { type AccountChange, trieWrites } from '../../src/evm/state-overlay.js';
import type { Account } from '../../src/evm/state-reader.js';
import { keccak256 } from '../../src/kernel/keccak.js';
import { bigIntToBytes, bytesToKey, ZERO_WORD } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { seededRandom } from '../support/random.js';

const ORIGIN = 40;
const addressOf = (index: number) => new Uint8Array(20).fill(index + 1);
const wordOf = (value: number | bigint) => bigIntToBytes(BigInt(value), 32);
const accountOf = (balance: number): Account => ({ nonce: 1n, balance: BigInt(balance), codeHash: EMPTY_CODE_HASH });

/** A state in the plainest form: every value of it by name. */
class PlainState {
  readonly accounts = new Map<number, { account: Account; slots: Map<number, number> }>();

  copy(): PlainState {
    const copy = new PlainState();
    for (const [index, { account, slots }] of this.accounts)
      copy.accounts.set(index, { account, slots: new Map(slots) });
    return copy;
  }

  /** Changes it, and says how. */
  change(
    index: number,
    after: Account | undefined,
    destroyed: boolean,
    slots: readonly [number, number][],
  ): AccountChange {
    const held = this.accounts.get(index);
    const kept = destroyed ? new Map<number, number>() : new Map(held?.slots);
    const written = slots.map(([key, value]) => {
      const before = wordOf(held?.slots.get(key) ?? 0);
      if (value === 0) kept.delete(key);
      else kept.set(key, value);
      return { key: wordOf(key), before, after: wordOf(value) };
    });
    if (after === undefined) this.accounts.delete(index);
    else this.accounts.set(index, { account: after, slots: kept });
    return { address: addressOf(index), before: held?.account, after, destroyed, code: undefined, slots: written };
  }
}

/** A network that is one trie, and a fork of it. */
function forkOf(changes: readonly AccountChange[]) {
  const whole = new StateTrie();
  const stateRoot = whole.write(trieWrites(changes));
  whole.hold(stateRoot);
  const block = { header: { number: ORIGIN, stateRoot }, hash: wordOf(ORIGIN) } as Block;
  let proofs = 0;
  const network = {
    async fetchState({ state, accesses, onNode }: FetchedState) {
      for (const { address, slots } of accesses) {
        proofs++;
        const { account, accountProof, storage } = whole.prove(stateRoot, address, [...slots.values()]);
        for (const node of [...accountProof, ...storage.flatMap(({ proof }) => proof)]) onNode(node);
        const values = storage.map(({ key, value }) => [bytesToKey(key), bigIntToBytes(value, 32)] as const);
        state.take(new Map([[bytesToKey(address), { account, slots: new Map(values) }]]));
      }
    },
  };
  const networkState = new NetworkState({ network, block });
  return { whole, state: new ForkState(networkState), proofs: () => proofs };
}

const ACCOUNTS = 24;
const SLOTS = 12;

async function compare(state: ForkState, block: number, plain: PlainState): Promise<void> {
  const reader = state.flat.at(block);
  for (let index = 0; index < ACCOUNTS; index++) {
    const held = plain.accounts.get(index);
    expect(await reader.account(addressOf(index)), `account ${index} after ${block}`).toEqual(held?.account);
    for (let key = 0; key < SLOTS; key++) {
      const name = `slot ${key} of ${index} after ${block}`;
      expect(bytesToHex(await reader.slot(addressOf(index), wordOf(key))), name).toBe(
        bytesToHex(wordOf(held?.slots.get(key) ?? 0)),
      );
    }
  }
}

test('nodes in memory are limited in bytes: the least recently used one is dropped', () => {
  const nodes = new KeptNodes(undefined, 300);
  const made = [1, 2, 3, 4].map((byte) => new Uint8Array(100).fill(byte));
  const held = () => made.map((node) => nodes.get(bytesToKey(keccak256(node))) !== undefined);
  for (const node of made.slice(0, 3)) nodes.add(node);
  expect(nodes.get(bytesToKey(keccak256(made[0]!)))).toEqual(made[0]);
  nodes.add(made[3]!);
  expect(held()).toEqual([true, false, true, true]);
});

describe('the state of a fork', () => {
  test.each([1, 2, 3])('reads, roots and proofs after random blocks, going back among them, seed %i', async (seed) => {
    const random = seededRandom(seed);
    const plain = new PlainState();
    const first = Array.from({ length: ACCOUNTS - 6 }, (_, index) => {
      const slots = Array.from({ length: random(SLOTS) }, (_, key): [number, number] => [key, 1 + random(99)]);
      return plain.change(index, accountOf(1 + random(99)), false, slots);
    });
    const { whole, state } = forkOf(first);
    const states = [plain];
    const roots = [whole.write([])];
    for (let step = 0; step < 25; step++) {
      if (states.length > 3 && random(6) === 0) {
        const back = 1 + random(3);
        states.length -= back;
        roots.length -= back;
        state.revertTo(ORIGIN + states.length - 1);
        whole.revertTo(roots.at(-1)!);
      }
      const next = states.at(-1)!.copy();
      const block = ORIGIN + states.length;
      const chosen = new Set(Array.from({ length: 4 }, () => random(ACCOUNTS)));
      const changes = [...chosen].map((index) => {
        const held = next.accounts.get(index);
        const destroyed = held !== undefined && random(4) === 0;
        const after = destroyed && random(2) === 0 ? undefined : accountOf(1 + random(99));
        const written = after === undefined ? 0 : random(4);
        const slots = new Map(Array.from({ length: written }, () => [random(SLOTS), random(3) * random(50)] as const));
        return next.change(index, after, destroyed, [...slots]);
      });
      const expected = whole.write(trieWrites(changes));
      whole.hold(expected);
      const { stateRoot } = await state.apply(block, changes);
      expect(bytesToHex(stateRoot)).toBe(bytesToHex(expected));
      states.push(next);
      roots.push(expected);
      const index = random(ACCOUNTS);
      const keys = [wordOf(random(SLOTS)), wordOf(random(SLOTS))];
      expect(await state.prove(block, addressOf(index), keys)).toEqual(whole.prove(expected, addressOf(index), keys));
      await compare(state, block, next);
    }
    for (const [i, at] of states.entries()) await compare(state, ORIGIN + i, at);
  });

  test('what was read is not fetched again', async () => {
    const plain = new PlainState();
    const changes = [0, 1, 2].map((index) => plain.change(index, accountOf(5), false, [[1, 2]]));
    const { state, proofs } = forkOf(changes);
    await compare(state, ORIGIN, plain);
    const before = proofs();
    await compare(state, ORIGIN, plain);
    expect(proofs()).toBe(before);
  });

  test('the root after a removal whose neighbour no proof shows is marked, and values go on', async () => {
    // Two keys that share so much of their path that no third one is tried for the way there.
    const byPath = new Map<string, number>();
    let pair: [number, number] | undefined;
    for (let key = 0; pair === undefined; key++) {
      const path = bytesToHex(keccak256(wordOf(key)).subarray(0, 2));
      const other = byPath.get(path);
      if (other !== undefined) pair = [other, key];
      byPath.set(path, key);
    }
    const [removed, left] = pair;
    const plain = new PlainState();
    const { state } = forkOf([
      plain.change(0, accountOf(5), false, [
        [removed, 7],
        [left, 8],
      ]),
    ]);
    const { stateRoot } = await state.apply(ORIGIN + 1, [plain.change(0, accountOf(5), false, [[removed, 0]])]);
    expect(stateRoot).toEqual(ZERO_WORD);
    const reader = state.flat.at(ORIGIN + 1);
    expect(await reader.slot(addressOf(0), wordOf(removed))).toEqual(ZERO_WORD);
    expect(await reader.slot(addressOf(0), wordOf(left))).toEqual(wordOf(8));
    await expect(state.prove(ORIGIN + 1, addressOf(0), [])).rejects.toMatchObject({
      code: 'METHOD_NOT_ENABLED',
      details: {
        method: 'eth_getProof',
        reason: expect.stringMatching(/^the state root of block 41 of this fork is not known/),
      },
    });
    // Nor is that of the next block, whatever it changes; before it, roots are known again.
    expect((await state.apply(ORIGIN + 2, [])).stateRoot).toEqual(ZERO_WORD);
    const imagined = await state.rootsAfter(ORIGIN + 2);
    expect(await imagined([])).toBeUndefined();
    state.revertTo(ORIGIN);
    const { account } = await state.prove(ORIGIN, addressOf(0), []);
    expect(account?.balance).toBe(5n);
    expect((await state.apply(ORIGIN + 1, [])).stateRoot).not.toEqual(ZERO_WORD);
  });
});
