import { invalidParameter } from '../../errors.js';
import { bytesToKey, equalBytes, requireLength } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import { readMaruBlock } from './maru-answer.js';
import { maruBodyRoot, maruHeaderHash, maruStateRoot, type SealedMaruBlock } from './maru-block.js';
import { recoverSigner } from './recover-signer.js';

/** Why a beacon block is refused. */
export type MaruFailureReason =
  /** The block answer and the header answer are of different blocks. */
  | 'ANSWERS_DIFFER'
  /** The body does not match the header. */
  | 'BODY_ROOT_MISMATCH'
  /** The header was made with another set of validators, or was changed. */
  | 'STATE_ROOT_MISMATCH'
  /** A seal is not a valid signature. */
  | 'SEAL_INVALID'
  /** A seal is not by a validator. */
  | 'SEAL_BY_STRANGER'
  /** Too few validators sealed. */
  | 'QUORUM_SHORT';

/** A beacon block that enough validators sealed. */
export interface VerifiedMaruBlock {
  readonly verified: true;
  readonly block: SealedMaruBlock;
  /** Hash of the beacon header, 32 bytes. */
  readonly hash: Uint8Array;
  /** Addresses of the signers, each once, 20 bytes. */
  readonly signers: readonly Uint8Array[];
  /** Number of validators that must seal. */
  readonly quorum: number;
}

/** A beacon block that enough validators sealed, or why it is refused. */
export type MaruVerdict = VerifiedMaruBlock | ProofFailure<MaruFailureReason>;

/** Number of validators that must seal a block: two thirds, rounded up. */
export function maruQuorum(validators: number): number {
  return Math.ceil((2 * validators) / 3);
}

/** @throws PlumblineError `INVALID_LENGTH`; `INVALID_PARAMETER` for an empty set, or a duplicate */
function checkValidators(validators: readonly Uint8Array[]): void {
  for (const validator of validators) requireLength('validator', validator, 20);
  if (validators.length > 0 && new Set(validators.map(bytesToKey)).size === validators.length) return;
  throw invalidParameter(
    'validators',
    validators.length === 0 ? 'must have at least one member' : 'must name each member once',
  );
}

/** The signers of these seals of `hash`, each once. Throws a `Refusal` unless all are validators, and a quorum. */
function requireSeals(
  validators: readonly Uint8Array[],
  hash: Uint8Array,
  seals: readonly Uint8Array[],
  at: string,
): Uint8Array[] {
  const signers = new Map<string, Uint8Array>();
  const seen = new Set<string>();
  for (const [i, seal] of seals.entries()) {
    // Duplicate seals are skipped: recovering a signer takes about a millisecond, and the list may be long.
    const key = bytesToKey(seal);
    if (seen.has(key)) continue;
    seen.add(key);
    const signer = recoverSigner(hash, seal);
    if (signer === undefined) throw new Refusal('SEAL_INVALID', `${at}[${i}]`, 'is not a valid signature');
    if (!validators.some((validator) => equalBytes(validator, signer))) {
      throw new Refusal('SEAL_BY_STRANGER', `${at}[${i}]`, `is by ${bytesToHex(signer)}, which is not a validator`);
    }
    signers.set(bytesToKey(signer), signer);
  }
  const quorum = maruQuorum(validators.length);
  if (signers.size < quorum) {
    throw new Refusal('QUORUM_SHORT', at, `${signers.size} of ${validators.length} validators sealed, ${quorum} must`);
  }
  return [...signers.values()];
}

function requireSealed(block: SealedMaruBlock, validators: readonly Uint8Array[]): VerifiedMaruBlock {
  const { header } = block;
  if (!equalBytes(maruBodyRoot(block), header.bodyRoot)) {
    throw new Refusal('BODY_ROOT_MISMATCH', 'header.bodyRoot', 'is not the hash of the body');
  }
  if (!equalBytes(maruStateRoot(header, validators), header.stateRoot)) {
    throw new Refusal('STATE_ROOT_MISMATCH', 'header.stateRoot', 'does not match this header with these validators');
  }
  const hash = maruHeaderHash(header);
  const signers = requireSeals(validators, hash, block.commitSeals, 'commitSeals');
  return { verified: true, block, hash, signers, quorum: maruQuorum(validators.length) };
}

/**
 * Verifies a Maru beacon block: its body, its state root with the expected validators, and the seals of its header. Use
 * `verifyMaruPayload` for its execution block.
 *
 * @param validators - addresses of 20 bytes, in any order, at least one
 * @throws PlumblineError `INVALID_LENGTH` or `INVALID_PARAMETER` for a bad set of validators
 * @source docs/spec/json-rpc.md 5.3, steps 1 to 5
 */
export function verifyMaruBlock(block: SealedMaruBlock, validators: readonly Uint8Array[]): MaruVerdict {
  checkValidators(validators);
  return judge(() => requireSealed(block, validators));
}

/**
 * As `verifyMaruBlock`, from the two answers of Maru's REST interface.
 *
 * @param blockAnswer - body of `GET /eth/v2/beacon/blocks/{id}`, parsed
 * @param headerAnswer - body of `GET /eth/v1/beacon/headers/{id}`, parsed
 * @throws PlumblineError as `verifyMaruBlock`, and `PROOF_MALFORMED`
 */
export function verifyMaruAnswers(
  blockAnswer: unknown,
  headerAnswer: unknown,
  validators: readonly Uint8Array[],
): MaruVerdict {
  checkValidators(validators);
  return judge(() => verifyMaruBlock(readMaruBlock(blockAnswer, headerAnswer), validators));
}
