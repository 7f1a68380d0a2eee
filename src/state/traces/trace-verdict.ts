/** What can be wrong with well-formed traces. */
export type TraceFault =
  /** The first trace of the account tree does not start at the parent state root. */
  | 'PARENT_ROOT_MISMATCH'
  /** nextFreeNode is not the one the traces before lead to. */
  | 'NEXT_FREE_NODE_MISMATCH'
  /** An insertion at another position than the free one. */
  | 'LEAF_INDEX_MISMATCH'
  /** A sub root is not the one the traces before lead to. */
  | 'SUB_ROOT_MISMATCH'
  /** A leaf with its siblings does not lead to the sub root of that step. */
  | 'BRANCH_MISMATCH'
  /** The writes do not lead to the new sub root. */
  | 'NEW_SUB_ROOT_MISMATCH'
  /** The leaf is not of the trace's key. */
  | 'KEY_MISMATCH'
  /** A value is not the one whose hash the leaf holds. */
  | 'VALUE_MISMATCH'
  | 'LEAF_LINK_BROKEN'
  /** The key is not strictly between its neighbours. */
  | 'LEAF_ORDER_BROKEN'
  /** The storage traces of an account do not start or end at the storage roots of its values. */
  | 'STORAGE_ROOT_MISMATCH'
  /** A word is not below the modulus of the hash. */
  | 'NOT_CANONICAL'
  /** Traces are not in the order of block application. */
  | 'PATTERN_BROKEN';

/** Traces that do not hold. */
export interface TraceFailure {
  readonly verified: false;
  readonly reason: TraceFault;
  /** Path of the place, such as `blocks[3][5].leftProof`. */
  readonly at: string;
  readonly message: string;
}

/** Carries a failure from the check that found it out to `checkTraces`. */
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
