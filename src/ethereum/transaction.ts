import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createTxFromRLP, TransactionType, type TypedTransaction } from '@ethereumjs/tx';
import type { KZG } from '@ethereumjs/util';
import { messageOf, PlumblineError, type TransactionRule } from '../errors.js';
import { bytesToBigInt } from '../primitives/bytes.js';
import type { AccessListEntry, Authorization } from '../primitives/call-request.js';
import { hexToBytes } from '../primitives/hex.js';
import { withoutSidecar } from './blob-sidecar.js';

/** A signed transaction with its sender, as it was broadcast. */
export interface SignedTransaction {
  readonly type: 0 | 1 | 2 | 3 | 4;
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
export interface TransactionParsing {
  /** Accept type 3, with or without sidecar; the sidecar's proofs are not checked. Default false. */
  readonly blobs?: boolean | undefined;
  /** Accept signatures without chain id as in Frontier, with a high `s`. */
  readonly frontier?: boolean | undefined;
  /** 20 bytes: the sender of an unsigned transaction. The signature is not checked. */
  readonly impersonated?: Uint8Array | undefined;
  /** 20 bytes: the sender, if it was recovered before. */
  readonly sender?: Uint8Array | undefined;
}

function reject(rule: TransactionRule, reason: string, cause?: unknown): PlumblineError<'TRANSACTION_REJECTED'> {
  return new PlumblineError('TRANSACTION_REJECTED', reason, { rule, reason }, { cause });
}

/**
 * Decodes a raw signed transaction and recovers its sender.
 *
 * @param broadcast - RLP of a legacy transaction, or type and payload (EIP-2718)
 * @param chainId - required chain id; a legacy transaction may have none
 * @throws PlumblineError `TRANSACTION_REJECTED` with rule `malformed`, `type`, `chain-id` or `signature`
 */
export function parseSignedTransaction(
  broadcast: Uint8Array,
  chainId: number,
  parsing: TransactionParsing = {},
): SignedTransaction {
  if (broadcast[0] === TransactionType.BlobEIP4844 && parsing.blobs !== true)
    throw reject('type', 'BLOB_TX_NOT_ALLOWED: blob transactions are not accepted');
  const raw = payloadOf(broadcast);
  let tx = decode(raw, chainId, Hardfork.Prague);
  const type = tx.type as SignedTransaction['type'];
  const txChainId = chainIdOf(tx);
  if (parsing.frontier === true && type === 0 && txChainId === undefined)
    tx = decode(raw, chainId, Hardfork.Chainstart);
  if (!tx.isSigned()) throw reject('signature', 'the transaction is not signed');
  const from = parsing.impersonated ?? parsing.sender ?? senderOf(tx);
  if (txChainId !== undefined && txChainId !== BigInt(chainId)) {
    throw reject('chain-id', `the transaction is for chain ${txChainId}, this is chain ${chainId}`);
  }
  return {
    type,
    hash: tx.hash(),
    raw,
    from,
    to: tx.to?.bytes,
    nonce: tx.nonce,
    gasLimit: tx.gasLimit,
    gasPrice: 'gasPrice' in tx ? tx.gasPrice : undefined,
    maxFeePerGas: 'maxFeePerGas' in tx ? tx.maxFeePerGas : undefined,
    maxPriorityFeePerGas: 'maxPriorityFeePerGas' in tx ? tx.maxPriorityFeePerGas : undefined,
    value: tx.value,
    data: tx.data,
    chainId: txChainId,
    accessList:
      'accessList' in tx ? tx.accessList.map(([address, storageKeys]) => ({ address, storageKeys })) : undefined,
    authorizationList: 'authorizationList' in tx ? tx.authorizationList.map(toAuthorization) : undefined,
    ...('blobVersionedHashes' in tx && {
      maxFeePerBlobGas: tx.maxFeePerBlobGas,
      blobVersionedHashes: tx.blobVersionedHashes.map((hash) => hexToBytes(hash)),
    }),
    v: tx.v!,
    r: tx.r!,
    s: tx.s!,
    ...(parsing.impersonated !== undefined && { impersonated: true }),
  };
}

function senderOf(tx: TypedTransaction): Uint8Array {
  try {
    return tx.getSenderAddress().bytes;
  } catch (cause) {
    throw reject('signature', `the sender cannot be recovered: ${messageOf(cause)}`, cause);
  }
}

function payloadOf(broadcast: Uint8Array): Uint8Array {
  if (broadcast[0] !== TransactionType.BlobEIP4844) return broadcast;
  try {
    return withoutSidecar(broadcast);
  } catch (cause) {
    throw reject('malformed', `the transaction cannot be decoded: ${messageOf(cause)}`, cause);
  }
}

const noTrustedSetup = (): never => {
  throw new PlumblineError('INTERNAL', 'blobs cannot be verified without a trusted setup', {
    reason: 'no trusted set-up',
  });
};

/** Decoding a blob transaction needs this object, but calls none of its functions. */
const NO_KZG: KZG = {
  blobToKzgCommitment: noTrustedSetup,
  computeBlobProof: noTrustedSetup,
  verifyProof: noTrustedSetup,
  verifyBlobProofBatch: noTrustedSetup,
  computeCells: noTrustedSetup,
  computeCellsAndProofs: noTrustedSetup,
  recoverCellsAndProofs: noTrustedSetup,
  verifyCellKzgProofBatch: noTrustedSetup,
};

function decode(raw: Uint8Array, chainId: number, hardfork: Hardfork): TypedTransaction {
  const common = new Common({ chain: { ...Mainnet, chainId }, hardfork, customCrypto: { kzg: NO_KZG } });
  try {
    return createTxFromRLP(raw, { common });
  } catch (cause) {
    const reason = messageOf(cause);
    if (/chain ?id/i.test(reason)) throw reject('chain-id', `the transaction is for another chain: ${reason}`, cause);
    throw reject('malformed', `the transaction cannot be decoded: ${reason}`, cause);
  }
}

/** Chain id of a transaction; legacy transactions have it in `v` (EIP-155). */
function chainIdOf(tx: TypedTransaction): bigint | undefined {
  if ('chainId' in tx) return tx.chainId as bigint;
  const v = tx.v ?? 0n;
  return v >= 35n ? (v - 35n) / 2n : undefined;
}

function toAuthorization(item: readonly Uint8Array[]): Authorization {
  const [chainId, address, nonce, yParity, r, s] = item as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const int = (bytes: Uint8Array) => bytesToBigInt(bytes);
  return { chainId: int(chainId), address, nonce: int(nonce), yParity: int(yParity), r: int(r), s: int(s) };
}
