import { requireLength } from '../primitives/bytes.js';

/** The verdict on a proof that has the right form, but does not prove what was requested. */
export interface ProofFailure<Reason extends string> {
  readonly verified: false;
  readonly reason: Reason;
  /** Path inside the answer, such as `storageProofs[1].leftProof.proofRelatedNodes[40]`. */
  readonly at: string;
  readonly message: string;
}

/** Thrown by a check that fails. `judge` makes a failure of it. */
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

/** The requested account and slots, and the state root to verify the answer against. */
export interface ProofRequest {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each, in the order of the request. */
  readonly storageKeys: readonly Uint8Array[];
  /** State root, 32 bytes, from a source that the caller trusts. */
  readonly stateRoot: Uint8Array;
}

/** Checks the lengths of a request. @throws PlumblineError `INVALID_LENGTH` */
export function checkRequest({ address, storageKeys, stateRoot }: ProofRequest): void {
  requireLength('address', address, 20);
  requireLength('stateRoot', stateRoot, 32);
  for (const key of storageKeys) requireLength('storage key', key, 32);
}
