import { beforeAll, describe, expect, it } from 'vitest';
import { bytesToHex } from '../../src/primitives/hex.js';
import type { StateTrace } from '../../src/state/trace.js';
import { address, change, set, state } from '../support/small-state.js';
import { openTraced, type Traced } from '../support/traced-blocks.js';

let root: Traced['root'];
let emptyRoot: Traced['emptyRoot'];
let tracesOf: Traced['tracesOf'];
let saidOf: Traced['saidOf'];
let placeOf: Traced['placeOf'];
beforeAll(async () => {
  ({ root, emptyRoot, tracesOf, saidOf, placeOf } = await openTraced());
});

const same = state(1n, 1n);
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

  it('names storage of a new account that does not start empty, or that no account has', () => {
    const [slotRead, deletion, inserted, account] = tracesOf(recreated)[0]!;
    const old = tracesOf(write)[0]![0]!;
    expect(saidOf([[slotRead!, deletion!, old, account!]])).toEqual([
      fault,
      'blocks[0][2]',
      `starts from root ${root}, not from ${emptyRoot}`,
    ]);
    expect(saidOf([[slotRead!, deletion!, inserted!]])).toEqual([
      fault,
      'blocks[0]',
      `there are storage traces of ${bytesToHex(address(1))}, but no trace of this account`,
    ]);
  });

  it('takes empty storage under an old root, until a slot is written', () => {
    const two = state(2n, 1n);
    const emptied = change(1, same, same, [set(1, 7, 0), set(2, 8, 0)]);
    const blocks = tracesOf(
      emptied,
      change(1, same, same, [], true),
      change(1, same, same, [set(1, 0, 0)]),
      change(1, same, two),
      change(1, two, two, [set(1, 0, 0)]),
      change(1, two, two, [set(1, 0, 3)]),
      change(1, two, two, [set(1, 3, 3)]),
    );
    expect([saidOf(blocks), saidOf(blocks, true)]).toEqual(['holds', 'holds']);
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
