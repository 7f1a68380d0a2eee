/** A well-formed proof that does not prove what was asked. */
export interface ProofFailure<Reason extends string> {
  readonly verified: false;
  readonly reason: Reason;
  /** Path of the place inside the answer, such as `storageProofs[1].leftProof.proofRelatedNodes[40]`. */
  readonly at: string;
  readonly message: string;
}

/** Carries a failure from the check that found it out to `judge`. It never leaves this folder. */
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

/** Result of `body`, or the failure that one of its checks has thrown. Other errors pass through. */
export function judge<Result, Reason extends string>(body: () => Result): Result | ProofFailure<Reason> {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { verified: false, reason: error.reason as Reason, at: error.at, message: error.message };
  }
}
