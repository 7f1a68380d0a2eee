import type { EvmChange, TraceRecord } from '../../kernel/evm.js';
import type { Hex } from '../../primitives/hex.js';
import type { Machine, Tracing } from '../machine.js';
import type { TransactionMessage, TransactionOutcome } from '../transaction-message.js';

/** Where a transaction is that is traced. */
export interface TracedInclusion {
  readonly blockHash: Hex | null;
  readonly blockNumber: number;
  readonly transactionHash: Hex | null;
  readonly index: number;
}

/** A transaction that was traced. */
export interface TracedTransaction {
  readonly message: TransactionMessage;
  readonly outcome: TransactionOutcome;
  /** Number of logs of the block before it. */
  readonly firstLogIndex: number;
  /** Left out for a call. */
  readonly included?: TracedInclusion | undefined;
}

/**
 * Counts what a tracer will show, before that is made.
 *
 * @param characters - of JSON, about
 * @throws PlumblineError `ANSWER_TOO_LARGE`
 */
export type Grow = (characters: number) => void;

/** Follows one transaction and gives its own view of it, as JSON. */
export interface Tracer extends Pick<Tracing, 'flags'> {
  /** As `Tracing.take`. */
  take(record: TraceRecord, grow: Grow): void;
  /** Called once, before the state has what the transaction wrote. */
  readonly changed?: (
    machine: Machine,
    message: TransactionMessage,
    changes: readonly EvmChange[],
    grow: Grow,
  ) => Promise<void>;
  /** Called once, last. */
  result(traced: TracedTransaction, grow: Grow): unknown;
}

/** A log of a frame. */
export interface FrameLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** Among the logs of the block. */
  readonly index: Hex;
  /** Number of calls of the frame before it. */
  readonly position: Hex;
}

/** A call, creation or SELFDESTRUCT, and what it called. */
export interface CallFrame {
  readonly type: string;
  readonly from: Hex;
  to?: Hex;
  gas: Hex;
  gasUsed: Hex;
  readonly input: Hex;
  output?: Hex;
  error?: string;
  revertReason?: string;
  calls?: CallFrame[];
  logs?: FrameLog[];
  readonly value?: Hex;
}
