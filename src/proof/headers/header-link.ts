import { equalBytes } from '../../primitives/bytes.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import type { HashedHeader } from './header-answer.js';

/** Why a header is not the one right after another. */
export type LinkFailureReason =
  /** The number is not that of the parent plus one. */
  | 'NUMBER_MISMATCH'
  /** It stands on another block. */
  | 'PARENT_MISMATCH'
  /** The time is not later than the parent's. */
  | 'TIMESTAMP_ORDER';

/** A header is the one right after another. */
export interface VerifiedLink {
  readonly verified: true;
}

/** Whether a header is the one right after another. */
export type LinkVerdict = VerifiedLink | ProofFailure<LinkFailureReason>;

/**
 * Verifies that a header is of the block right after another. Both hashes have to be those of their headers, as
 * `verifyHeader` gives them.
 *
 * @source yellow paper 4.3.4; every recorded link of both networks keeps to it
 */
export function verifyHeaderLink(parent: HashedHeader, child: HashedHeader): LinkVerdict {
  const [before, after] = [parent.header, child.header];
  return judge(() => {
    if (after.number !== before.number + 1) {
      throw new Refusal('NUMBER_MISMATCH', 'number', `is ${after.number}, that of the parent ${before.number}`);
    }
    if (!equalBytes(after.parentHash, parent.hash)) {
      throw new Refusal('PARENT_MISMATCH', 'parentHash', 'is not the hash of the parent');
    }
    if (after.timestamp <= before.timestamp) {
      throw new Refusal(
        'TIMESTAMP_ORDER',
        'timestamp',
        `is ${after.timestamp}, that of the parent ${before.timestamp}`,
      );
    }
    return { verified: true };
  });
}
