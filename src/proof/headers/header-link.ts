import type { Network } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import type { HashedHeader } from './header-answer.js';

/** Why a header is not the child of another. */
export type LinkFailureReason =
  /** The number is not that of the parent plus one. */
  | 'NUMBER_MISMATCH'
  /** Its parent hash is that of another block. */
  | 'PARENT_MISMATCH'
  /** The time is not later than the parent's, or earlier where the network allows equal times. */
  | 'TIMESTAMP_ORDER';

/** A verified link between parent and child. */
export interface VerifiedLink {
  readonly verified: true;
}

/** Whether a header is the child of another, or why not. */
export type LinkVerdict = VerifiedLink | ProofFailure<LinkFailureReason>;

/**
 * Verifies that a block is the child of another. Both hashes must have been verified, as by `verifyHeader`.
 *
 * @param equalTimestamps - as in the network's profile
 * @source yellow paper 4.3.4; checked with every recorded link of both networks
 */
export function verifyHeaderLink(
  parent: HashedHeader,
  child: HashedHeader,
  equalTimestamps: Network['equalTimestamps'] = 'refused',
): LinkVerdict {
  const [before, after] = [parent.header, child.header];
  return judge(() => {
    if (after.number !== before.number + 1) {
      throw new Refusal('NUMBER_MISMATCH', 'number', `is ${after.number}, that of the parent ${before.number}`);
    }
    if (!equalBytes(after.parentHash, parent.hash)) {
      throw new Refusal('PARENT_MISMATCH', 'parentHash', 'is not the hash of the parent');
    }
    if (after.timestamp < before.timestamp || (after.timestamp === before.timestamp && equalTimestamps !== 'allowed')) {
      const message = `is ${after.timestamp}, that of the parent ${before.timestamp}`;
      throw new Refusal('TIMESTAMP_ORDER', 'timestamp', message);
    }
    return { verified: true };
  });
}
