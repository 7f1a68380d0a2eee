import { RLP } from '@ethereumjs/rlp';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, equalBytes } from '../primitives/bytes.js';

type Item = Uint8Array | Item[];

const BLOB_BYTES = 131_072;
const COMMITMENT_BYTES = 48;
const HASH_VERSION = 1;
/** Index of the hashes in the payload. */
const VERSIONED_HASHES = 10;

/**
 * The form of a blob transaction that blocks contain and that is hashed. A broadcast transaction is a list of that
 * form, its blobs, their commitments and proofs. The commitments are checked against the hashes; the proofs are not
 * checked.
 *
 * @param raw - type byte and payload, with or without sidecar
 * @throws Error for a sidecar that does not match the payload
 * @source EIP-4844, EIP-7594
 */
export function withoutSidecar(raw: Uint8Array): Uint8Array {
  const items = RLP.decode(raw.subarray(1)) as Item;
  const payload = Array.isArray(items) ? items[0] : undefined;
  if (!Array.isArray(items) || !Array.isArray(payload)) return raw;
  // Since EIP-7594 there is a version between payload and blobs.
  const [blobs, commitments] = items.length === 5 ? items.slice(2, 4) : items.slice(1, 3);
  checkSidecar(payload[VERSIONED_HASHES], blobs, commitments);
  return concatBytes(raw.subarray(0, 1), RLP.encode(payload));
}

function checkSidecar(hashes: Item | undefined, blobs: Item | undefined, commitments: Item | undefined): void {
  if (!isList(hashes) || !isList(blobs, BLOB_BYTES) || !isList(commitments, COMMITMENT_BYTES)) {
    throw new Error('blobs, commitments or versioned hashes are malformed');
  }
  const matches =
    blobs.length === hashes.length &&
    commitments.length === hashes.length &&
    commitments.every((commitment, i) => equalBytes(versionedHash(commitment), hashes[i]!));
  if (!matches) throw new Error('the commitments do not match the versioned hashes');
}

/** The versioned hash of a commitment, 32 bytes. */
function versionedHash(commitment: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(HASH_VERSION), sha256(commitment).subarray(1));
}

/** Whether it is a list of byte strings, all of `length` bytes if given. */
function isList(item: Item | undefined, length?: number): item is Uint8Array[] {
  const fits = (entry: Item) => !Array.isArray(entry) && (length === undefined || entry.length === length);
  return Array.isArray(item) && item.every(fits);
}
