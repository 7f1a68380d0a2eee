import { RLP } from '@ethereumjs/rlp';
import { sha256 } from '@noble/hashes/sha2.js';
import { messageOf, type PlumblineError, rejected } from '../errors.js';
import { keccak256 } from '../kernel/keccak.js';
import { concatBytes, equalBytes, padStart } from '../primitives/bytes.js';
import type { AccessListEntry, Authorization } from '../primitives/call-request.js';
import { bytesToHex } from '../primitives/hex.js';
import { BLOB_HASH_VERSION, MAX_NONCE } from './constants.js';
import {
  decodeFields,
  type Item,
  itemsToSign,
  type TransactionFields,
  type TransactionType,
} from './encode-transaction.js';
import { signerOf } from './signer.js';

/** A signed transaction with its sender, as it was broadcast. */
export interface SignedTransaction {
  readonly type: TransactionType;
  readonly hash: Uint8Array;
  /** The bytes in blocks: the broadcast bytes without the blob sidecar. */
  readonly raw: Uint8Array;
  /** Recovered from the signature, 20 bytes. */
  readonly from: Uint8Array;
  /** Undefined for a contract creation. */
  readonly to: Uint8Array | undefined;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  /** Types 0 and 1. */
  readonly gasPrice: bigint | undefined;
  /** Types 2, 3 and 4, like the next. */
  readonly maxFeePerGas: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  /** Undefined for a legacy transaction without replay protection. */
  readonly chainId: bigint | undefined;
  readonly accessList: readonly AccessListEntry[] | undefined;
  readonly authorizationList: readonly Authorization[] | undefined;
  /** Type 3: wei per blob gas, and the versioned hashes of the blobs, 32 bytes each. */
  readonly maxFeePerBlobGas?: bigint | undefined;
  readonly blobVersionedHashes?: readonly Uint8Array[] | undefined;
  readonly v: bigint;
  readonly r: bigint;
  readonly s: bigint;
  /** Unsigned: a devnet ran it for `from`, which `r` contains. */
  readonly impersonated?: true;
}

/** Variants to accept beyond those of a normal pool, and known facts about the sender. */
interface TransactionParsing {
  /** Accept type 3, with or without sidecar; the sidecar's proofs are not checked. Default false. */
  readonly blobs?: boolean | undefined;
  /** Accept signatures without chain id as in Frontier, with a high `s`. */
  readonly frontier?: boolean | undefined;
  /** 20 bytes: the sender of an unsigned transaction. The signature is not checked. */
  readonly impersonated?: Uint8Array | undefined;
  /** Accept any chain id. The caller compares `chainId`. */
  readonly anyChain?: boolean | undefined;
  /** 20 bytes: the sender, if it was recovered before. */
  readonly sender?: Uint8Array | undefined;
}

const LEGACY = 0;
const BLOBS = 3;
const DELEGATION = 4;
/** Least first byte of the RLP of a list. */
const LIST = 0xc0;
/** v, r and s, at the end. */
const SIGNATURE_ITEMS = 3;
const WORD_BYTES = 32;
/** Half of the order of secp256k1. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

function malformed(reason: string, cause?: unknown): PlumblineError<'TRANSACTION_REJECTED'> {
  return rejected('malformed', `the transaction is malformed: ${reason}`, cause);
}

/**
 * Decodes a raw signed transaction and recovers its sender. Limits that differ between forks are not checked: size of init
 * code, number of blobs, gas limit.
 *
 * @param broadcast - RLP of a legacy transaction, or type and payload (EIP-2718)
 * @param chainId - required chain id; a legacy transaction may have none
 * @throws PlumblineError `TRANSACTION_REJECTED` with rule `malformed`, `type`, `chain-id` or `signature`;
 *   `KERNEL_UNAVAILABLE` if the sender has to be recovered before `loadSignerRecovery()` has ended
 */
export function parseSignedTransaction(
  broadcast: Uint8Array,
  chainId: number,
  parsing: TransactionParsing = {},
): SignedTransaction {
  if (broadcast[0] === BLOBS && parsing.blobs !== true)
    throw rejected('type', 'BLOB_TX_NOT_ALLOWED: blob transactions are not accepted');
  const type = typeOf(broadcast);
  const { raw, items, fields } = decode(broadcast, type);
  const { nonce, gasLimit, to, value, data, v, r, s, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = fields;
  if (r === 0n || s === 0n || (type === LEGACY && v === 0n))
    throw rejected('signature', 'the transaction is not signed');
  checkFields(type, fields);
  const { ownChainId, yParity } = parityOf(type, fields);
  if (parsing.anyChain !== true && ownChainId !== undefined && ownChainId !== BigInt(chainId))
    throw rejected('chain-id', `the transaction is for chain ${ownChainId}, this is chain ${chainId}`);
  const isFrontier = parsing.frontier === true && type === LEGACY && ownChainId === undefined;
  if (s > HALF_ORDER && !isFrontier)
    throw rejected('signature', 's of the signature is above half of the order of secp256k1 (EIP-2)');
  const from = parsing.impersonated ?? parsing.sender ?? senderOf(type, items, ownChainId, yParity);
  return {
    type,
    hash: keccak256(raw),
    raw,
    from,
    to,
    nonce,
    gasLimit,
    gasPrice,
    maxFeePerGas,
    maxPriorityFeePerGas,
    value,
    data,
    chainId: ownChainId,
    accessList: fields.accessList,
    authorizationList: fields.authorizationList,
    ...(type === BLOBS && {
      maxFeePerBlobGas: fields.maxFeePerBlobGas,
      blobVersionedHashes: fields.blobVersionedHashes,
    }),
    v,
    r,
    s,
    ...(parsing.impersonated !== undefined && { impersonated: true }),
  };
}

function typeOf(raw: Uint8Array): TransactionType {
  const first = raw[0];
  if (first === undefined) throw malformed('it has no bytes');
  if (first >= LIST) return LEGACY;
  if (first > LEGACY && first <= DELEGATION) return first as TransactionType;
  const byte = bytesToHex(raw.subarray(0, 1));
  throw malformed(`its first byte ${byte} is neither a type from 0x01 to 0x04 nor the beginning of a list`);
}

function decode(broadcast: Uint8Array, type: TransactionType) {
  try {
    const raw = type === BLOBS ? withoutSidecar(broadcast) : broadcast;
    const items = RLP.decode(type === LEGACY ? raw : raw.subarray(1)) as Item[];
    return { raw, items, fields: decodeFields(type, items) };
  } catch (cause) {
    throw malformed(messageOf(cause), cause);
  }
}

/** @source EIP-2681, EIP-1559, EIP-4844, EIP-7702 */
function checkFields(type: number, fields: TransactionFields): void {
  const { nonce, gasLimit, to, maxPriorityFeePerGas = 0n, blobVersionedHashes, authorizationList } = fields;
  const price = fields.gasPrice ?? fields.maxFeePerGas ?? 0n;
  if (nonce >= MAX_NONCE) throw malformed('nonce is 2^64 - 1, which no transaction may have (EIP-2681)');
  if ((price * gasLimit) >> 256n !== 0n) throw malformed('gasLimit times the price per gas is 2^256 or more');
  if (price < maxPriorityFeePerGas)
    throw malformed(`maxFeePerGas ${price} is below maxPriorityFeePerGas ${maxPriorityFeePerGas}`);
  if (type >= BLOBS && to === undefined) throw malformed(`to is empty, but type ${type} cannot create contracts`);
  if (authorizationList?.length === 0) throw malformed('authorizationList is empty');
  if (blobVersionedHashes?.length === 0) throw malformed('blobVersionedHashes is empty');
  if (blobVersionedHashes?.some((hash) => hash[0] !== BLOB_HASH_VERSION))
    throw malformed(`blobVersionedHashes: each must begin with version ${BLOB_HASH_VERSION}`);
}

/** Parity of y, and the chain id, which a legacy transaction has in `v` or not at all (EIP-155). */
function parityOf(type: number, { v, chainId }: TransactionFields): { ownChainId: bigint | undefined; yParity: 0 | 1 } {
  if (type !== LEGACY) {
    if (v > 1n) throw malformed(`the parity of y is ${v}, it must be 0 or 1`);
    return { ownChainId: chainId, yParity: v === 1n ? 1 : 0 };
  }
  if (v === 27n || v === 28n) return { ownChainId: undefined, yParity: v === 28n ? 1 : 0 };
  if (v < 37n) throw malformed(`v is ${v}, it must be 27, 28, or 37 or more (EIP-155)`);
  return { ownChainId: (v - 35n) / 2n, yParity: v % 2n === 0n ? 1 : 0 };
}

function senderOf(type: TransactionType, items: Item[], chainId: bigint | undefined, yParity: 0 | 1): Uint8Array {
  const hash = keccak256(itemsToSign(type, items.slice(0, -SIGNATURE_ITEMS), chainId));
  const [r, s] = items.slice(1 - SIGNATURE_ITEMS).map((item) => padStart(item as Uint8Array, WORD_BYTES));
  const from = signerOf(hash, r!, s!, yParity);
  if (from === undefined) throw rejected('signature', 'the sender cannot be recovered: no key has made this signature');
  return from;
}

const BLOB_BYTES = 131_072;
const COMMITMENT_BYTES = 48;
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
function withoutSidecar(raw: Uint8Array): Uint8Array {
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
  return concatBytes(Uint8Array.of(BLOB_HASH_VERSION), sha256(commitment).subarray(1));
}

/** Whether it is a list of byte strings, all of `length` bytes if given. */
function isList(item: Item | undefined, length?: number): item is Uint8Array[] {
  const fits = (entry: Item) => !Array.isArray(entry) && (length === undefined || entry.length === length);
  return Array.isArray(item) && item.every(fits);
}
