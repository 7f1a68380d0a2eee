import { RLP } from '@ethereumjs/rlp';
import { messageOf, PlumblineError } from '../../errors.js';
import { type BlockHeader, headerFields, headerFromFields, headerHash } from '../../ethereum/header.js';
import type { Log } from '../../ethereum/receipt.js';
import { parseSignedTransaction, type SignedTransaction } from '../../ethereum/transaction.js';
import { withdrawalFields, withdrawalFromFields } from '../../ethereum/withdrawal.js';
import type { AccountChange } from '../../evm/state-overlay.js';
import type { Account } from '../../evm/state-reader.js';
import { bigIntToMinimalBytes, bytesToBigInt, equalBytes } from '../../primitives/bytes.js';
import type { Block, TransactionReceipt } from '../chain.js';
import { type BlockBody, blockBytes } from './block-bytes.js';

/** All of one block that a reload needs: nothing is executed again to come back to it. */
export interface BlockRecord {
  readonly block: Block;
  readonly receipts: readonly TransactionReceipt[];
  readonly changes: readonly AccountChange[];
  /** Root of the zk state after the block, 32 bytes. */
  readonly zkRoot: Uint8Array;
  /** Whole headers of the block's uncles; left out for none. */
  readonly uncles?: readonly BlockHeader[];
  /** It came from outside, and was final as it came. */
  readonly imported?: boolean;
}

type Item = Uint8Array | Item[];

/** Records of format 1 end after the zk root, and their receipts after the logs. */
const FORMAT = 2;
const FORMATS = [1n, 2n];
const NOTHING = new Uint8Array(0);
const flag = (value: boolean) => Uint8Array.of(value ? 1 : 0);
const int = (value: bigint | number) => bigIntToMinimalBytes(BigInt(value));
const account = (value: Account | undefined): Item[] =>
  value === undefined ? [] : [int(value.nonce), int(value.balance), value.codeHash];

/** A block of its parts; the hash and the size follow from them. */
export function blockOf(body: BlockBody & { readonly transactions: readonly SignedTransaction[] }): Block {
  const { header, transactions, uncles, withdrawals } = body;
  return {
    header,
    hash: headerHash(header),
    transactions,
    ...(uncles.length > 0 && { uncles: uncles.map(headerHash) }),
    ...(withdrawals.length > 0 && { withdrawals }),
    size: blockBytes(body).length,
  };
}

/** The record as bytes for the store. */
export function encodeBlockRecord(record: BlockRecord): Uint8Array {
  const receipts = record.receipts.map((receipt): Item[] => [
    flag(receipt.succeeded),
    int(receipt.gasUsed),
    int(receipt.cumulativeGasUsed),
    int(receipt.effectiveGasPrice),
    receipt.contractAddress ?? NOTHING,
    receipt.logs.map((log): Item[] => [log.address, [...log.topics], log.data]),
    receipt.stateRoot ?? NOTHING,
    receipt.blobGasUsed === undefined ? [] : [int(receipt.blobGasUsed), int(receipt.blobGasPrice ?? 0n)],
  ]);
  const changes = record.changes.map((change): Item[] => [
    change.address,
    account(change.before),
    account(change.after),
    flag(change.destroyed),
    change.code === undefined ? [] : [change.code],
    change.slots.map((slot): Item[] => [slot.key, slot.before, slot.after]),
  ]);
  // The sender of one that nobody signed stands beside it.
  const raws = record.block.transactions.map((tx): Item => (tx.impersonated === true ? [tx.raw, tx.from] : tx.raw));
  const { header, withdrawals = [] } = record.block;
  return RLP.encode([
    int(FORMAT),
    headerFields(header),
    raws,
    receipts,
    changes,
    record.zkRoot,
    (record.uncles ?? []).map(headerFields),
    withdrawals.map(withdrawalFields),
    // Not a mere flag: no single damaged byte makes one of the other.
    record.imported === true ? record.block.hash : NOTHING,
  ]);
}

/**
 * @param chainId - of the devnet the record belongs to
 * @throws PlumblineError `STORE_CORRUPT` for anything that is not such a record
 */
export function decodeBlockRecord(bytes: Uint8Array, chainId: number): BlockRecord {
  try {
    return parse(RLP.decode(bytes) as Item[], chainId);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new PlumblineError(
      'STORE_CORRUPT',
      `a stored block does not decode: ${reason}`,
      { table: 'blocks', reason },
      { cause },
    );
  }
}

function parse(record: Item[], chainId: number): BlockRecord {
  const [format, fields, raws, receiptItems, changeItems, zkRoot, uncleItems, withdrawalItems, imported] = record as [
    Uint8Array,
    Uint8Array[],
    (Uint8Array | Uint8Array[])[],
    Item[][],
    Item[][],
    Uint8Array,
    Uint8Array[][]?,
    Uint8Array[][]?,
    Uint8Array?,
  ];
  if (!FORMATS.includes(bytesToBigInt(format))) throw new Error('unknown format');
  const header = headerFromFields(fields);
  const transactions = raws.map((raw) => parseTransaction(raw, chainId));
  const uncles = (uncleItems ?? []).map(headerFromFields);
  const withdrawals = (withdrawalItems ?? []).map(withdrawalFromFields);
  const block = blockOf({ header, transactions, uncles, withdrawals });
  if (receiptItems.length !== transactions.length) throw new Error('receipts and transactions differ in number');
  let firstLogIndex = 0;
  const receipts = receiptItems.map((item, index): TransactionReceipt => {
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
      transaction: transactions[index]!,
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
  return {
    block,
    receipts,
    changes: changeItems.map(parseChange),
    zkRoot,
    ...(uncles.length > 0 && { uncles }),
    ...(readImported(imported, block.hash) && { imported: true }),
  };
}

function readImported(mark: Uint8Array = NOTHING, hash: Uint8Array): boolean {
  if (mark.length > 0 && !equalBytes(mark, hash)) throw new Error('the mark of an import is of another block');
  return mark.length > 0;
}

function parseTransaction(item: Uint8Array | Uint8Array[], chainId: number): SignedTransaction {
  if (item instanceof Uint8Array) return parseSignedTransaction(item, chainId, { blobs: true, frontier: true });
  const [raw, impersonated] = item;
  return parseSignedTransaction(raw!, chainId, { impersonated });
}

function parseChange(item: Item[]): AccountChange {
  const [address, before, after, destroyed, code, slots] = item as [
    Uint8Array,
    Uint8Array[],
    Uint8Array[],
    Uint8Array,
    Uint8Array[],
    Uint8Array[][],
  ];
  return {
    address,
    before: parseAccount(before),
    after: parseAccount(after),
    destroyed: destroyed[0] === 1,
    code: code[0],
    slots: slots.map(([key, old, now]) => ({ key: key!, before: old!, after: now! })),
  };
}

function parseAccount(fields: Uint8Array[]): Account | undefined {
  if (fields.length === 0) return undefined;
  return { nonce: bytesToBigInt(fields[0]!), balance: bytesToBigInt(fields[1]!), codeHash: fields[2]! };
}
