import { describe, expect, it } from 'vitest';
import { AllocState } from '../../conformance/alloc-state.js';
import { estimateGasAt } from '../../src/evm/gas.js';
import { RunBudget } from '../../src/evm/run-budget.js';
import { simulateTransaction } from '../../src/evm/transaction.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { allocWith, blockContext, CONTRACT, message, networkAt, openMachine, SENDER } from '../support/evm.js';

const LOOP = allocWith('0x5b5f56');
const GAS = 16_000_000n;
const to = hexToBytes(CONTRACT);

describe('RunBudget', () => {
  it('counts the gas of the execution, without what is paid before the first instruction', async () => {
    // PUSH0, then ten rounds of: JUMPDEST, PUSH1, ADD, DUP1, PUSH1, GT, PUSH1, JUMPI.
    const machine = await openMachine(allocWith('0x5f5b60010180600a1160015700'));
    const gas = 2 + 10 * (1 + 3 + 3 + 3 + 3 + 3 + 3 + 10);
    const tight = { budget: new RunBudget({ gas: { budget: gas - 1, spent: 0 } }) };
    await expect(simulateTransaction(machine, message(), tight)).rejects.toMatchObject({ code: 'GAS_BUDGET_EXCEEDED' });
    const outcome = await simulateTransaction(machine, message(), {
      budget: new RunBudget({ gas: { budget: gas, spent: 0 } }),
    });
    expect(outcome).toMatchObject({ succeeded: true, gasUsed: 21_000n + BigInt(gas) });
  });

  it('ends recursion without jump destinations', async () => {
    // Calls itself twice with all the gas there is, over and over.
    const callSelf = '5f5f5f5f5f305af150';
    const machine = await openMachine(allocWith(`0x${callSelf}${callSelf}00`));
    const run = simulateTransaction(machine, message({ gasLimit: GAS }), {
      budget: new RunBudget({ gas: { budget: 1_000_000, spent: 0 } }),
    });
    await expect(run).rejects.toMatchObject({ code: 'GAS_BUDGET_EXCEEDED' });
  });

  it('applies to all runs of a search together', async () => {
    // Two thousand rounds: one run is within the budget, a second one is not.
    const rounds = allocWith('0x5f5b600101806107d01160015700');
    const request = { from: hexToBytes(SENDER), to, data: Uint8Array.of(1) };
    const estimate = (gasBudget: number) =>
      estimateGasAt(new AllocState(rounds), blockContext(), request, {
        network: networkAt('osaka'),
        search: 'exact',
        gas: { budget: gasBudget, spent: 0 },
      });
    await expect(estimate(80_000)).rejects.toMatchObject({ code: 'GAS_BUDGET_EXCEEDED' });
    expect((await estimate(10_000_000)).gasLimit).toBeGreaterThan(21_000n);
  });

  it('yields the thread during a run', async () => {
    let ended = false;
    let between = 0;
    const timer = setInterval(() => {
      if (!ended) between++;
    });
    const options = { budget: new RunBudget(), leniency: { gasAboveCap: true } };
    const outcome = await simulateTransaction(await openMachine(LOOP), message({ gasLimit: 300_000_000n }), options);
    ended = true;
    clearInterval(timer);
    expect(outcome.exception).toBe('out of gas');
    expect(between).toBeGreaterThan(0);
  });

  it('does not change the outcome of a run', async () => {
    const machine = await openMachine(LOOP);
    const watched = await simulateTransaction(machine, message(), { budget: new RunBudget(), counting: true });
    const { counts, ...outcome } = watched;
    expect(outcome).toEqual(await simulateTransaction(machine, message()));
    expect(counts).toEqual({});
  });

  it('is aborted in the middle of a loop', async () => {
    const controller = new AbortController();
    // At the first moment that the run lends the thread.
    setTimeout(() => controller.abort());
    const budget = new RunBudget({ signal: controller.signal });
    const run = simulateTransaction(await openMachine(LOOP), message({ gasLimit: 300_000_000n }), {
      budget,
      leniency: { gasAboveCap: true },
    });
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
