import { beforeAll, describe, expect, it } from 'vitest';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import type { StateTrace } from '../../src/state/trace.js';
import { checkTraces } from '../../src/state/traces/trace-check.js';
import { WitnessState } from '../../src/state/traces/witness-state.js';
import type { ZkAccountChange } from '../../src/state/world-state.js';
import { address, change, set, state } from '../support/small-state.js';

let hasher: Hasher;
let started: WitnessState;
/** Storage root of account 1 as started, and of an account without storage. */
let root: string;
let emptyRoot: string;
beforeAll(async () => {
  hasher = await loadHasher('poseidon2');
  started = new WitnessState(hasher);
  started.apply([change(1, undefined, state(1n, 1n), [set(1, 0, 7), set(2, 0, 8)]), change(2, undefined, same)]);
  root = bytesToHex(started.storageAt(positionOf(1), {} as never).topRoot);
  emptyRoot = bytesToHex(new WitnessState(hasher).accounts.topRoot);
});

const same = state(1n, 1n);
function positionOf(n: number): number {
  const [trace] = started.copy().apply([change(n, same, same)]);
  return (trace as { proof: { leafIndex: number } }).proof.leafIndex;
}

/** The traces of blocks that follow each other. */
function tracesOf(...blocks: ZkAccountChange[]): StateTrace[][] {
  const held = started.copy();
  return blocks.map((block) => held.apply([block]));
}

/** What is said of these blocks: `holds`, or reason, place and message without the place. */
function saidOf(blocks: StateTrace[][], order = false): string | string[] {
  const verdict = checkTraces(hasher, started.accounts.topRoot, blocks, { order });
  if (verdict.verified) return 'holds';
  expect(verdict.message.startsWith(`${verdict.at} `)).toBe(true);
  return [verdict.reason, verdict.at, verdict.message.slice(verdict.at.length + 1)];
}

/** Reason and place alone. */
const placeOf = (blocks: StateTrace[][], order = false) => saidOf(blocks, order).slice(0, 2);
const isSlot = ({ location }: StateTrace) => location !== undefined;
const write = change(1, same, same, [set(1, 7, 9)]);
const read = change(1, same, same, [set(1, 7, 7)]);
const again = change(1, same, same, [set(1, 9, 10)]);
const gone = change(1, same, undefined, [set(1, 7, 0), set(2, 8, 0)], true);
const recreated = change(1, same, same, [set(1, 7, 5), set(2, 8, 0)], true);
const fault = 'STORAGE_ROOT_MISMATCH';

describe('the verdict on storage traces', () => {
  it('is positive for blocks as they were made', () => {
    for (const blocks of [[write], [read], [write, again], [read, write], [gone], [recreated], [recreated, read]]) {
      const traces = tracesOf(...blocks.map((one) => (one === read && blocks[0] === recreated ? after : one)));
      expect([saidOf(traces), saidOf(traces, true)]).toEqual(['holds', 'holds']);
    }
  });
  const after = change(1, same, same, [set(1, 5, 5), set(2, 0, 0)]);

  it('names the block with storage traces of an account without a trace', () => {
    const [traces] = tracesOf(write);
    const message = `there are storage traces of ${bytesToHex(address(1))}, but no trace of this account`;
    expect(saidOf([[], traces!.filter(isSlot)])).toEqual([fault, 'blocks[1]', message]);
    // Neither may the account be one of the block before.
    expect(placeOf([tracesOf(read)[0]!, traces!.filter(isSlot)])).toEqual([fault, 'blocks[1]']);
  });

  it('names the account value that does not follow from the storage traces', () => {
    const [traces] = tracesOf(write);
    const [slot, account] = traces!;
    const found = (tracesOf(write)[0]![1] as { newValue: Uint8Array }).newValue.slice(64, 96);
    // The slot was written, and the account is said to be as before.
    const unwritten = tracesOf(change(1, same, state(2n, 1n)))[0]![0]!;
    expect(saidOf([[slot!, unwritten]])).toEqual([
      fault,
      'blocks[0][1].newValue',
      `its storage root: ${root}, expected ${bytesToHex(found)}`,
    ]);
    // The account changes its root, and no slot was written.
    expect(saidOf([[account!]])).toEqual([
      fault,
      'blocks[0][0].newValue',
      `its storage root: ${bytesToHex(found)}, expected ${root}`,
    ]);
  });

  it('names storage that starts from another root than the account has', () => {
    const [first, second] = tracesOf(write, again);
    const start = bytesToHex((first![1] as { newValue: Uint8Array }).newValue.slice(64, 96));
    const account = tracesOf(change(1, same, same))[0]![0]!;
    // The slot trace of the second block before the account as it was: it is confirmed by what comes after it.
    expect(saidOf([[second![0]!, account]])).toEqual([
      fault,
      'blocks[0][1].value',
      `start of the storage traces: ${start}, expected ${root}`,
    ]);
    expect(placeOf([[second![0]!, first![1]!]])).toEqual([fault, 'blocks[0][1].oldValue']);
    // The account was read before: its root is known when the storage traces start.
    expect(saidOf([[account], second!])).toEqual([
      fault,
      'blocks[1][0]',
      `starts from root ${start}, not from ${root}`,
    ]);
  });

  it('names an account that was written to but only read', () => {
    const [traces] = tracesOf(write);
    const account = tracesOf(change(1, same, same))[0]![0]!;
    const found = bytesToHex((traces![1] as { newValue: Uint8Array }).newValue.slice(64, 96));
    expect(saidOf([[traces![0]!, account]])).toEqual([
      fault,
      'blocks[0]',
      `storage of ${bytesToHex(address(1))}: ${found}, expected ${root}`,
    ]);
  });

  it('names storage traces of an account that does not exist', () => {
    const [traces] = tracesOf(write);
    const none = tracesOf(change(9, undefined, undefined))[0]![0]!;
    const slot = { ...traces![0]!, location: address(9) };
    expect(saidOf([[slot, none]])).toEqual([
      fault,
      'blocks[0][1]',
      'has storage traces for an account that does not exist',
    ]);
  });

  it('names a deleted account whose storage was written to before', () => {
    const [traces] = tracesOf(gone);
    const deletion = traces!.at(-1)!;
    const slot = tracesOf(write)[0]![0]!;
    const found = bytesToHex((tracesOf(write)[0]![1] as { newValue: Uint8Array }).newValue.slice(64, 96));
    expect(saidOf([[slot, deletion]])).toEqual([fault, 'blocks[0][1]', `storage read: ${found}, expected ${root}`]);
    const second = tracesOf(write, again)[1]![0]!;
    expect(saidOf([[second, deletion]])).toEqual([
      fault,
      'blocks[0][1].deletedValue',
      `start of the storage traces: ${found}, expected ${root}`,
    ]);
    const { deletedValue: _, ...old } = deletion as Extract<StateTrace, { type: 'delete' }>;
    expect(saidOf([[old]])).toBe('holds');
  });

  it('names a created account with another storage root than its traces lead to', () => {
    const created = (...slots: ReturnType<typeof set>[]) => tracesOf(change(9, undefined, same, slots))[0]!;
    const [slot, account] = created(set(1, 0, 7));
    const rootOf = (trace: StateTrace) => bytesToHex((trace as { value: Uint8Array }).value.slice(64, 96));
    const [plain] = created();
    expect([saidOf([[slot!, account!]]), saidOf([[plain!]])]).toEqual(['holds', 'holds']);
    expect(rootOf(plain!)).toBe(emptyRoot);
    const at = (i: number) => `blocks[0][${i}].value`;
    expect(saidOf([[account!]])).toEqual([
      fault,
      at(0),
      `its storage root: ${rootOf(account!)}, expected ${emptyRoot}`,
    ]);
    expect(saidOf([[slot!, plain!]])).toEqual([
      fault,
      at(1),
      `its storage root: ${emptyRoot}, expected ${rootOf(account!)}`,
    ]);
    // Its storage starts empty, so no trace of a trie with slots can come before it.
    const other = { ...tracesOf(write)[0]![0]!, location: address(9) };
    expect(saidOf([[other, account!]])).toEqual([
      fault,
      'blocks[0][1]',
      `start of the storage traces: ${root}, expected ${emptyRoot}`,
    ]);
  });

  it('takes the old root of an account recreated without slots, in the same block only', () => {
    const kept = tracesOf(change(1, same, same, [], true))[0]!;
    expect(kept.map(({ type }) => type)).toEqual(['delete', 'insert']);
    expect(saidOf([kept])).toBe('holds');
    expect(saidOf([[kept[0]!], [kept[1]!]])).toEqual([
      fault,
      'blocks[1][0].value',
      `its storage root: ${root}, expected ${emptyRoot}`,
    ]);
  });
});

describe('the verdict on storage that is traced before and after its account in one block', () => {
  it('is positive where the account has the last root', () => {
    for (const blocks of [
      [write, again],
      [read, write],
      [write, change(1, same, same, [set(1, 9, 9)])],
      [recreated, change(1, same, same, [set(1, 5, 6), set(2, 0, 1)])],
      [change(1, same, same), change(1, same, same, [set(9, 0, 1)]), gone],
    ]) {
      expect(saidOf([tracesOf(...blocks).flat()])).toBe('holds');
    }
  });

  it('names the block where the account does not have the last root', () => {
    const [first, second] = tracesOf(write, again);
    const [before, after] = [first![1], second![1]].map((trace) =>
      bytesToHex((trace as { newValue: Uint8Array }).newValue.slice(64, 96)),
    );
    expect(saidOf([[...first!, second![0]!]])).toEqual([
      fault,
      'blocks[0]',
      `storage of ${bytesToHex(address(1))}: ${after}, expected ${before}`,
    ]);
    // Nor is it enough that the block after has it.
    expect(placeOf([[...first!, second![0]!], [second![1]!]])).toEqual([fault, 'blocks[0]']);
  });
});

describe('the order of the traces of a block', () => {
  const pattern = (letters: string) => `the traces of an account, ${letters}, do not match a known pattern`;

  it('is that of the hashed addresses', () => {
    const both = started.copy().apply([change(1, same, state(2n, 1n)), change(2, same, state(2n, 1n))]);
    expect(saidOf([both], true)).toBe('holds');
    const turned = [1, 2].map((n) => change(n, same, same)).flatMap((one) => tracesOf(one)[0]!);
    const first = bytesToHex(both[0]!.key) === bytesToHex(turned[0]!.key) ? turned : turned.reverse();
    expect([saidOf([first], true), saidOf([first.toReversed()])]).toEqual(['holds', 'holds']);
    expect(saidOf([[], first.toReversed()], true)).toEqual([
      'PATTERN_BROKEN',
      'blocks[1][1]',
      `account ${bytesToHex(first[0]!.key)} is out of order`,
    ]);
    expect(placeOf([[first[0]!, first[1]!, first[0]!]], true)).toEqual(['PATTERN_BROKEN', 'blocks[0][2]']);
  });

  it('is one of the patterns of an account', () => {
    const [slot, account] = tracesOf(write)[0]!;
    const [accountRead, slotRead] = tracesOf(read)[0]!;
    expect(saidOf([[accountRead!, slotRead!]], true)).toBe('holds');
    expect(saidOf([[slotRead!, accountRead!]], true)).toEqual(['PATTERN_BROKEN', 'blocks[0][0]', pattern('rR')]);
    expect(saidOf([[account!, slot!]], true)).toEqual(['PATTERN_BROKEN', 'blocks[0][0]', pattern('Uu')]);
    expect(saidOf([[accountRead!, accountRead!]], true)).toEqual(['PATTERN_BROKEN', 'blocks[0][0]', pattern('RR')]);
    expect(saidOf([[slot!]], true)).toEqual(['PATTERN_BROKEN', 'blocks[0][0]', pattern('u')]);
    expect(saidOf([[accountRead!, tracesOf(gone)[0]!.at(-1)!]], true)).toMatchObject([
      'PATTERN_BROKEN',
      'blocks[0][0]',
      pattern('RD'),
    ]);
  });

  it('is that of the hashed slots, among reads and among writes', () => {
    const [account, ...slots] = tracesOf(change(1, same, same, [set(1, 7, 7), set(2, 8, 8)]))[0]!;
    expect(saidOf([[account!, ...slots]], true)).toBe('holds');
    const message = 'the slot is out of order';
    const broken = ['PATTERN_BROKEN', 'blocks[0][2]', message];
    expect(saidOf([[account!, ...slots.toReversed()]], true)).toEqual(broken);
    expect(saidOf([[account!, slots[0]!, slots[0]!]], true)).toEqual(broken);
    // Emptied and written again: it is read, removed and inserted.
    const cleared = tracesOf(change(1, same, same, [{ ...set(1, 7, 9), cleared: true }]))[0]!;
    expect(cleared.map(({ type }) => type)).toEqual(['read', 'delete', 'insert', 'update']);
    expect(saidOf([cleared], true)).toBe('holds');
    const twice = tracesOf(write)[0]!;
    expect(saidOf([[twice[0]!, twice[0]!, twice[1]!]], true)).toEqual(['PATTERN_BROKEN', 'blocks[0][1]', message]);
  });

  it('is no other for a slot that is removed and written, or absent', () => {
    const same2 = (...slots: ReturnType<typeof set>[]) => tracesOf(change(1, same, same, slots))[0]!;
    const broken = (at: number) => ['PATTERN_BROKEN', `blocks[0][${at}]`, 'the slot is out of order'];
    // One slot that is there, and some that are not.
    const [account, ...reads] = same2(set(1, 7, 7), set(5, 0, 0), set(6, 0, 0), set(7, 0, 0));
    expect(reads.map(({ type }) => type).sort()).toEqual(['read', 'read-zero', 'read-zero', 'read-zero']);
    for (const i of [0, 1, 2]) {
      const turned = reads.with(i, reads[i + 1]!).with(i + 1, reads[i]!);
      expect(saidOf([[account!, ...turned]], true)).toEqual(broken(i + 2));
    }
    // One that is removed with one that is written, both ways around.
    for (const key of [5, 6, 7, 8]) {
      const [read, first, second, update] = same2(set(1, 7, 0), set(key, 0, 1));
      expect([read!.type, [first!.type, second!.type].sort()]).toEqual(['read', ['delete', 'insert']]);
      expect(saidOf([[read!, second!, first!, update!]], true)).toEqual(broken(2));
    }
    const [read, removed, inserted, update] = same2({ ...set(1, 7, 9), cleared: true });
    const [updated] = tracesOf(write)[0]!;
    for (const two of [
      [inserted, removed],
      [removed, removed],
      [inserted, inserted],
      [removed, updated],
      [updated, inserted],
    ]) {
      expect(saidOf([[read!, ...two.map((trace) => trace!), update!]], true)).toEqual(broken(2));
    }
  });
});
