import type { EvmChange } from '../../kernel/evm/evm-types.js';
import type { Machine, Tracing } from '../interpreter/machine.js';
import type { TransactionMessage, TransactionOutcome } from '../transactions/transaction-message.js';

/** A transaction that was traced. */
export interface TracedTransaction {
  readonly message: TransactionMessage;
  readonly outcome: TransactionOutcome;
  /** Number of logs of the block before it. */
  readonly firstLogIndex: number;
}

/** Follows one transaction and gives its own view of it, as JSON. */
export interface Tracer extends Omit<Tracing, 'read'> {
  /** Called once, before the state has what the transaction wrote. */
  readonly changed?: (machine: Machine, message: TransactionMessage, changes: readonly EvmChange[]) => Promise<void>;
  /** Called once, last. */
  result(traced: TracedTransaction): unknown;
}
