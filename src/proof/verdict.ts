/** A well-formed proof that does not prove what was requested. */
export interface ProofFailure<Reason extends string> {
  readonly verified: false;
  readonly reason: Reason;
  /** Path inside the answer, such as `storageProofs[1].leftProof.proofRelatedNodes[40]`. */
  readonly at: string;
  readonly message: string;
}

/** Thrown by a check that fails, and caught by `judge`. It never leaves this folder. */
export class Refusal<Reason extends string> extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly reason: Reason,
    readonly at: string,
    message: string,
  ) {
    super(message);
  }
}

/** The result of `body`, or the failure that one of its checks threw. Other errors are thrown. */
export function judge<Result, Reason extends string>(body: () => Result): Result | ProofFailure<Reason> {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { verified: false, reason: error.reason as Reason, at: error.at, message: error.message };
  }
}
