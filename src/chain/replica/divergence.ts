import { type ErrorCode, isPlumblineError, messageOf, PlumblineError, type ReplicaCheck } from '../../errors.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';

/** Errors of `WorldState.applyBlock` that are caused by the changes, not by this machine. */
const CHANGE_ERRORS: readonly ErrorCode[] = [
  'STATE_MISMATCH',
  'INVALID_PARAMETER',
  'OUT_OF_RANGE',
  'INVALID_LENGTH',
  'HASH_INPUT_NOT_CANONICAL',
];

/**
 * Compares a known hash or root of a block with the one that its trie log leads to.
 *
 * @param expected - undefined if it is not known; then nothing is compared
 * @param kept - newest block before it that layer 1 confirmed
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

/** Converts an error about a block's changes to `REPLICA_DIVERGED`. Other errors are returned unchanged. */
export function asDivergence(error: unknown, block: number, kept: number | undefined): unknown {
  if (!isPlumblineError(error) || !CHANGE_ERRORS.includes(error.code)) return error;
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
  const found = `the replica differs at block ${block} (${what}): ${expected} expected, ${actual} found`;
  const message = `${found}; check the node that gives trie logs, then open the replica again`;
  const details = { block, what, expected, actual, ...(kept !== undefined && { kept }) };
  return new PlumblineError('REPLICA_DIVERGED', message, details, { cause });
}
