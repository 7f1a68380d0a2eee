import { RLP } from '@ethereumjs/rlp';
import { type BlockHeader, headerFields } from '../ethereum/header.js';
import { type Withdrawal, withdrawalFields } from '../ethereum/ordered-trie.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import { encodeRlp } from '../primitives/rlp-list.js';

type Item = Uint8Array | Item[];

/** The parts of a block. Withdrawals are in its RLP from Shanghai on, that is if the header has their root. */
export interface BlockBody {
  readonly header: BlockHeader;
  readonly transactions: readonly Pick<SignedTransaction, 'type' | 'raw'>[];
  readonly uncles: readonly BlockHeader[];
  readonly withdrawals: readonly Withdrawal[];
}

/** RLP encoding of a block. */
export function blockBytes({ header, transactions, uncles, withdrawals }: BlockBody): Uint8Array {
  const items: Item[] = [
    headerFields(header),
    transactions.map((tx) => (tx.type === 0 ? (RLP.decode(tx.raw) as Item) : tx.raw)),
    uncles.map(headerFields),
  ];
  if (header.withdrawalsRoot !== undefined) items.push(withdrawals.map(withdrawalFields));
  return encodeRlp(items);
}
