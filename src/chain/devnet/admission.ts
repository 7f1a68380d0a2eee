import { PlumblineError, type TransactionRule } from '../../errors.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import type { BlockContext } from '../../evm/block-context.js';
import { Machine } from '../../evm/machine.js';
import { StateOverlay } from '../../evm/state-overlay.js';
import type { StateReader } from '../../evm/state-reader.js';
import { admit } from '../../evm/transaction-checks.js';
import type { Network } from '../../networks/network.js';
import { isZeroBytes } from '../../primitives/bytes.js';
import type { Pool } from './pool.js';

/** What a transaction is checked against before it may wait for a block. */
export interface AdmissionContext {
  readonly network: Network;
  /** State after the head. */
  readonly state: StateReader;
  /** Of the next block. */
  readonly context: BlockContext;
  readonly pool: Pool;
  /** Whether a transaction of this hash is in a block already. */
  readonly isKnown: (hash: Uint8Array) => boolean;
}

function reject(rule: TransactionRule, reason: string): PlumblineError<'TRANSACTION_REJECTED'> {
  return new PlumblineError('TRANSACTION_REJECTED', reason, { rule, reason });
}

/**
 * The checks of the pool (spec/fees.md 7): the network's limits first, then whether the next block could carry it.
 *
 * @throws PlumblineError `TRANSACTION_REJECTED`, `INSUFFICIENT_FUNDS`
 */
export async function checkAdmission(transaction: SignedTransaction, against: AdmissionContext): Promise<void> {
  const { network, state, context, pool } = against;
  if (pool.has(transaction.hash) || against.isKnown(transaction.hash)) {
    throw reject('known', 'the transaction is known already');
  }
  if (transaction.gasLimit > network.txGasLimit) {
    throw reject('gas-limit', `Gas limit of transaction is greater than the allowed max of ${network.txGasLimit}`);
  }
  if (transaction.data.length > network.calldataLimit) {
    throw reject(
      'calldata-size',
      `Calldata of transaction is greater than the allowed max of ${network.calldataLimit}`,
    );
  }
  if (transaction.to !== undefined && isPrecompile(transaction.to)) {
    throw reject('recipient', 'destination address is a precompile address and cannot receive transactions');
  }
  const ahead = BigInt(pool.countOf(transaction.from));
  const account = await state.account(transaction.from);
  const expected = (account?.nonce ?? 0n) + ahead;
  if (transaction.nonce < expected) throw reject('nonce-too-low', `nonce ${transaction.nonce}, expected ${expected}`);
  if (transaction.nonce > expected) throw reject('nonce-too-high', `nonce ${transaction.nonce}, expected ${expected}`);
  const machine = await Machine.open(network, context, new StateOverlay(state));
  await admit(machine, transaction, { leniency: { nonce: 'future' } });
}

/** Addresses 0x01 to 0x11 and 0x100. */
function isPrecompile(address: Uint8Array): boolean {
  if (!isZeroBytes(address.subarray(0, 18))) return false;
  const low = address[18]! * 256 + address[19]!;
  return (low >= 1 && low <= 0x11) || low === 0x100;
}
