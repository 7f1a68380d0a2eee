import { RLP } from '@ethereumjs/rlp';
import { messageOf, PlumblineError } from '../../errors.js';
import { type BlockHeader, headerFields, headerFromFields, headerHash } from '../../ethereum/header.js';
import type { Log } from '../../ethereum/receipt.js';
import { parseSignedTransaction, type SignedTransaction } from '../../ethereum/transaction.js';
import type { AccountChange } from '../../evm/state-overlay.js';
import type { Account } from '../../evm/state-reader.js';
import { bigIntToMinimalBytes, bytesToBigInt } from '../../primitives/bytes.js';
import type { Block, TransactionReceipt } from '../chain.js';

/** All of one block that a reload needs: nothing is executed again to come back to it. */
export interface BlockRecord {
  readonly block: Block;
  readonly receipts: readonly TransactionReceipt[];
  readonly changes: readonly AccountChange[];
  /** Root of the zk state after the block, 32 bytes. */
  readonly zkRoot: Uint8Array;
}

type Item = Uint8Array | Item[];

const FORMAT = 1;
const flag = (value: boolean) => Uint8Array.of(value ? 1 : 0);
const int = (value: bigint | number) => bigIntToMinimalBytes(BigInt(value));
const account = (value: Account | undefined): Item[] =>
  value === undefined ? [] : [int(value.nonce), int(value.balance), value.codeHash];

/** Bytes of RLP of a block with its transactions, for its `size`. */
export function blockBytes(header: BlockHeader, transactions: readonly SignedTransaction[]): Uint8Array {
  const bodies = transactions.map((tx) => (tx.type === 0 ? (RLP.decode(tx.raw) as Item) : tx.raw));
  return RLP.encode([headerFields(header), bodies, [], []] as Item[]);
}

/** The record as bytes for the store. */
export function encodeBlockRecord(record: BlockRecord): Uint8Array {
  const receipts = record.receipts.map((receipt): Item[] => [
    flag(receipt.succeeded),
    int(receipt.gasUsed),
    int(receipt.cumulativeGasUsed),
    int(receipt.effectiveGasPrice),
    receipt.contractAddress ?? new Uint8Array(0),
    receipt.logs.map((log): Item[] => [log.address, [...log.topics], log.data]),
  ]);
  const changes = record.changes.map((change): Item[] => [
    change.address,
    account(change.before),
    account(change.after),
    flag(change.destroyed),
    change.code === undefined ? [] : [change.code],
    change.slots.map((slot): Item[] => [slot.key, slot.before, slot.after]),
  ]);
  const raws = record.block.transactions.map((tx) => tx.raw);
  return RLP.encode([int(FORMAT), headerFields(record.block.header), raws, receipts, changes, record.zkRoot]);
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
  const [format, fields, raws, receiptItems, changeItems, zkRoot] = record as [
    Uint8Array,
    Uint8Array[],
    Uint8Array[],
    Item[][],
    Item[][],
    Uint8Array,
  ];
  if (bytesToBigInt(format) !== BigInt(FORMAT)) throw new Error('unknown format');
  const header = headerFromFields(fields);
  const transactions = raws.map((raw) => parseSignedTransaction(raw, chainId));
  const block: Block = {
    header,
    hash: headerHash(header),
    transactions,
    size: blockBytes(header, transactions).length,
  };
  if (receiptItems.length !== transactions.length) throw new Error('receipts and transactions differ in number');
  let firstLogIndex = 0;
  const receipts = receiptItems.map((item, index): TransactionReceipt => {
    const [succeeded, gasUsed, cumulative, price, contract, logItems] = item as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Item[][],
    ];
    const logs = logItems.map(([address, topics, data]) => ({ address, topics, data }) as Log);
    const receipt: TransactionReceipt = {
      transaction: transactions[index]!,
      block,
      index,
      succeeded: succeeded[0] === 1,
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
  return { block, receipts, changes: changeItems.map(parseChange), zkRoot };
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
