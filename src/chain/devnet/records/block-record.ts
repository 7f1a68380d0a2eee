import { RLP } from '@ethereumjs/rlp';
import { type BlockHeader, headerFields, headerFromFields, headerHash } from '../../../ethereum/header.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import { withdrawalFields } from '../../../ethereum/withdrawal.js';
import type { AccountChange } from '../../../evm/state/state-overlay.js';
import { bigIntToMinimalBytes, bytesToBigInt, concatBytes, equalBytes } from '../../../primitives/bytes.js';
import { type BlockBody, blockBytes } from '../../block-bytes.js';
import type { Block, TransactionReceipt } from '../../chain.js';
import { blockContents } from './block-contents.js';
import { decodeChanges, encodeChanges } from './changes-codec.js';
import { FORMAT, orCorrupt, PRUNED_FORMAT, type RecordParts, recordChecksum, recordParts } from './record-parts.js';
import { contentOf, encodingOf, partAt, partsOf } from './rlp-parts.js';

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

/** What a stored block has lost: what it changed, or its body too. */
export type Pruned = 'changes' | 'body';

type Item = Uint8Array | Item[];

const PRUNED: readonly Pruned[] = ['changes', 'body'];
const NOTHING = new Uint8Array(0);
const flag = (value: boolean) => Uint8Array.of(value ? 1 : 0);
const int = (value: bigint | number) => bigIntToMinimalBytes(BigInt(value));

/** A block of its parts; the hash and the size follow from them. */
export function blockWithHash(body: BlockBody & { readonly transactions: readonly SignedTransaction[] }): Block {
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
  return concatBytes(encoded, recordChecksum(encoded));
}

/**
 * @param chainId - of the devnet the record belongs to
 * @throws PlumblineError `STORE_CORRUPT` for anything that is not such a record
 */
export function decodeBlockRecord(bytes: Uint8Array, chainId: number): BlockRecord {
  return orCorrupt(() => {
    const parts = recordParts(bytes);
    const contents = blockContents(bytes, parts, chainId);
    contents.decode();
    const { block, receipts } = contents;
    const uncles = parts.uncles === undefined ? [] : partsOf(bytes, parts.uncles);
    const pruned = prunedKind(bytes, parts);
    let changes: readonly AccountChange[] | undefined;
    return {
      block,
      receipts,
      // Few who read a block look at them, and genesis may have very many.
      get changes() {
        changes ??= changesIn(bytes, parts);
        return changes;
      },
      zkRoot: contentOf(bytes, parts.zkRoot).slice(),
      ...(uncles.length > 0 && {
        uncles: uncles.map((part) => headerFromFields(RLP.decode(encodingOf(bytes, part)) as Uint8Array[])),
      }),
      ...(isImported(bytes, parts, block.hash) && { imported: true }),
      ...(pruned !== undefined && { pruned }),
    };
  });
}

/** Accounts of one piece of what a block changed. */
const PIECE = 2048;

/**
 * What a block changed, of its record alone; in pieces, as genesis may have very many accounts.
 *
 * @throws PlumblineError `STORE_CORRUPT`, for one that does not decode when its turn comes
 */
export function decodeRecordChanges(bytes: Uint8Array): Iterable<readonly AccountChange[]> {
  return orCorrupt(() => changePieces(bytes, recordParts(bytes)));
}

function* changePieces(bytes: Uint8Array, { changes }: RecordParts): Generator<readonly AccountChange[]> {
  const parts = orCorrupt(() => partsOf(bytes, changes.isList ? changes : partAt(bytes, changes.from, changes.to)));
  for (let at = 0; at < parts.length; at += PIECE) {
    const piece = parts.slice(at, at + PIECE);
    yield orCorrupt(() => decodeChanges(piece.map((part) => RLP.decode(encodingOf(bytes, part)) as Item[])));
  }
}

function changesIn(bytes: Uint8Array, { changes }: RecordParts): readonly AccountChange[] {
  return decodeChanges(
    changes.isList ? (RLP.decode(encodingOf(bytes, changes)) as Item[][]) : contentOf(bytes, changes),
  );
}

/** What a record has lost; undefined for nothing. @throws Error */
export function prunedKind(bytes: Uint8Array, { pruned }: RecordParts): Pruned | undefined {
  if (pruned === undefined) return undefined;
  const kind = PRUNED[Number(bytesToBigInt(contentOf(bytes, pruned))) - 1];
  if (kind === undefined) throw new Error('unknown kind of pruning');
  return kind;
}

/** Whether the block of this hash was imported. @throws Error */
export function isImported(bytes: Uint8Array, { imported }: RecordParts, hash: Uint8Array): boolean {
  if (imported === undefined || imported.from === imported.to) return false;
  if (!equalBytes(contentOf(bytes, imported), hash)) throw new Error('the mark of an import is of another block');
  return true;
}
