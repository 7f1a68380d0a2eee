import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createTxFromRLP, TransactionType, type TypedTransaction } from '@ethereumjs/tx';
import { messageOf, PlumblineError, type TransactionRule } from '../errors.js';
import { bytesToBigInt } from '../primitives/bytes.js';
import type { AccessListEntry, Authorization } from '../primitives/call-request.js';

/** A signed transaction with its sender, as it was broadcast. */
export interface SignedTransaction {
  readonly type: 0 | 1 | 2 | 4;
  readonly hash: Uint8Array;
  /** The bytes that were broadcast. */
  readonly raw: Uint8Array;
  /** Recovered from the signature, 20 bytes. */
  readonly from: Uint8Array;
  /** Undefined for a contract creation. */
  readonly to: Uint8Array | undefined;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  /** Types 0 and 1. */
  readonly gasPrice: bigint | undefined;
  /** Types 2 and 4, as the next. */
  readonly maxFeePerGas: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  /** Undefined for a legacy transaction without replay protection. */
  readonly chainId: bigint | undefined;
  readonly accessList: readonly AccessListEntry[] | undefined;
  readonly authorizationList: readonly Authorization[] | undefined;
  readonly v: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

function reject(rule: TransactionRule, reason: string, cause?: unknown): PlumblineError<'TRANSACTION_REJECTED'> {
  return new PlumblineError('TRANSACTION_REJECTED', reason, { rule, reason }, { cause });
}

/**
 * Parses a raw signed transaction and recovers its sender.
 *
 * @param chainId - chain the transaction has to be for; a legacy transaction may name none
 * @throws PlumblineError `TRANSACTION_REJECTED` with rule `malformed`, `type`, `chain-id` or `signature`
 */
export function parseSignedTransaction(raw: Uint8Array, chainId: number): SignedTransaction {
  if (raw[0] === TransactionType.BlobEIP4844)
    throw reject('type', 'BLOB_TX_NOT_ALLOWED: blob transactions are not accepted');
  const tx = decode(raw, chainId);
  const type = tx.type as SignedTransaction['type'];
  if (!tx.isSigned()) throw reject('signature', 'the transaction is not signed');
  let from: Uint8Array;
  try {
    from = tx.getSenderAddress().bytes;
  } catch (cause) {
    throw reject('signature', `the sender cannot be recovered: ${messageOf(cause)}`, cause);
  }
  const named = namedChainId(tx);
  if (named !== undefined && named !== BigInt(chainId)) {
    throw reject('chain-id', `the transaction is for chain ${named}, this is ${chainId}`);
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
    chainId: named,
    accessList:
      'accessList' in tx ? tx.accessList.map(([address, storageKeys]) => ({ address, storageKeys })) : undefined,
    authorizationList: 'authorizationList' in tx ? tx.authorizationList.map(toAuthorization) : undefined,
    v: tx.v!,
    r: tx.r!,
    s: tx.s!,
  };
}

function decode(raw: Uint8Array, chainId: number): TypedTransaction {
  const common = new Common({ chain: { ...Mainnet, chainId }, hardfork: Hardfork.Prague });
  try {
    return createTxFromRLP(raw, { common });
  } catch (cause) {
    const reason = messageOf(cause);
    if (/chain ?id/i.test(reason)) throw reject('chain-id', `the transaction is for another chain: ${reason}`, cause);
    throw reject('malformed', `the transaction does not decode: ${reason}`, cause);
  }
}

/** Chain id a transaction is bound to; for legacy ones it stands in `v` (EIP-155). */
function namedChainId(tx: TypedTransaction): bigint | undefined {
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
