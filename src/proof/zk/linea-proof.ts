import { ACCOUNT_VALUE_BYTES, type AccountValue, decodeAccountValue } from '../../accumulator/account-value.js';
import { hashAccountValue, hashAddress, hashWord } from '../../accumulator/keys.js';
import { schemeFormat, ZERO_HASH } from '../../accumulator/scheme.js';
import type { Hasher } from '../../kernel/contracts.js';
import { bytesToBigInt, copyBytes, equalBytes } from '../../primitives/bytes.js';
import { malformed } from '../json-reader.js';
import { checkRequest, type ProofRequest } from '../request.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import { TreeVerifier } from './branch.js';
import { type ClimbedPaths, climbAhead, type PlacedBranch } from './branch-path.js';
import { checkItem, type LeafPlace, type LineaProofFailureReason, type TreeQuestion } from './item.js';
import { type ItemAnswer, type LineaAnswer, readLineaAnswer } from './linea-answer.js';

/** One requested slot. */
export interface VerifiedSlot {
  /** 32 bytes, as in the request. */
  readonly key: Uint8Array;
  /** 32 bytes; zero if the slot is not in the tree. */
  readonly value: Uint8Array;
  readonly exists: boolean;
  /** Undefined if the account is missing or its storage is empty. */
  readonly place: LeafPlace | undefined;
}

/** What a `linea_getProof` answer proves. */
export interface VerifiedLineaProof {
  readonly verified: true;
  /** Undefined: no such account in this state. */
  readonly account: AccountValue | undefined;
  readonly place: LeafPlace;
  /** Of the account tree. */
  readonly nextFreeNode: number;
  /** One per requested key, in the order of the request. */
  readonly slots: readonly VerifiedSlot[];
}

/** What a `linea_getProof` answer proves, or why it is refused. */
export type LineaProofVerdict = VerifiedLineaProof | ProofFailure<LineaProofFailureReason>;

/**
 * Verifies an answer of `linea_getProof` against a trusted state root, with all required and optional checks of the
 * specification.
 *
 * @param hasher - of the hash scheme that the network uses at this block; do not let the server choose it
 * @param answer - the `result` of the JSON-RPC response, as parsed
 * @returns what is proved, or why the answer is refused
 * @throws PlumblineError `PROOF_MALFORMED` if the answer does not have the form of a proof, `INVALID_LENGTH` for a bad request
 * @source docs/spec/state-trie.md 7.3, 8
 */
export function verifyLineaProof(hasher: Hasher, request: ProofRequest, answer: unknown): LineaProofVerdict {
  checkRequest(request);
  const { accountProof, storageProofs } = readLineaAnswer(hasher, answer);
  return judge(() => {
    const begins = [accountProof, ...storageProofs.slice(0, 1)].flatMap((begin) =>
      begin === null ? [] : firstBranch(begin),
    );
    const ahead = climbAhead(hasher, begins);
    const tree = new TreeVerifier(hasher, request.stateRoot, ahead);
    const item = checkItem(hasher, tree, accountQuestion(hasher, request.address), accountProof);
    const account = item.value && decodeAccountValue(item.value);
    const slots = checkSlots(hasher, request.storageKeys, account, storageProofs, ahead);
    return { verified: true, account, place: item.place, nextFreeNode: item.nextFreeNode, slots };
  });
}

function checkSlots(
  hasher: Hasher,
  keys: readonly Uint8Array[],
  account: AccountValue | undefined,
  proofs: LineaAnswer['storageProofs'],
  ahead: ClimbedPaths,
): VerifiedSlot[] {
  const hasNoStorage = account === undefined || equalBytes(account.storageRoot, schemeFormat(hasher.scheme).emptyRoot);
  if (hasNoStorage && proofs.length === 0) {
    return keys.map((key) => ({ key: copyBytes(key), value: ZERO_HASH.slice(), exists: false, place: undefined }));
  }
  const expected = account === undefined ? 0 : keys.length;
  if (proofs.length !== expected) {
    const message = `${proofs.length} storage proofs, expected ${expected}`;
    throw new Refusal('SLOT_COUNT_MISMATCH', 'storageProofs', message);
  }
  const tree = new TreeVerifier(hasher, account!.storageRoot, ahead);
  return keys.map((key, i) => {
    const proof = proofs[i]!;
    if (proof === null) {
      if (hasNoStorage) return { key: copyBytes(key), value: ZERO_HASH.slice(), exists: false, place: undefined };
      throw malformed(`storageProofs[${i}]`, 'is null, but the account has storage');
    }
    const { place, value } = checkItem(hasher, tree, slotQuestion(hasher, key), proof);
    return { key: copyBytes(key), value: value ?? ZERO_HASH.slice(), exists: place.exists, place };
  });
}

/** The branch that is checked first. */
function firstBranch(item: ItemAnswer): PlacedBranch {
  return item.present
    ? { index: item.leafIndex, branch: item.proof }
    : { index: item.leftLeafIndex, branch: item.leftProof };
}

function accountQuestion(hasher: Hasher, address: Uint8Array): TreeQuestion {
  return {
    key: bytesToBigInt(address),
    hkey: hashAddress(hasher, address),
    hashValue: (value) => hashAccountValue(hasher, value),
    valueBytes: ACCOUNT_VALUE_BYTES,
    zeroIsAbsent: false,
  };
}

function slotQuestion(hasher: Hasher, key: Uint8Array): TreeQuestion {
  return {
    key: bytesToBigInt(key),
    hkey: hashWord(hasher, key),
    hashValue: (value) => hashWord(hasher, value),
    valueBytes: 32,
    zeroIsAbsent: true,
  };
}
