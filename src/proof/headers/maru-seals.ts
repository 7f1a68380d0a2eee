import { PlumblineError } from '../../errors.js';
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
  /** The body is not the one of the header. */
  | 'BODY_ROOT_MISMATCH'
  /** The header was made under another set of validators, or changed. */
  | 'STATE_ROOT_MISMATCH'
  /** A seal is a signature of no key. */
  | 'SEAL_INVALID'
  /** A seal is of somebody who is not a validator. */
  | 'SEAL_BY_STRANGER'
  /** Fewer validators sealed than have to. */
  | 'QUORUM_SHORT';

/** A beacon block that enough validators sealed. */
export interface VerifiedMaruBlock {
  readonly verified: true;
  readonly block: SealedMaruBlock;
  /** Hash of the beacon header, 32 bytes. */
  readonly hash: Uint8Array;
  /** Who sealed, each once, 20 bytes. */
  readonly signers: readonly Uint8Array[];
  /** How many had to. */
  readonly quorum: number;
}

/** A beacon block that enough validators sealed, or why it is refused. */
export type MaruVerdict = VerifiedMaruBlock | ProofFailure<MaruFailureReason>;

/** How many of `validators` have to seal a block: two thirds, rounded up. */
export function maruQuorum(validators: number): number {
  return Math.ceil((2 * validators) / 3);
}

/** @throws PlumblineError `INVALID_LENGTH`, `INVALID_PARAMETER` for a set without members or with one twice */
function checkValidators(validators: readonly Uint8Array[]): void {
  for (const validator of validators) requireLength('validator', validator, 20);
  if (validators.length > 0 && new Set(validators.map(bytesToKey)).size === validators.length) return;
  const reason = validators.length === 0 ? 'has no members' : 'names a member twice';
  throw new PlumblineError('INVALID_PARAMETER', `the set of validators ${reason}`, { parameter: 'validators', reason });
}

/** Who made these seals of `hash`, each once; throws a `Refusal` unless all are validators, and a quorum of them. */
function requireSeals(
  validators: readonly Uint8Array[],
  hash: Uint8Array,
  seals: readonly Uint8Array[],
  at: string,
): Uint8Array[] {
  const signers = new Map<string, Uint8Array>();
  const seen = new Set<string>();
  for (const [i, seal] of seals.entries()) {
    // The same bytes again are not recovered again: a long list of them would cost a millisecond each.
    const key = bytesToKey(seal);
    if (seen.has(key)) continue;
    seen.add(key);
    const signer = recoverSigner(hash, seal);
    if (signer === undefined) throw new Refusal('SEAL_INVALID', `${at}[${i}]`, 'is a signature of no key');
    if (!validators.some((validator) => equalBytes(validator, signer))) {
      throw new Refusal('SEAL_BY_STRANGER', `${at}[${i}]`, `is of ${bytesToHex(signer)}, no validator`);
    }
    signers.set(bytesToKey(signer), signer);
  }
  const quorum = maruQuorum(validators.length);
  if (signers.size < quorum) {
    throw new Refusal(
      'QUORUM_SHORT',
      at,
      `${signers.size} of ${validators.length} validators sealed, ${quorum} have to`,
    );
  }
  return [...signers.values()];
}

function requireSealed(block: SealedMaruBlock, validators: readonly Uint8Array[]): VerifiedMaruBlock {
  const { header } = block;
  if (!equalBytes(maruBodyRoot(block), header.bodyRoot)) {
    throw new Refusal('BODY_ROOT_MISMATCH', 'header.bodyRoot', 'is not the hash of the body');
  }
  if (!equalBytes(maruStateRoot(header, validators), header.stateRoot)) {
    throw new Refusal('STATE_ROOT_MISMATCH', 'header.stateRoot', 'is not that of this header under these validators');
  }
  const hash = maruHeaderHash(header);
  const signers = requireSeals(validators, hash, block.commitSeals, 'commitSeals');
  return { verified: true, block, hash, signers, quorum: maruQuorum(validators.length) };
}

/**
 * Verifies a beacon block of Maru: its body, its state under the expected validators, and the seals over its header. Which
 * execution block it binds is the matter of `verifyMaruPayload`.
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
  return judge(() => requireSealed(readMaruBlock(blockAnswer, headerAnswer), validators));
}

/** Who sealed the parent, or why the seals are refused. */
export type ParentSealsVerdict =
  | { readonly verified: true; readonly signers: readonly Uint8Array[] }
  | ProofFailure<MaruFailureReason>;

/**
 * Verifies the seals of the parent that a block's body carries: they prove the parent without its own answers.
 *
 * @param block - one that `verifyMaruBlock` has verified
 * @throws PlumblineError as `verifyMaruBlock`
 * @source docs/spec/json-rpc.md 5.3, step 7
 */
export function verifyMaruParentSeals(block: SealedMaruBlock, validators: readonly Uint8Array[]): ParentSealsVerdict {
  checkValidators(validators);
  return judge(() => {
    const signers = requireSeals(validators, block.header.parentRoot, block.parentSeals, 'parentSeals');
    return { verified: true, signers };
  });
}
