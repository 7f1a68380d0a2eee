import { RLP } from '@ethereumjs/rlp';
import { headerFromFields } from '../../../ethereum/header.js';
import { withdrawalFromFields } from '../../../ethereum/ordered-trie.js';
import type { Log } from '../../../ethereum/receipt.js';
import { parseSignedTransaction, type SignedTransaction } from '../../../ethereum/transaction.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { bytesToBigInt } from '../../../primitives/bytes.js';
import type { Block, TransactionReceipt } from '../../block.js';
import { editsFromItems } from '../../state-edits.js';
import { type ContentParts, contentOf, encodingOf, orStoreCorrupt, partsOf, type RlpPart } from './record-parts.js';

type Item = Uint8Array | Item[];

/** A block and its receipts. Everything but the header is decoded on first use. */
export interface LazyBlockContents {
  readonly block: Block;
  readonly receipts: readonly TransactionReceipt[];
  readonly transactionCount: number;
  /** Decodes everything, so that later reads cannot fail. @throws PlumblineError `STORE_CORRUPT` */
  decode(): void;
}

const NOTHING = new Uint8Array(0);
const EMPTY_LIST_BYTES = 1;

/**
 * @param chainId - chain id of the devnet
 * @throws PlumblineError `STORE_CORRUPT` if the block cannot be decoded; later reads throw it for transactions and
 *   receipts
 */
export function blockContents(bytes: Uint8Array, parts: ContentParts, chainId: number): LazyBlockContents {
  return orStoreCorrupt(() => readContents(bytes, parts, chainId));
}

function readContents(bytes: Uint8Array, parts: ContentParts, chainId: number): LazyBlockContents {
  const header = headerFromFields(itemOf(bytes, parts.header) as Uint8Array[]);
  const raws = partsOf(bytes, parts.transactions);
  const receiptParts = partsOf(bytes, parts.receipts);
  if (receiptParts.length !== raws.length) throw new Error('receipts and transactions differ in number');
  const uncles = listOf(bytes, parts.uncles).map((part) => keccak256(encodingOf(bytes, part)));
  const withdrawals = listOf(bytes, parts.withdrawals).map((part) =>
    withdrawalFromFields(itemOf(bytes, part) as Uint8Array[]),
  );
  const edits = parts.edits === undefined ? [] : editsFromItems(itemOf(bytes, parts.edits));
  const parsed: SignedTransaction[] = [];
  const transactionAt = (index: number) => {
    parsed[index] ??= orStoreCorrupt(() => parseTransaction(bytes, raws[index]!, chainId));
    return parsed[index];
  };
  let transactions: readonly SignedTransaction[] | undefined;
  let receipts: readonly TransactionReceipt[] | undefined;
  const block: Block = {
    header,
    hash: keccak256(encodingOf(bytes, parts.header)),
    get transactions() {
      transactions ??= raws.map((_, index) => transactionAt(index));
      return transactions;
    },
    ...(uncles.length > 0 && { uncles }),
    ...(withdrawals.length > 0 && { withdrawals }),
    ...(edits.length > 0 && { edits }),
    get size() {
      return sizeOf(bytes, parts, raws, header.withdrawalsRoot !== undefined);
    },
  };
  const readReceipts = () => {
    receipts ??= orStoreCorrupt(() => {
      const items = receiptParts.map((part) => itemOf(bytes, part) as Item[]);
      return parseReceipts(items, block, transactionAt);
    });
    return receipts;
  };
  return {
    block,
    get receipts() {
      return readReceipts();
    },
    transactionCount: raws.length,
    decode() {
      for (const index of raws.keys()) transactionAt(index);
      readReceipts();
    },
  };
}

/** Hashes of transactions, 32 bytes each. @param transactions - as in `ContentParts` */
export function transactionHashes(bytes: Uint8Array, transactions: RlpPart): Uint8Array[] {
  return partsOf(bytes, transactions).map((part) => keccak256(contentOf(bytes, rawOf(bytes, part))));
}

function itemOf(bytes: Uint8Array, part: RlpPart): Item {
  return RLP.decode(encodingOf(bytes, part)) as Item;
}

function listOf(bytes: Uint8Array, part: RlpPart | undefined): RlpPart[] {
  return part === undefined ? [] : partsOf(bytes, part);
}

/** The encoded transaction within its entry. */
function rawOf(bytes: Uint8Array, entry: RlpPart): RlpPart {
  return entry.isList ? partsOf(bytes, entry)[0]! : entry;
}

function parseTransaction(bytes: Uint8Array, entry: RlpPart, chainId: number): SignedTransaction {
  const item = itemOf(bytes, entry) as Uint8Array | Uint8Array[];
  if (item instanceof Uint8Array) return parseSignedTransaction(item, chainId, { blobs: true, frontier: true });
  const [raw, from, impersonated] = item;
  // Up to format 2, only transactions without a signature had their sender stored.
  if (impersonated === undefined || impersonated[0] === 1) {
    return parseSignedTransaction(raw!, chainId, { impersonated: from });
  }
  return parseSignedTransaction(raw!, chainId, { blobs: true, frontier: true, sender: from });
}

function parseReceipts(
  items: readonly Item[][],
  block: Block,
  transactionAt: (index: number) => SignedTransaction,
): TransactionReceipt[] {
  let firstLogIndex = 0;
  return items.map((item, index): TransactionReceipt => {
    const [succeeded, gasUsed, cumulative, price, contract, logItems, stateRoot = NOTHING, blob = []] = item as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Item[][],
      Uint8Array?,
      Uint8Array[]?,
    ];
    const logs = logItems.map(([address, topics, data]) => ({ address, topics, data }) as Log);
    const receipt: TransactionReceipt = {
      get transaction() {
        return transactionAt(index);
      },
      block,
      index,
      succeeded: succeeded[0] === 1,
      ...(stateRoot.length > 0 && { stateRoot }),
      ...(blob.length > 0 && { blobGasUsed: bytesToBigInt(blob[0]!), blobGasPrice: bytesToBigInt(blob[1]!) }),
      gasUsed: bytesToBigInt(gasUsed),
      cumulativeGasUsed: bytesToBigInt(cumulative),
      effectiveGasPrice: bytesToBigInt(price),
      contractAddress: contract.length === 0 ? undefined : contract,
      logs,
      firstLogIndex,
    };
    firstLogIndex += logs.length;
    return receipt;
  });
}

/** Size of the block's RLP in bytes. In it, transactions of type 0 are lists, and others are strings. */
function sizeOf(bytes: Uint8Array, parts: ContentParts, raws: readonly RlpPart[], hasWithdrawals: boolean): number {
  const lengthOf = (part: RlpPart | undefined) => (part === undefined ? EMPTY_LIST_BYTES : part.to - part.at);
  let transactions = 0;
  for (const entry of raws) {
    const raw = rawOf(bytes, entry);
    transactions += bytes[raw.from]! >= 0xc0 ? raw.to - raw.from : raw.to - raw.at;
  }
  const withdrawals = hasWithdrawals ? lengthOf(parts.withdrawals) : 0;
  return listBytes(lengthOf(parts.header) + listBytes(transactions) + lengthOf(parts.uncles) + withdrawals);
}

/** Length of an RLP list in bytes, prefix included. @param content - length of its items in bytes */
function listBytes(content: number): number {
  let prefix = 1;
  for (let rest = content > 55 ? content : 0; rest > 0; rest = Math.floor(rest / 256)) prefix++;
  return prefix + content;
}
