import type { Alloc } from '../../conformance/alloc-state.js';
import { runTransaction } from '../../src/evm/transaction.js';
import type { TransactionMessage } from '../../src/evm/transaction-message.js';
import type { Hardfork } from '../../src/networks/network.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { message, openMachine } from './evm.js';

/** 32 bytes, big-endian. */
export const word = (value: bigint): Hex => bytesToHex(bigIntToBytes(value, 32));

/** Gas that a transaction uses after refunds. */
export async function gasOf(alloc: Alloc, overrides: Partial<TransactionMessage> = {}, hardfork: Hardfork = 'osaka') {
  return (await runTransaction(await openMachine(alloc, hardfork), message(overrides))).gasUsed;
}
