import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bigIntToMinimalBytes, concatBytes } from '../primitives/bytes.js';
import type { SignedTransaction } from './transaction.js';

type Item = Uint8Array | Item[];

/** An unsigned transaction. */
export type UnsignedTransaction = Omit<SignedTransaction, 'hash' | 'raw' | 'v' | 'r' | 's' | 'impersonated'>;

/** A transaction with a zero signature, and the bytes and hash that follow. */
export function withZeroSignature(tx: UnsignedTransaction): SignedTransaction {
  const raw = encodeTransaction(tx, { v: 0n, r: 0n, s: 0n });
  return { ...tx, raw, hash: keccak_256(raw), v: 0n, r: 0n, s: 0n };
}

/** In typed transactions, `v` is the parity of `y` only. */
export type TransactionSignature = Pick<SignedTransaction, 'v' | 'r' | 's'>;

/**
 * Encodes a transaction: RLP if legacy, else type and payload.
 *
 * @source EIP-2718, EIP-2930, EIP-1559, EIP-4844, EIP-7702
 */
export function encodeTransaction(
  tx: Omit<UnsignedTransaction, 'from'>,
  { v, r, s }: TransactionSignature,
): Uint8Array {
  const { type, chainId, nonce, gasPrice, maxPriorityFeePerGas, maxFeePerGas, gasLimit, value, data } = tx;
  const prices = type < 2 ? [int(gasPrice)] : [int(maxPriorityFeePerGas), int(maxFeePerGas)];
  const common = [int(nonce), ...prices, int(gasLimit), tx.to ?? new Uint8Array(0), int(value), data];
  const signature = [int(v), int(r), int(s)];
  if (type === 0) return RLP.encode([...common, ...signature]);
  const items: Item[] = [int(chainId), ...common];
  items.push((tx.accessList ?? []).map(({ address, storageKeys }) => [address, [...storageKeys]]));
  if (type === 3) items.push(int(tx.maxFeePerBlobGas), [...(tx.blobVersionedHashes ?? [])]);
  if (type === 4) {
    items.push(
      (tx.authorizationList ?? []).map(({ address, ...item }) => [
        int(item.chainId),
        address,
        int(item.nonce),
        int(item.yParity),
        int(item.r),
        int(item.s),
      ]),
    );
  }
  return concatBytes(Uint8Array.of(type), RLP.encode([...items, ...signature]));
}

function int(value: bigint | undefined): Uint8Array {
  return bigIntToMinimalBytes(value ?? 0n);
}
