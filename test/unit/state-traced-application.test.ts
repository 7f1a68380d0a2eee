import { beforeAll, describe, expect, it } from 'vitest';
import { rememberingHasher } from '../../conformance/remembering-hasher.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import type { StateTrace } from '../../src/state/trace.js';
import { checkTraces } from '../../src/state/trace-check.js';
import { WitnessState, witnessBefore } from '../../src/state/witness-state.js';
import type { ZkAccountChange } from '../../src/state/world-state.js';

let hasher: Hasher;
beforeAll(async () => {
  hasher = rememberingHasher(await loadHasher('poseidon2'));
});

describe('applying a block step by step', () => {
  const address = (n: number) => bigIntToBytes(BigInt(n), 20);
  const word = (n: number) => bigIntToBytes(BigInt(n), 32);
  const slot = (key: number, before: number, after: number) => ({
    key: word(key),
    before: word(before),
    after: word(after),
  });
  const created = (n: number, ...slots: ZkAccountChange['slots']): ZkAccountChange => ({
    address: address(n),
    after: { nonce: 1n, balance: 5n },
    destroyed: false,
    slots,
  });
  const run = (state: WitnessState, ...changes: ZkAccountChange[]) => state.apply(changes);
  const shape = (traces: readonly StateTrace[]) =>
    traces.map(({ type, location }) => (location === undefined ? type.toUpperCase() : type));

  function started(): WitnessState {
    const state = new WitnessState(hasher);
    run(state, created(1, slot(1, 0, 7), slot(2, 0, 8)), created(2), created(3));
    return state;
  }

  const same = { nonce: 1n, balance: 5n };

  it('produces the six patterns', () => {
    const of = (change: Partial<ZkAccountChange>) =>
      shape(run(started(), { address: address(1), before: same, destroyed: false, slots: [], ...change }));
    const { before: _, ...missing } = created(9);
    expect(shape(run(started(), { ...missing, after: undefined } as unknown as ZkAccountChange))).toEqual([
      'READ-ZERO',
    ]);
    expect(of({ after: same })).toEqual(['READ']);
    expect(of({ after: same, slots: [slot(1, 7, 7)] })).toEqual(['READ', 'read']);
    expect(of({ after: same, slots: [slot(5, 0, 0)] })).toEqual(['READ', 'read-zero']);
    expect(of({ after: same, slots: [slot(1, 7, 9)] })).toEqual(['update', 'UPDATE']);
    expect(of({ after: same, slots: [slot(1, 7, 0)] })).toEqual(['read', 'delete', 'UPDATE']);
    expect(of({ after: same, slots: [slot(5, 0, 1)] })).toEqual(['insert', 'UPDATE']);
    // Emptied in between, by the slot's own flag: it is going to be removed, so it is read first.
    const cleared = { ...slot(1, 7, 9), cleared: true };
    expect(of({ after: same, slots: [cleared] })).toEqual(['read', 'delete', 'insert', 'UPDATE']);
    expect(of({ after: { nonce: 2n, balance: 5n } })).toEqual(['UPDATE']);
    expect(shape(run(started(), created(7, slot(1, 0, 1))))).toEqual(['insert', 'INSERT']);
    // A slot of an account that did not exist is not read.
    expect(shape(run(started(), created(7, slot(1, 0, 0))))).toEqual(['INSERT']);
    expect(of({ destroyed: true })).toEqual(['DELETE']);
    expect(of({ slots: [slot(1, 7, 0)] })).toEqual(['read', 'DELETE']);
    expect(of({ destroyed: true, after: same, slots: [slot(1, 7, 0), slot(3, 0, 4)] })).toEqual([
      'read',
      'DELETE',
      'insert',
      'INSERT',
    ]);
    expect(of({ destroyed: true, after: same })).toEqual(['DELETE', 'INSERT']);
  });

  it('starts with empty storage for an account that was recreated without slots', () => {
    const state = started();
    const recreated = run(state, { address: address(1), before: same, after: same, destroyed: true, slots: [] });
    const parent = state.copy().accounts.topRoot;
    const next: ZkAccountChange = {
      address: address(1),
      before: same,
      after: same,
      destroyed: false,
      slots: [slot(1, 0, 3)],
    };
    const traces = run(state, next);
    expect(shape(traces)).toEqual(['insert', 'UPDATE']);
    expect(traces[0]).toMatchObject({ newNextFreeNode: 3 });
    const before = started().accounts.topRoot;
    expect(checkTraces(hasher, before, [recreated, traces], { order: true })).toMatchObject({
      verified: true,
      blockRoots: [parent, state.accounts.topRoot],
    });
  });

  it('refuses a wrong before-value, and then changes nothing', () => {
    const state = started();
    const root = state.accounts.topRoot;
    const wrong: ZkAccountChange[] = [
      created(1),
      { address: address(8), before: same, destroyed: false, slots: [] },
      { address: address(1), before: { nonce: 2n, balance: 5n }, after: same, destroyed: false, slots: [] },
      { address: address(1), before: { nonce: 1n, balance: 6n }, after: same, destroyed: false, slots: [] },
      { address: address(1), before: same, after: same, destroyed: false, slots: [slot(1, 6, 1)] },
      { address: address(2), before: same, after: same, destroyed: false, slots: [slot(1, 6, 1)] },
    ];
    for (const change of wrong) {
      expect(() => run(state, created(20), change)).toThrowError(expect.objectContaining({ code: 'STATE_MISMATCH' }));
      expect(state.accounts.topRoot).toEqual(root);
    }
    expect(() => run(state, created(20), created(20))).toThrowError(
      expect.objectContaining({ code: 'INVALID_PARAMETER' }),
    );
  });

  it('a witness of one block covers only that block', () => {
    const state = started();
    const change: ZkAccountChange = {
      address: address(1),
      before: same,
      after: same,
      destroyed: false,
      slots: [slot(1, 7, 9)],
    };
    const before = state.accounts.topRoot;
    const traces = run(state, change);
    const witness = witnessBefore(hasher, traces)!;
    expect(witness.accounts.topRoot).toEqual(before);
    expect(run(witness.copy(), change)).toEqual(traces);
    const other: ZkAccountChange = {
      address: address(1),
      before: same,
      after: same,
      destroyed: false,
      slots: [slot(2, 8, 9)],
    };
    expect(() => run(witness.copy(), other)).toThrowError(expect.objectContaining({ code: 'WITNESS_MISSING' }));
    const stranger: ZkAccountChange = { address: address(3), before: same, after: same, destroyed: false, slots: [] };
    expect(() => run(witness, stranger)).toThrowError(expect.objectContaining({ code: 'WITNESS_MISSING' }));
  });
});
