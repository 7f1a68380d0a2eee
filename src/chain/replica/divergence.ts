import { type ErrorCode, isPlumblineError, messageOf, PlumblineError, type ReplicaCheck } from '../../errors.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';

/** Refusals of `WorldState.applyBlock` that lie in the changes, not in this machine. */
const MISFITS: readonly ErrorCode[] = [
  'STATE_MISMATCH',
  'INVALID_PARAMETER',
  'OUT_OF_RANGE',
  'INVALID_LENGTH',
  'HASH_INPUT_NOT_CANONICAL',
];

/**
 * Compares what is known of a block with what its trie log made it.
 *
 * @param kept - newest block before it that layer 1 confirms
 * @throws PlumblineError `REPLICA_DIVERGED`
 */
export function mustAgree(
  what: ReplicaCheck,
  block: number,
  expected: Uint8Array | undefined,
  actual: Uint8Array,
  kept: number | undefined,
): void {
  if (expected === undefined || equalBytes(expected, actual)) return;
  throw diverged(what, block, bytesToHex(expected), bytesToHex(actual), kept);
}

/** What a refusal of a block's changes is to a replica; other errors are as they were. */
export function asDivergence(error: unknown, block: number, kept: number | undefined): unknown {
  if (!isPlumblineError(error) || !MISFITS.includes(error.code)) return error;
  const { expected, actual } = isPlumblineError(error, 'STATE_MISMATCH')
    ? error.details
    : { expected: 'changes that fit', actual: messageOf(error) };
  return diverged('changes', block, expected, actual, kept, error);
}

function diverged(
  what: ReplicaCheck,
  block: number,
  expected: string,
  actual: string,
  kept: number | undefined,
  cause?: unknown,
): PlumblineError<'REPLICA_DIVERGED'> {
  const message = `the replica differs at block ${block} (${what}): ${expected} expected, ${actual} found`;
  const details = { block, what, expected, actual, ...(kept !== undefined && { kept }) };
  return new PlumblineError('REPLICA_DIVERGED', message, details, { cause });
}
