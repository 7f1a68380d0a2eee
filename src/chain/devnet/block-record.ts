import { RLP } from '@ethereumjs/rlp';
import { sha256 } from '@noble/hashes/sha2.js';
import { messageOf, PlumblineError } from '../../errors.js';
import { type BlockHeader, headerFields, headerFromFields, headerHash } from '../../ethereum/header.js';
import type { Log } from '../../ethereum/receipt.js';
import { parseSignedTransaction, type SignedTransaction } from '../../ethereum/transaction.js';
import { withdrawalFields, withdrawalFromFields } from '../../ethereum/withdrawal.js';
import type { AccountChange } from '../../evm/state-overlay.js';
import { bigIntToMinimalBytes, bytesToBigInt, concatBytes, equalBytes } from '../../primitives/bytes.js';
import type { Block, TransactionReceipt } from '../chain.js';
import { type BlockBody, blockBytes } from './block-bytes.js';
import { decodeChanges, encodeChanges } from './changes-codec.js';

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
  /** What it has lost to keep within a budget: what it changed, or its body too. Then that is empty here. */
  readonly pruned?: Pruned;
}

export type Pruned = 'changes' | 'body';

type Item = Uint8Array | Item[];

/**
 * Records of format 1 end after the zk root, and their receipts after the logs. Up to format 2 senders are not stored, the
 * changes are not RLP of their own, and there is no checksum. Format 4 is that of pruned ones, and says at its end of which
 * kind.
 */
const FORMAT = 3;
const PRUNED_FORMAT = 4;
const FORMATS = [1n, 2n, 3n, 4n];
const PRUNED: readonly Pruned[] = ['changes', 'body'];
const FIRST_SEALED_FORMAT = 3n;
const CHECKSUM_BYTES = 8;
const NOTHING = new Uint8Array(0);
const flag = (value: boolean) => Uint8Array.of(value ? 1 : 0);
const int = (value: bigint | number) => bigIntToMinimalBytes(BigInt(value));

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

/** A record that has lost something. */
export function pruneRecord(record: BlockRecord, pruned: Pruned): BlockRecord {
  const { block, imported, zkRoot } = record;
  const kept = { zkRoot, changes: [], pruned, ...(imported === true && { imported }) };
  if (pruned === 'changes') {
    return { ...kept, block, receipts: record.receipts, ...(record.uncles !== undefined && { uncles: record.uncles }) };
  }
  return { ...kept, block: { header: block.header, hash: block.hash, transactions: [], size: 0 }, receipts: [] };
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
  // Recovering the sender would take longer than all else of reading it.
  const raws = record.block.transactions.map((tx): Item => [tx.raw, tx.from, flag(tx.impersonated === true)]);
  const { header, withdrawals = [] } = record.block;
  const { pruned } = record;
  const encoded = RLP.encode([
    int(pruned === undefined ? FORMAT : PRUNED_FORMAT),
    headerFields(header),
    raws,
    receipts,
    encodeChanges(record.changes),
    record.zkRoot,
    (record.uncles ?? []).map(headerFields),
    withdrawals.map(withdrawalFields),
    // Not a mere flag: no single damaged byte makes one of the other.
    record.imported === true ? record.block.hash : NOTHING,
    ...(pruned === undefined ? [] : [int(PRUNED.indexOf(pruned) + 1)]),
  ]);
  return concatBytes(encoded, checksum(encoded));
}

function checksum(encoded: Uint8Array): Uint8Array {
  return sha256(encoded).subarray(0, CHECKSUM_BYTES);
}

/** Items of a record, after its checksum has been compared. Those of earlier formats end without one. */
function itemsOf(bytes: Uint8Array): Item[] {
  const { data, remainder } = RLP.decode(bytes, true);
  const items = data as Item[];
  const sealed = bytesToBigInt(items[0] as Uint8Array) >= FIRST_SEALED_FORMAT;
  const expected = sealed ? checksum(bytes.subarray(0, bytes.length - remainder.length)) : NOTHING;
  if (!equalBytes(remainder, expected)) throw new Error('the checksum does not fit');
  return items;
}

/**
 * @param chainId - of the devnet the record belongs to
 * @throws PlumblineError `STORE_CORRUPT` for anything that is not such a record
 */
export function decodeBlockRecord(bytes: Uint8Array, chainId: number): BlockRecord {
  try {
    return parse(itemsOf(bytes), chainId);
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
  const [format, fields, raws, receiptItems, changeItems, zkRoot, uncleItems, withdrawalItems, imported, kind] =
    record as [
      Uint8Array,
      Uint8Array[],
      (Uint8Array | Uint8Array[])[],
      Item[][],
      Uint8Array | Item[][],
      Uint8Array,
      Uint8Array[][]?,
      Uint8Array[][]?,
      Uint8Array?,
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
  let changes: readonly AccountChange[] | undefined;
  return {
    block,
    receipts,
    // Few who read a block look at them, and genesis may have very many.
    get changes() {
      changes ??= decodeChanges(changeItems);
      return changes;
    },
    zkRoot,
    ...(uncles.length > 0 && { uncles }),
    ...(readImported(imported, block.hash) && { imported: true }),
    ...(kind !== undefined && { pruned: readPruned(kind) }),
  };
}

function readPruned(kind: Uint8Array): Pruned {
  const pruned = PRUNED[Number(bytesToBigInt(kind)) - 1];
  if (pruned === undefined) throw new Error('unknown kind of pruning');
  return pruned;
}

function readImported(mark: Uint8Array = NOTHING, hash: Uint8Array): boolean {
  if (mark.length > 0 && !equalBytes(mark, hash)) throw new Error('the mark of an import is of another block');
  return mark.length > 0;
}

function parseTransaction(item: Uint8Array | Uint8Array[], chainId: number): SignedTransaction {
  if (item instanceof Uint8Array) return parseSignedTransaction(item, chainId, { blobs: true, frontier: true });
  const [raw, from, impersonated] = item;
  // Up to format 2 only the sender of one that nobody signed stood beside it.
  if (impersonated === undefined || impersonated[0] === 1) {
    return parseSignedTransaction(raw!, chainId, { impersonated: from });
  }
  return parseSignedTransaction(raw!, chainId, { blobs: true, frontier: true, sender: from });
}
