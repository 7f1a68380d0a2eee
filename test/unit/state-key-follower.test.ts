import { beforeEach, describe, expect, it } from 'vitest';
import { hashAddress, hashWord } from '../../src/accumulator/keys.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { KeyFollower } from '../../src/state/key-follower.js';
import type { StateTrace } from '../../src/state/trace.js';
import { witnessFromProofs } from '../../src/state/witness-state.js';
import { WitnessTrie } from '../../src/state/witness-trie.js';
import type { WorldState, ZkAccountChange } from '../../src/state/world-state.js';
import { address, change, openSmall, set, state, word } from '../support/small-state.js';
import { error } from '../support/witness-trees.js';

const SLOTS = [1, 2, 9].map(word);
const contract = state(1n, 0n);

let hasher: Hasher;
let held: WorldState;
let follower: KeyFollower;
beforeEach(async () => {
  hasher = await loadHasher('poseidon2');
  held = await openSmall();
  follower = followerOf({ 2: SLOTS, 3: SLOTS, 9: SLOTS });
});

/** Follows accounts with slots from the newest block, with what is proved of both. */
function followerOf(accounts: Record<number, Uint8Array[]>, withStorage = true): KeyFollower {
  const block = held.head!;
  const proofs = Object.entries(accounts).map(([n, slots]) => {
    const at = address(Number(n));
    return { address: at, slots, proof: held.prove(block, at, slots) };
  });
  const items = proofs.map(({ proof }) => proof.accountProof);
  const followed = proofs.map(({ address: at, slots, proof }) => {
    const root = held.account(block, at)?.storageRoot;
    const isKnown = withStorage && root !== undefined && proof.storageProofs.length > 0;
    return { address: at, slots, ...(isKnown && { storage: witnessFromProofs(hasher, root, proof.storageProofs) }) };
  });
  return new KeyFollower(hasher, witnessFromProofs(hasher, held.root(), items), followed);
}

const apply = (...changes: ZkAccountChange[]) => held.applyBlockTraced(held.head! + 1, changes).traces;

/** The follower says what the whole state says. */
function expectSame(accounts: number[], slots: Uint8Array[] = SLOTS): void {
  for (const n of accounts) {
    expect(follower.account(address(n))).toEqual(held.account(held.head!, address(n)));
    for (const key of slots) expect(follower.slot(address(n), key)).toEqual(held.slot(held.head!, address(n), key));
  }
}

const conflict = (reason: string) => ({
  code: 'WITNESS_CONFLICT',
  message: expect.stringMatching(new RegExp(`^leaf position \\d+: ${reason}$`)),
});
const missing = (part: string, hkey: Uint8Array) => ({
  code: 'WITNESS_MISSING',
  message: `${part} of ${bytesToHex(hkey)} is not known; follow this account or slot from the start`,
  details: { part, hkey: bytesToHex(hkey) },
});

describe('a follower of a few accounts', () => {
  it('says at first what was proved', () => {
    expect(follower.root).toEqual(held.root());
    expectSame([2, 3, 9]);
  });

  it('says after each block what the whole state says', () => {
    const blocks = [
      [change(1, state(0n, 100n), state(1n, 100n)), change(2, contract, contract, [set(1, 11, 21), set(9, 0, 5)])],
      [change(9, undefined, state(0n, 1n), [set(1, 0, 3)]), change(3, state(1n, 5n), state(1n, 6n), [set(2, 0, 4)])],
      [change(2, contract, contract, [set(1, 21, 0)]), change(8, undefined, state(0n, 1n))],
      [change(2, contract, contract, [set(2, 12, 1)], true), change(9, state(0n, 1n), undefined, [set(1, 3, 0)], true)],
      [],
      [change(2, contract, undefined, [set(2, 1, 0)], true), change(9, undefined, state(0n, 2n), [set(2, 0, 8)])],
    ];
    for (const block of blocks) {
      expect(follower.follow(apply(...block))).toEqual(held.root());
      expect(follower.root).toEqual(held.root());
      expectSame([2, 3, 9]);
    }
  });

  it('gives copies of values', () => {
    follower.slot(address(2), word(1)).fill(9);
    follower.slot(address(2), word(9)).fill(9);
    follower.slot(address(9), word(1)).fill(9);
    expect([2, 9].map((n) => follower.slot(address(n), word(9)))).toEqual([new Uint8Array(32), new Uint8Array(32)]);
    expectSame([2, 9]);
  });

  it('passes over others, and over what is only read', () => {
    follower = followerOf({ 3: SLOTS });
    const blocks = [
      [change(1, state(0n, 100n), undefined, [], true), change(2, contract, contract, [set(1, 11, 12)])],
      [change(8, undefined, undefined), change(3, state(1n, 5n), state(1n, 5n), [set(1, 0, 0)])],
      [change(2, contract, undefined, [set(1, 12, 0)], true), change(3, state(1n, 5n), state(1n, 5n), [set(2, 0, 4)])],
      [change(3, state(1n, 5n), state(1n, 5n), [set(2, 4, 4), set(9, 0, 0)])],
    ];
    for (const block of blocks) {
      expect(follower.follow(apply(...block))).toEqual(held.root());
      expectSame([3]);
    }
  });

  it('forgets what it need not know', () => {
    const all = Array.from({ length: 40 }, (_, i) => 10 + i);
    follower.follow(
      apply(
        change(
          2,
          contract,
          contract,
          all.map((key) => set(key, 0, key)),
        ),
      ),
    );
    const known = all.filter((key) => error(() => follower.slot(address(2), word(key))) === undefined);
    // At most the two leaves around each slot that is absent.
    expect(known.length).toBeLessThanOrEqual(2 * SLOTS.length);
    expectSame([2]);
  });

  it('does not answer for others', () => {
    expect(error(() => follower.account(address(1)))).toMatchObject(missing('leaf', address(1)));
    expect(error(() => follower.slot(address(1), word(1)))).toMatchObject(missing('leaf', address(1)));
    const other = { code: 'WITNESS_MISSING', details: { part: 'leaf', hkey: bytesToHex(hashWord(hasher, word(3))) } };
    expect(error(() => follower.slot(address(2), word(3)))).toMatchObject(other);
    const accounts = WitnessTrie.open(hasher, 9, new Uint8Array(32));
    expect(error(() => new KeyFollower(hasher, accounts, [{ address: address(2), slots: [] }]))).toMatchObject({
      code: 'WITNESS_MISSING',
    });
    expect(error(() => new KeyFollower(hasher, accounts, []))).toBeUndefined();
  });

  it('learns storage that was not known from the first traces of it', () => {
    follower = followerOf({ 2: SLOTS }, false);
    const hkey = hashAddress(hasher, address(2));
    expect(error(() => follower.slot(address(2), word(1)))).toMatchObject(missing('storage', hkey));
    follower.follow(apply(change(1, state(0n, 100n), state(1n, 100n))));
    expect(error(() => follower.slot(address(2), word(1)))).toMatchObject(missing('storage', hkey));
    follower.follow(apply(change(2, contract, contract, [set(1, 11, 12)])));
    expectSame([2], [word(1)]);
    expect(error(() => follower.slot(address(2), word(2)))).toMatchObject({ code: 'WITNESS_MISSING' });
    follower.follow(apply(change(2, contract, contract, [set(2, 12, 13)])));
    expectSame([2], [word(1), word(2)]);
  });
});

describe('a follower refuses', () => {
  const flip = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 31 ? byte ^ 1 : byte));
  const write = change(2, contract, contract, [set(1, 11, 21)]);
  const begin = 'a trace does not start where the one before ended';

  it('traces that do not continue', () => {
    const traces = apply(write);
    apply(change(2, contract, contract, [set(1, 21, 22)]));
    const later = apply(change(2, contract, contract, [set(1, 22, 23)]));
    expect(error(() => follower.follow(later))).toMatchObject(conflict(begin));
    const [slot, account] = traces;
    for (const wrong of [
      { ...slot!, newNextFreeNode: 9 },
      { ...slot!, oldSubRoot: flip((slot as { oldSubRoot: Uint8Array }).oldSubRoot) },
    ]) {
      expect(error(() => follower.follow([wrong as StateTrace, account!]))).toMatchObject(conflict(begin));
    }
  });

  it('writes that lead elsewhere', () => {
    const elsewhere = conflict('the writes of a trace lead to another sub root');
    const blocks = [
      write,
      change(2, contract, contract, [set(9, 0, 1)]),
      change(2, contract, contract, [set(1, 11, 0)]),
      change(9, undefined, state(1n, 1n)),
      change(3, state(1n, 5n), undefined, [], true),
    ];
    for (const block of blocks) {
      const traces = apply(block);
      held.revertTo(0);
      const at = traces.findIndex((trace) => 'newSubRoot' in trace);
      const trace = traces[at] as Extract<StateTrace, { newSubRoot: Uint8Array }>;
      const wrong = { ...trace, newSubRoot: flip(trace.newSubRoot) };
      follower = followerOf({ 2: SLOTS, 3: SLOTS, 9: SLOTS });
      expect(error(() => follower.follow(traces.with(at, wrong)))).toMatchObject(elsewhere);
    }
  });

  it('a block without the traces of storage', () => {
    const [, account] = apply(write);
    expect(error(() => follower.follow([account!]))).toMatchObject(conflict('storage traces are missing'));
  });

  it('a block without the traces of storage that was empty', () => {
    follower = followerOf({ 3: SLOTS });
    const plain = state(1n, 5n);
    follower.follow(apply(change(3, plain, plain, [set(1, 0, 0)])));
    const [, account] = apply(change(3, plain, plain, [set(1, 0, 7)]));
    expect(error(() => follower.follow([account!]))).toMatchObject(conflict('storage traces are missing'));
  });

  it('storage traces that do not start from the storage of the account', () => {
    follower = followerOf({ 2: SLOTS }, false);
    apply(write);
    const [slot, account] = apply(change(2, contract, contract, [set(1, 21, 22)]));
    expect(error(() => follower.follow([slot!, account!]))).toMatchObject(
      conflict('its storage traces do not start from the storage root of the account'),
    );
  });
});

describe('an account that is recreated without slots', () => {
  it('has empty storage, under the root that it had', () => {
    const emptied = change(2, contract, contract, [set(1, 11, 0), set(2, 12, 0), set(3, 13, 0)]);
    follower = followerOf({ 2: [...SLOTS, word(3)] });
    follower.follow(apply(emptied));
    follower.follow(apply(change(2, contract, contract, [], true)));
    expectSame([2]);
    follower.follow(apply(change(2, contract, contract, [set(1, 0, 4)])));
    expectSame([2]);
    // Once it has storage of its own, the old root is no excuse.
    const [, account] = apply(change(2, contract, contract, [set(1, 4, 5)]));
    expect(error(() => follower.follow([account!]))).toMatchObject(conflict('storage traces are missing'));
  });
});
