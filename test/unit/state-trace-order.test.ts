import { beforeAll, describe, expect, it } from 'vitest';
import { bytesToHex } from '../../src/primitives/hex.js';
import { change, set, state } from '../support/small-state.js';
import { openTraced, type Traced } from '../support/traced-blocks.js';

let started: Traced['started'];
let tracesOf: Traced['tracesOf'];
let saidOf: Traced['saidOf'];
let placeOf: Traced['placeOf'];
beforeAll(async () => {
  ({ started, tracesOf, saidOf, placeOf } = await openTraced());
});

const same = state(1n, 1n);
const write = change(1, same, same, [set(1, 7, 9)]);
const read = change(1, same, same, [set(1, 7, 7)]);
const gone = change(1, same, undefined, [set(1, 7, 0), set(2, 8, 0)], true);

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
    const seen = new Set<string>();
    for (const key of [5, 6, 7, 8, 9, 10, 11, 12]) {
      const [read, first, second, update] = same2(set(1, 7, 0), set(key, 0, 1));
      expect([read!.type, [first!.type, second!.type].sort()]).toEqual(['read', ['delete', 'insert']]);
      expect(saidOf([[read!, second!, first!, update!]], true)).toEqual(broken(2));
      seen.add(first!.type);
    }
    expect(seen.size).toBe(2);
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
