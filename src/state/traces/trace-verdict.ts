/** Faults of well-formed traces. */
export type TraceFault =
  /** The first trace of the account trie does not start at the parent state root. */
  | 'PARENT_ROOT_MISMATCH'
  /** `nextFreeNode` does not continue from the traces before. */
  | 'NEXT_FREE_NODE_MISMATCH'
  /** The position of an insertion is not the next free one. */
  | 'LEAF_INDEX_MISMATCH'
  /** A sub root does not continue from the traces before. */
  | 'SUB_ROOT_MISMATCH'
  /** A leaf and its siblings do not lead to the sub root of that step. */
  | 'BRANCH_MISMATCH'
  /** The writes do not lead to the new sub root. */
  | 'NEW_SUB_ROOT_MISMATCH'
  /** The leaf belongs to another key than the trace. */
  | 'KEY_MISMATCH'
  /** A value does not match the hash in the leaf. */
  | 'VALUE_MISMATCH'
  | 'LEAF_LINK_BROKEN'
  /** The key is not strictly between its neighbours. */
  | 'LEAF_ORDER_BROKEN'
  /** The storage traces of an account do not start or end at the storage roots in its values. */
  | 'STORAGE_ROOT_MISMATCH'
  /** A word is not below the modulus of the hash. */
  | 'NOT_CANONICAL'
  /** Traces are not in the order of block application. */
  | 'PATTERN_BROKEN';

/** Result for invalid traces. */
export interface TraceFailure {
  readonly verified: false;
  readonly reason: TraceFault;
  /** Path of the fault, such as `blocks[3][5].leftProof`. */
  readonly at: string;
  readonly message: string;
}

/** Carries a failure from the check to `checkTraces`. */
export class TraceRefusal extends Error {
  override readonly name = 'TraceRefusal';

  constructor(
    readonly reason: TraceFault,
    readonly at: string,
    message: string,
  ) {
    super(message);
  }
}

/** @throws TraceRefusal when `holds` is false */
export function ensure(holds: boolean, reason: TraceFault, at: string, message: string): asserts holds {
  if (!holds) throw new TraceRefusal(reason, at, message);
}
