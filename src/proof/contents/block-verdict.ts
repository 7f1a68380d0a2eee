import { type ProofFailure, Refusal } from '../verdict.js';

/** Why a part of a block does not match the block's header. */
export interface BlockFailure<Reason extends string> extends ProofFailure<Reason> {
  /** 32 bytes. */
  readonly blockHash: Uint8Array;
  /** Index of the transaction, if a single transaction or its receipt is wrong. */
  readonly transactionIndex?: number;
}

/** A refusal of one transaction of a block, or of its receipt. */
export class TransactionRefusal<Reason extends string> extends Refusal<Reason> {
  constructor(
    reason: Reason,
    at: string,
    message: string,
    readonly transactionIndex: number,
  ) {
    super(reason, at, message);
  }
}

/** As `judge`; the failure also names the block, and the transaction if there is one. */
export function judgeBlock<Result, Reason extends string>(
  blockHash: Uint8Array,
  body: () => Result,
): Result | BlockFailure<Reason> {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { reason, at, message } = error as Refusal<Reason>;
    const place = error instanceof TransactionRefusal ? { transactionIndex: error.transactionIndex } : {};
    return { verified: false, reason, at, message, blockHash, ...place };
  }
}
