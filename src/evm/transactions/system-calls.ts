import { HISTORY_CONTRACT } from '../../ethereum/constants.js';
import { exceptionText } from '../../kernel/evm.js';
import { ZERO_WORD } from '../../primitives/bytes.js';
import { hexToBytes } from '../../primitives/hex.js';
import { runToEnd } from '../interpreter/execution.js';
import { handInCertain } from '../interpreter/handing-in.js';
import type { Machine } from '../interpreter/machine.js';
import { RunBudget } from '../interpreter/run-budget.js';

const SYSTEM_ADDRESS = hexToBytes('0xfffffffffffffffffffffffffffffffffffffffe', 20);
const SYSTEM_CALL_GAS = 30_000_000n;

/** Contract that stores parent beacon block roots (EIP-4788). */
export const BEACON_ROOTS_ADDRESS: Uint8Array = hexToBytes('0x000f3df6d732807ef1319fb7b8bb8522d0beac02', 20);

/**
 * Calls the system contracts before the first transaction of a block: with the parent beacon block root from Cancun on,
 * with the parent's hash from Prague on. Contracts that are not deployed are skipped.
 *
 * @param budget - for the gas of blocks that are simulated; unlimited when left out
 */
export async function runSystemCalls(machine: Machine, budget?: RunBudget): Promise<void> {
  const { block, rules } = machine;
  if (rules.cancun) {
    await systemCall(machine, BEACON_ROOTS_ADDRESS, async () => block.parentBeaconBlockRoot ?? ZERO_WORD, budget);
  }
  if (rules.prague && block.number > 0) {
    await systemCall(machine, HISTORY_CONTRACT, () => block.blockHash(block.number - 1), budget);
  }
}

/**
 * Calls a contract as the system, outside of transactions.
 *
 * @param contract - 20 bytes
 * @returns the result; undefined if the contract is not deployed
 */
export async function systemCall(
  machine: Machine,
  contract: Uint8Array,
  input: () => Promise<Uint8Array>,
  budget = new RunBudget(),
): Promise<{ readonly returnData: Uint8Array; readonly exception: string | undefined } | undefined> {
  const { state } = machine;
  const account = await state.account(contract);
  if (account === undefined || (await state.code(account.codeHash)).length === 0) return undefined;
  const data = await input();
  const kernel = await machine.enter();
  await handInCertain(kernel, state, { accounts: [], recipient: contract });
  machine.begin(kernel, { origin: SYSTEM_ADDRESS, gasPrice: 0n, blobHashes: [] });
  try {
    kernel.start({ caller: SYSTEM_ADDRESS, to: contract, value: 0n, data, gas: SYSTEM_CALL_GAS });
    await runToEnd(machine, kernel, budget, undefined);
    const outcome = { returnData: kernel.returned(), exception: exceptionText(kernel.result().exception) };
    kernel.finish();
    machine.commit(kernel);
    return outcome;
  } catch (error) {
    kernel.rollback();
    throw error;
  }
}
