import { bigIntToMinimalBytes, concatBytes } from '../primitives/bytes.js';
import { encodeRlp } from '../primitives/rlp-list.js';
import { encodeFields, type Item, type TransactionFields, type TransactionType } from './transaction-fields.js';

/** What an encoding is made of. A field that the type has and that is undefined counts as zero or empty. */
export type EncodedTransaction = { readonly type: TransactionType } & {
  readonly [Name in keyof TransactionFields]?: TransactionFields[Name] | undefined;
};

/** In types 1 to 4, `v` is the parity of y only. */
export type TransactionSignature = Pick<TransactionFields, 'v' | 'r' | 's'>;

/**
 * Encodes a transaction: RLP if legacy, else type and payload.
 *
 * @source EIP-2718
 */
export function encodeTransaction(tx: EncodedTransaction, { v, r, s }: TransactionSignature): Uint8Array {
  return typed(tx.type, [...encodeFields(tx.type, tx), ...[v, r, s].map(bigIntToMinimalBytes)]);
}

/** The bytes whose hash a signature signs. */
export function encodeToSign(tx: EncodedTransaction): Uint8Array {
  return itemsToSign(tx.type, encodeFields(tx.type, tx), tx.chainId);
}

/**
 * As `encodeToSign`, of the items before the signature. A legacy transaction with a chain id signs that too.
 *
 * @source EIP-2718, EIP-155
 */
export function itemsToSign(type: TransactionType, items: readonly Item[], chainId: bigint | undefined): Uint8Array {
  const more = type === 0 && chainId !== undefined ? [chainId, 0n, 0n].map(bigIntToMinimalBytes) : [];
  return typed(type, [...items, ...more]);
}

function typed(type: TransactionType, items: Item[]): Uint8Array {
  const list = encodeRlp(items);
  return type === 0 ? list : concatBytes(Uint8Array.of(type), list);
}
