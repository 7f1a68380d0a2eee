import { keccak_256 } from '@noble/hashes/sha3.js';
import { AllocState } from '../../../conformance/alloc-state.js';
import { isPlumblineError } from '../../../src/errors.js';
import type { BlockContext } from '../../../src/evm/block-context.js';
import { Machine } from '../../../src/evm/machine.js';
import { StateOverlay } from '../../../src/evm/state-overlay.js';
import { runTransaction } from '../../../src/evm/transaction.js';
import type { TransactionOutcome } from '../../../src/evm/transaction-message.js';
import type { Hardfork } from '../../../src/networks/network.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';
import { blockContext } from '../evm.js';
import { endOf, type Outcome, stateOfChanges } from './outcome.js';
import type { Scenario } from './scenario.js';
import { COINBASE, since } from './setting.js';

const BLOBS = { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n };

/** The block that scenarios run in. */
export function scenarioBlock(hardfork: Hardfork): BlockContext {
  return blockContext({
    number: 1_000,
    gasLimit: 1n << 50n,
    coinbase: hexToBytes(COINBASE, 20),
    prevRandao: new Uint8Array(32).fill(0x5a),
    blobBaseFee: 1n,
    // Of London: a block of anvil has none.
    ...(!since({ hardfork }, 'paris') && { difficulty: 0n }),
    // What revm says of blocks that it does not know.
    blockHash: async (number) => keccak_256(new TextEncoder().encode(number.toString())),
  });
}

/** An outcome, and what only some engines say. */
export interface PlumblineRun {
  readonly outcome: Outcome;
  readonly details: TransactionOutcome | undefined;
}

/** Runs the transaction of a scenario with the library. */
export async function runPlumbline({ alloc, message, hardfork }: Scenario): Promise<PlumblineRun> {
  const forks = [{ hardfork, block: 0, ...(since({ hardfork }, 'cancun') && { blobs: BLOBS }) }];
  const state = new StateOverlay(new AllocState(alloc));
  const machine = await Machine.open({ chainId: 1, forks }, scenarioBlock(hardfork), state);
  try {
    const details = await runTransaction(machine, message, { reportTouched: true, leniency: { gasAboveCap: true } });
    const returnData = bytesToHex(details.returnData);
    const gasLeft = message.gasLimit - details.gasUsedBeforeRefund;
    const logs = details.logs.map(({ address, topics, data }) => {
      return { address: bytesToHex(address), topics: topics.map(bytesToHex), data: bytesToHex(data) };
    });
    const outcome: Outcome = {
      ended: endOf(details.succeeded, details.exception === 'revert', returnData, gasLeft),
      gasUsed: details.gasUsed,
      returnData,
      logs,
      state: stateOfChanges(alloc, await state.changes()),
    };
    return { outcome, details };
  } catch (error) {
    const isRefusal = isPlumblineError(error, 'TRANSACTION_REJECTED') || isPlumblineError(error, 'INSUFFICIENT_FUNDS');
    if (!isRefusal) throw error;
    return { outcome: { refused: true }, details: undefined };
  } finally {
    machine.close();
  }
}
