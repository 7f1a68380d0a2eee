import { type ProofFailure, Refusal } from '../verdict.js';

/** Part of a block's answer that is not what the block's header commits to. */
export interface BlockFailure<Reason extends string> extends ProofFailure<Reason> {
  /** 32 bytes. */
  readonly blockHash: Uint8Array;
  /** Where one transaction alone, or its receipt, was found wrong. */
  readonly transactionIndex?: number;
}

/** A refusal for one transaction of a block, or its receipt. */
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

/** As `judge`, and the failure names the block, and the transaction where there is one. */
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
