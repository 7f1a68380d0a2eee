import { beforeAll, describe, expect, it } from 'vitest';
import { encodeAccountValue } from '../../src/accumulator/account-value.js';
import { hashAccountValue } from '../../src/accumulator/keys.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { KernelTracedState, removeTraced } from '../../src/state/kernel-traces.js';
import { StateTries } from '../../src/state/state-tries.js';
import { formatTrace, type StateTrace, type StepTrie } from '../../src/state/trace.js';
import type { TracedState } from '../../src/state/traced-application.js';
import { WitnessState, witnessBefore } from '../../src/state/witness-state.js';
import type { ZkAccountChange } from '../../src/state/world-state.js';
import { address, CODE, change, set, state, word } from '../support/small-state.js';
import { content, error, hkeyOf } from '../support/witness-trees.js';
import { openState } from '../support/world-state.js';

let hasher: Hasher;
beforeAll(async () => {
  hasher = await loadHasher('poseidon2');
});

const { emptyCodeHash: zkCodeHash } = schemeFormat('poseidon2');
const noAccount = { balance: 0n, zkCodeHash, keccakCodeHash: new Uint8Array(32), codeSize: 0n };
const one = state(1n, 5n);
const two = state(2n, 5n);
const sets = (...slots: [key: number, before: number, after: number][]) => slots.map((slot) => set(...slot));

/** What can happen to an account and its storage, block by block. */
const blocks: ZkAccountChange[][] = [
  [change(1, undefined, one, sets([1, 0, 7], [2, 0, 8], [3, 0, 9])), change(2, undefined, { ...one, code: CODE })],
  [
    change(1, one, two),
    change(3, undefined, undefined),
    change(2, one, one, sets([1, 0, 0])),
    change(4, undefined, one),
  ],
  // Updated, emptied, emptied in between, new, read.
  [change(1, two, two, [...sets([1, 7, 17], [2, 8, 0], [4, 0, 4], [9, 0, 0]), { ...set(3, 9, 19), cleared: true }])],
  [change(1, two, two, sets([1, 17, 17], [5, 0, 0])), change(2, one, state(1n, 6n)), change(5, undefined, undefined)],
  [change(2, state(1n, 6n), state(1n, 6n), sets([1, 0, 5])), change(4, one, undefined, [], true)],
  // Destroyed and recreated, with slots and without; created again.
  [
    change(1, two, one, sets([1, 17, 2], [3, 19, 0], [4, 4, 0], [6, 0, 6]), true),
    change(2, state(1n, 6n), undefined, sets([1, 5, 0]), true),
    change(4, undefined, two, sets([1, 0, 1])),
  ],
  [change(4, two, two, sets([1, 1, 0]))],
  [change(4, two, one, [], true), change(2, undefined, one)],
  [change(4, one, two), change(1, one, two)],
  [change(4, two, two, sets([1, 0, 3])), change(1, two, two, sets([7, 0, 7]))],
  [change(1, two, two, sets([1, 2, 2], [6, 6, 6], [7, 7, 8]))],
];
/** As JSON, which is compared fast. */
const textOf = (traces: readonly StateTrace[]) => JSON.stringify(traces.map(formatTrace));
const accounts = [1, 2, 3, 4];
const slots = [1, 2, 3, 4, 6, 7].map(word);

describe('three ways to apply a block', () => {
  it('lead to the same roots, traces and answers', async () => {
    const [plain, traced] = [await openState('poseidon2'), await openState('poseidon2')];
    const witness = new WitnessState(hasher);
    for (const [number, block] of blocks.entries()) {
      const traces = witness.apply(block);
      const root = bytesToHex(witness.accounts.topRoot);
      expect([number, bytesToHex(plain.applyBlock(number, block))]).toEqual([number, root]);
      const result = traced.applyBlockTraced(number, block);
      expect(bytesToHex(result.root)).toBe(root);
      expect(textOf(result.traces)).toBe(textOf(traces));
    }
    const answers = (held: typeof plain, block: number) =>
      accounts.map((n) => JSON.stringify(held.prove(block, address(n), slots)));
    for (const number of blocks.keys()) {
      for (const [n, answer] of answers(plain, number).entries()) {
        const request = { address: address(accounts[n]!), storageKeys: slots, stateRoot: plain.root(number) };
        const verdict = verifyLineaProof(hasher, request, JSON.parse(answer));
        if (!verdict.verified) throw new Error(`block ${number}: ${verdict.reason} at ${verdict.at}`);
        expect(verdict.slots.map(({ value }) => value)).toEqual(
          slots.map((key) => plain.slot(number, address(accounts[n]!), key)),
        );
      }
      expect(answers(traced, number)).toEqual(answers(plain, number));
    }
    // The way back, and other blocks from there.
    for (const number of [7, 4, 1]) {
      for (const held of [plain, traced]) held.revertTo(number);
      expect([plain.root(), traced.root()]).toEqual([plain.root(number), plain.root(number)]);
      expect(answers(traced, number)).toEqual(answers(plain, number));
    }
    for (const held of [plain, traced]) for (const number of [2, 3, 4]) held.applyBlock(number, blocks[number]!);
    expect(answers(traced, 4)).toEqual(answers(plain, 4));
  });

  it('keep the slots that a block does not name', async () => {
    const held = await openState('poseidon2');
    for (const [number, block] of blocks.entries()) held.applyBlock(number, block);
    const values = (block: number, n: number) =>
      slots.map((key) => Number(bytesToHex(held.slot(block, address(n), key))));
    expect(blocks.map((_, number) => values(number, 1))).toEqual([
      ...[0, 1].map(() => [7, 8, 9, 0, 0, 0]),
      ...[2, 3, 4].map(() => [17, 0, 19, 4, 0, 0]),
      ...[5, 6, 7, 8].map(() => [2, 0, 0, 0, 6, 0]),
      [2, 0, 0, 0, 6, 7],
      [2, 0, 0, 0, 6, 8],
    ]);
    expect([5, 6, 7, 8, 9].map((number) => values(number, 4)[0])).toEqual([1, 0, 0, 0, 3]);
  });
});

describe('the witness of a block', () => {
  it('is enough to apply it, from the root before', () => {
    const held = new WitnessState(hasher);
    for (const block of blocks) {
      const before = held.accounts.topRoot;
      const traces = held.apply(block);
      const witness = witnessBefore(hasher, traces)!;
      expect(witness.accounts.topRoot).toEqual(before);
      const copy = witness.copy();
      expect(textOf(copy.apply(block))).toBe(textOf(traces));
      expect(copy.accounts.topRoot).toEqual(held.accounts.topRoot);
      expect(witness.accounts.topRoot).toEqual(before);
    }
  });

  it('is enough for two blocks whose traces are taken together', () => {
    const held = new WitnessState(hasher);
    const states = blocks.map((block) => {
      const before = held.accounts.topRoot;
      return { block, before, traces: held.apply(block) };
    });
    for (const [i, { block, before, traces }] of states.entries()) {
      const next = states[i + 1];
      if (next === undefined) continue;
      const witness = witnessBefore(hasher, [...traces, ...next.traces])!;
      expect(witness.accounts.topRoot).toEqual(before);
      expect(textOf(witness.apply(block))).toBe(textOf(traces));
      expect(textOf(witness.apply(next.block))).toBe(textOf(next.traces));
    }
  });

  it('is none without a trace of an account', () => {
    const held = new WitnessState(hasher);
    held.apply(blocks[0]!);
    const traces = held.apply([change(1, one, one, sets([1, 7, 8]))]);
    expect(witnessBefore(hasher, [])).toBeUndefined();
    expect(witnessBefore(hasher, traces.slice(0, 1))).toBeUndefined();
  });

  it('does not know the storage that no trace shows', () => {
    const held = new WitnessState(hasher);
    held.apply(blocks[0]!);
    const traces = held.apply([change(1, one, two)]);
    const { leafIndex } = (traces[0] as Extract<StateTrace, { type: 'update' }>).proof;
    const witness = witnessBefore(hasher, traces)!;
    expect(error(() => witness.apply([change(1, one, two, sets([1, 7, 8]))]))).toMatchObject({
      code: 'WITNESS_MISSING',
      message: `the storage of the account at leaf position ${leafIndex} is not known`,
      details: { part: 'storage', position: leafIndex },
    });
    // That of an account without storage is empty.
    const plain = held.apply([change(2, one, two)]);
    const other = witnessBefore(hasher, plain)!;
    expect(error(() => other.copy().apply([change(2, one, two, sets([1, 0, 1]))]))).toBeUndefined();
  });
});

describe('a trie of the kernel, step by step', () => {
  it('has the roots of a witness trie', async () => {
    const tries = new StateTries(hasher, await loadTrieKernel('poseidon2', { undo: true, nodes: true }));
    const [held, witness] = [new KernelTracedState(tries), new WitnessState(hasher)];
    const shape = ({ nextFreeNode, subRoot, topRoot }: StepTrie) => ({ nextFreeNode, subRoot, topRoot });
    const same = (of: (state: TracedState) => StepTrie) => expect(shape(of(held))).toEqual(shape(of(witness)));
    same(({ accounts }) => accounts);
    same((state) => state.startStorage(2));
    for (const key of [5, 6]) {
      for (const state of [held, witness]) {
        const storage = state.startStorage(state.accounts.nextFreeNode);
        storage.put(content(hasher, key, 7));
        const value = encodeAccountValue({ ...noAccount, nonce: BigInt(key), storageRoot: storage.topRoot });
        state.accounts.put({ hkey: hkeyOf(hasher, key), hval: hashAccountValue(hasher, value), value });
      }
      same(({ accounts }) => accounts);
      same((state) => state.storageAt(2 + key - 5, {} as never));
    }
  });

  it('refuses to remove a key that is not there', async () => {
    const kernel = await loadTrieKernel('poseidon2', { undo: true, nodes: true });
    const hkey = hkeyOf(hasher, 5);
    const trie = kernel.createTrie();
    expect(error(() => removeTraced(kernel, trie, hkey, () => hkey))).toMatchObject({
      code: 'STATE_MISMATCH',
      message: 'a key to remove is not in the trie',
      details: { what: `key of hash ${bytesToHex(hkey)}`, expected: 'none', actual: 'to be removed' },
    });
  });
});
