import { describe, expect, it } from 'vitest';
import { type Alloc, AllocState } from '../../conformance/alloc-state.js';
import { RunBudget } from '../../src/evm/run-budget.js';
import { runSystemCalls } from '../../src/evm/system-calls.js';
import { runTransaction, simulateTransaction } from '../../src/evm/transaction.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { allocWith, message, openMachine, SLOT_0, STRANGER } from '../support/evm.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { word } from '../support/transaction-gas.js';

describe('runs that end early', () => {
  const loop = allocWith('0x5b5f56');
  const budget = () => new RunBudget({ gas: { budget: 5_000, spent: 0 } });

  it('stops at the gas budget, undoes everything, and can run again', async () => {
    const machine = await openMachine(loop);
    await expect(runTransaction(machine, message(), { budget: budget() })).rejects.toMatchObject({
      code: 'GAS_BUDGET_EXCEEDED',
      details: { budget: 5_000 },
    });
    expect(await machine.state.changes()).toEqual([]);
    const outcome = await runTransaction(machine, message({ to: hexToBytes(STRANGER), value: 1n }), {
      budget: budget(),
    });
    expect(outcome.gasUsed).toBe(21_000n);
  });

  it('forgets the warm set of an aborted run', async () => {
    // Reads slot 0, then stops if there is data, else loops.
    const machine = await openMachine(allocWith('0x5f545036600b575b6007565b00'));
    const withData = message({ data: Uint8Array.of(1) });
    const wanted = await simulateTransaction(machine, withData);
    expect(wanted.succeeded).toBe(true);
    await expect(simulateTransaction(machine, message(), { budget: budget() })).rejects.toThrow();
    expect(await simulateTransaction(machine, withData)).toEqual(wanted);
  });

  it('does not start if already aborted', async () => {
    const signal = AbortSignal.abort();
    await expect(
      runTransaction(await openMachine(loop), message(), { budget: new RunBudget({ signal }) }),
    ).rejects.toMatchObject({
      code: 'ABORTED',
    });
  });

  it('passes on errors of the state, and reads again the next time', async () => {
    const state = new AllocState(allocWith('0x5f545f5260205ff3', { [SLOT_0]: word(9n) }));
    const read = state.slot.bind(state);
    let failures = 1;
    state.slot = async (address, slot) => {
      if (failures-- > 0) throw new Error('endpoint is gone');
      return read(address, slot);
    };
    const machine = await openMachine(state);
    await expect(runTransaction(machine, message())).rejects.toThrow('endpoint is gone');
    expect(await machine.state.changes()).toEqual([]);
    expect(bytesToHex((await runTransaction(machine, message())).returnData)).toBe(word(9n));
  });

  it('fails point evaluation instead of crashing', async () => {
    const code = '0x5f5f5f5f600a620186a0fa5f5260205ff3';
    const outcome = await runTransaction(await openMachine(allocWith(code)), message());
    expect([outcome.succeeded, bytesToHex(outcome.returnData)]).toEqual([true, SLOT_0]);
  });
});

describe('reads', () => {
  it('requests sender, target and coinbase at once', async () => {
    const state = new AllocState(allocWith('0x00'));
    const account = state.account.bind(state);
    let [inFlight, most] = [0, 0];
    state.account = async (address) => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 0));
      inFlight--;
      return account(address);
    };
    await runTransaction(await openMachine(state), message());
    expect(most).toBe(3);
  });

  it('requests each value once over many runs', async () => {
    const state = new AllocState(allocWith('0x5f545f5260205ff3', { [SLOT_0]: word(7n) }));
    const machine = await openMachine(state);
    for (let i = 0; i < 4; i++) await simulateTransaction(machine, message());
    expect(state.reads).toEqual({ accounts: 3, slots: 1, codes: 1 });
  });
});

describe.skipIf(!hasFixture('execution-apis/chain.rlp'))('system calls', () => {
  type Genesis = { alloc: Record<string, { code?: Hex } | undefined> };
  const codeOf = (address: string) => fixtureJson<Genesis>('execution-apis/genesis.json').alloc[address]!.code!;

  it('write the values of EIP-2935 and EIP-4788', async () => {
    const hashes = '0000f90827f1c53a10cb7a02335b175320002935';
    const roots = '000f3df6d732807ef1319fb7b8bb8522d0beac02';
    const alloc = {
      [`0x${hashes}`]: { nonce: '0x1', code: codeOf(hashes) },
      [`0x${roots}`]: { nonce: '0x1', code: codeOf(roots) },
    };
    const parentBeaconBlockRoot = new Uint8Array(32).fill(0xbb);
    const machine = await openMachine(alloc as Alloc, 'osaka', { parentBeaconBlockRoot });
    await runSystemCalls(machine);
    const slot = async (address: string, key: bigint) =>
      bytesToHex(await machine.state.slot(hexToBytes(`0x${address}`), bigIntToBytes(key, 32)));
    expect(await slot(hashes, 99n)).toBe(`0x${'63'.repeat(32)}`);
    // Rings of 8191 entries; the second keeps the time, and the root behind it.
    const index = 1_700_000_000n % 8191n;
    expect(await slot(roots, index)).toBe(word(1_700_000_000n));
    expect(await slot(roots, index + 8191n)).toBe(bytesToHex(parentBeaconBlockRoot));
    expect((await machine.state.changes()).length).toBe(2);
  });

  it('do nothing if the contracts are not deployed', async () => {
    const machine = await openMachine({});
    await runSystemCalls(machine);
    expect(await machine.state.changes()).toEqual([]);
  });
});
