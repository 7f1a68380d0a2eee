import { PlumblineError } from '../errors.js';
import { type EncodedTransaction, encodeToSign, encodeTransaction } from '../ethereum/encode-transaction.js';
import type { Network } from '../networks/network.js';
import { concatBytes, ZERO_ADDRESS } from '../primitives/bytes.js';
import type { AccessListEntry, Authorization, CallRequest } from '../primitives/call-request.js';
import { requireInt64 } from './prices.js';

/** A transaction to size. Missing amounts count as zero. */
export interface SizedTransaction {
  /** EIP-2718 type: 0, 1, 2 or 4. */
  readonly type: number;
  /** Sender, 20 bytes. */
  readonly from: Uint8Array;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  /** Wei per gas, types 0 and 1. */
  readonly gasPrice?: bigint | undefined;
  /** Wei per gas, types 2 and 4, like the next. */
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  /** 20 bytes; absent for a contract creation. */
  readonly to?: Uint8Array | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  /** Absent for a legacy transaction without replay protection. */
  readonly chainId?: bigint | undefined;
  readonly accessList?: readonly AccessListEntry[] | undefined;
  readonly authorizationList?: readonly Authorization[] | undefined;
}

/** Values that an estimate adds to the call. */
export interface SizingContext {
  /** The estimated gas limit; the caller's own is ignored. */
  readonly gasLimit: bigint;
  readonly baseFee: bigint;
  /** The sender's nonce after the newest block. */
  readonly latestNonce: bigint;
  readonly chainId: bigint;
}

/** A signature; `yParity` is 0 or 1. */
export interface Signature {
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

/** The constant signature with which nodes size unsigned transactions (docs/spec/compression.md 8). */
export const SIZING_SIGNATURE: Signature = {
  yParity: 0n,
  r: 0x92cb833525c26bac21a06d03ae0f91836fd08f4fccac1db10fc21687e7797dafn,
  s: 0x36ac78a3951a18eb686d7611ea06d984a2f7f3298758d17d9eed1352c49eea68n,
};

const NO_BYTES = new Uint8Array(0);

/**
 * The transaction that an estimate sizes for a call.
 *
 * @source docs/spec/compression.md 2: any EIP-1559 price makes it type 2, an access list (even an empty one) type 1,
 *   else it is a legacy transaction, unprotected unless the call has a chain id. Authorizations and blob fields are
 *   left out.
 *
 * @example
 * ```ts
 * import { transactionForSizing } from 'plumbline-l2/fees';
 *
 * const to = new Uint8Array(20).fill(1);
 * const call = { from: new Uint8Array(20), to, value: 1n };
 * const context = { gasLimit: 21_000n, baseFee: 7n, latestNonce: 0n, chainId: 59_144n };
 * transactionForSizing({ ...call, maxFeePerGas: 100n }, context).type; // => 2
 * ```
 */
export function transactionForSizing(call: CallRequest, context: SizingContext): SizedTransaction {
  const isDynamic = (call.maxFeePerGas ?? call.maxPriorityFeePerGas ?? call.maxFeePerBlobGas) !== undefined;
  const type = isDynamic ? 2 : call.accessList !== undefined ? 1 : 0;
  return {
    type,
    from: call.from ?? ZERO_ADDRESS,
    nonce: call.nonce ?? (call.from ? context.latestNonce : 0n),
    gasLimit: context.gasLimit,
    gasPrice: isDynamic ? undefined : (call.gasPrice ?? context.baseFee),
    maxFeePerGas: isDynamic ? (call.maxFeePerGas ?? 0n) : undefined,
    maxPriorityFeePerGas: isDynamic ? (call.maxPriorityFeePerGas ?? 0n) : undefined,
    to: call.to,
    value: call.value ?? 0n,
    data: call.data ?? NO_BYTES,
    chainId: type === 0 ? call.chainId : (call.chainId ?? context.chainId),
    accessList: isDynamic ? (call.accessList ?? []) : call.accessList,
  };
}

/**
 * The bytes that today's compressor gets: the sender, then the bytes to sign. A missing recipient is written as 20 zero bytes.
 *
 * @throws PlumblineError `TRANSACTION_TYPE_UNSUPPORTED`; `OUT_OF_RANGE` for a nonce or gas limit of 2^63 or more
 * @source docs/spec/compression.md 3
 *
 * @example
 * ```ts
 * import { encodeForSizing, transactionForSizing } from 'plumbline-l2/fees';
 *
 * const to = new Uint8Array(20).fill(1);
 * const call = { from: new Uint8Array(20), to, value: 1n };
 * const context = { gasLimit: 21_000n, baseFee: 7n, latestNonce: 0n, chainId: 59_144n };
 * encodeForSizing(transactionForSizing(call, context)).length; // => 49
 * ```
 */
export function encodeForSizing(tx: SizedTransaction): Uint8Array {
  return concatBytes(tx.from, encodeToSign(tx.to === undefined ? { ...checked(tx), to: ZERO_ADDRESS } : checked(tx)));
}

/**
 * The bytes that the compressor got until February 2026: the signed transaction as networks send it, without its sender.
 *
 * @throws PlumblineError `TRANSACTION_TYPE_UNSUPPORTED`; `OUT_OF_RANGE` for a nonce or gas limit of 2^63 or more
 * @source docs/spec/compression.md 8
 *
 * @example
 * ```ts
 * import { encodeSigned, transactionForSizing } from 'plumbline-l2/fees';
 *
 * const to = new Uint8Array(20).fill(1);
 * const call = { from: new Uint8Array(20), to, value: 1n };
 * const context = { gasLimit: 21_000n, baseFee: 7n, latestNonce: 0n, chainId: 59_144n };
 * encodeSigned(transactionForSizing(call, context)).length; // => 97
 * ```
 */
export function encodeSigned(tx: SizedTransaction, signature: Signature = SIZING_SIGNATURE): Uint8Array {
  const { yParity, r, s } = signature;
  const v = tx.type !== 0 ? yParity : yParity + (tx.chainId === undefined ? 27n : 35n + 2n * tx.chainId);
  return encodeTransaction(checked(tx), { v, r, s });
}

/**
 * Bytes to size for a call, in the form of the network profile (`Network.sizing`).
 *
 * @example
 * ```ts
 * import { generalDictionary, loadCalldataSizer, sizingBytes } from 'plumbline-l2/fees';
 *
 * const to = new Uint8Array(20).fill(1);
 * const call = { from: new Uint8Array(20), to, value: 1n };
 * const context = { gasLimit: 21_000n, baseFee: 7n, latestNonce: 0n, chainId: 59_144n };
 * const bytes = sizingBytes(call, context);
 * const sizer = await loadCalldataSizer((await generalDictionary()).bytes);
 * [bytes.length, sizer.compressedTxSize(bytes)]; // => [49, 32]
 * ```
 */
export function sizingBytes(
  call: CallRequest,
  context: SizingContext,
  form: Network['sizing'] = 'current',
): Uint8Array {
  const tx = transactionForSizing(call, context);
  return form === 'current' ? encodeForSizing(tx) : encodeSigned(tx);
}

function checked(tx: SizedTransaction): EncodedTransaction {
  requireInt64('nonce', tx.nonce);
  requireInt64('gasLimit', tx.gasLimit);
  if (isSizable(tx)) return tx;
  const { type } = tx;
  const message = `transactions of type ${type} cannot be sized; use type 0, 1, 2 or 4`;
  throw new PlumblineError('TRANSACTION_TYPE_UNSUPPORTED', message, { type });
}

const isSizable = (tx: SizedTransaction): tx is SizedTransaction & EncodedTransaction => [0, 1, 2, 4].includes(tx.type);
