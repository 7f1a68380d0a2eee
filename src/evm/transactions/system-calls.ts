import { Address } from '@ethereumjs/util';
import { ZERO_WORD } from '../../primitives/bytes.js';
import { hexToBytes } from '../../primitives/hex.js';
import type { Machine } from '../interpreter/machine.js';

const SYSTEM_ADDRESS = new Address(hexToBytes('0xfffffffffffffffffffffffffffffffffffffffe'));
const SYSTEM_CALL_GAS = 30_000_000n;

/** Contract that stores parent beacon block roots (EIP-4788). */
const BEACON_ROOTS_ADDRESS: Uint8Array = hexToBytes('0x000f3df6d732807ef1319fb7b8bb8522d0beac02', 20);
/** Contract that stores recent block hashes (EIP-2935). */
const BLOCK_HASHES_ADDRESS: Uint8Array = hexToBytes('0x0000f90827f1c53a10cb7a02335b175320002935', 20);

/**
 * Calls the system contracts before the first transaction of a block: with the parent beacon block root from Cancun on,
 * with the parent's hash from Prague on. Contracts that are not deployed are skipped.
 */
export async function runSystemCalls(machine: Machine): Promise<void> {
  const { block, rules } = machine;
  if (rules.cancun) {
    await systemCall(machine, BEACON_ROOTS_ADDRESS, async () => block.parentBeaconBlockRoot ?? ZERO_WORD);
  }
  if (rules.prague && block.number > 0) {
    await systemCall(machine, BLOCK_HASHES_ADDRESS, () => block.blockHash(block.number - 1));
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
): Promise<{ readonly returnData: Uint8Array; readonly exception: string | undefined } | undefined> {
  const { evm, state } = machine;
  const account = await state.account(contract);
  if (account === undefined || (await state.code(account.codeHash)).length === 0) return undefined;
  const start = state.rollbackPoint();
  state.beginTransaction();
  try {
    const { execResult } = await evm.runCall({
      block: machine.blockForEvm(),
      caller: SYSTEM_ADDRESS,
      to: new Address(contract),
      data: await input(),
      gasLimit: SYSTEM_CALL_GAS,
      skipNonceIncrement: true,
    });
    await evm.journal.cleanup();
    return { returnData: execResult.returnValue, exception: execResult.exceptionError?.error };
  } catch (error) {
    state.rollback(start);
    await machine.recover();
    throw error;
  }
}
