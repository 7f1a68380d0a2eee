import { RLP } from '@ethereumjs/rlp';
import { type BlockHeader, headerFields, headerFromFields, headerHash } from '../../../ethereum/header.js';
import { withdrawalFields } from '../../../ethereum/ordered-trie.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { AccountChange } from '../../../evm/state-overlay.js';
import { bigIntToMinimalBytes, bytesToBigInt, concatBytes, copyBytes, equalBytes } from '../../../primitives/bytes.js';
import { encodeRlp } from '../../../primitives/rlp-list.js';
import type { Block, TransactionReceipt } from '../../block.js';
import { type BlockBody, blockBytes } from '../../block-bytes.js';
import { editItems, type StateEdit } from '../../state-edits.js';
import { blockContents } from './block-contents.js';
import {
  contentOf,
  decodeChanges,
  EDITED_FORMAT,
  encodeChanges,
  encodingOf,
  FORMAT,
  orStoreCorrupt,
  PRUNED_FORMAT,
  partAt,
  partsOf,
  type RecordParts,
  recordChecksum,
  recordParts,
} from './record-parts.js';

/** Everything a reload needs of one block, so that nothing is executed again. */
export interface BlockRecord {
  readonly block: Block;
  readonly receipts: readonly TransactionReceipt[];
  readonly changes: readonly AccountChange[];
  /** Zk state root after the block, 32 bytes. */
  readonly zkRoot: Uint8Array;
  /** Headers of the block's uncles; left out if there are none. */
  readonly uncles?: readonly BlockHeader[];
  /** The block was made elsewhere, and was final on arrival. */
  readonly imported?: boolean;
  /** Which parts were removed to keep within the storage budget. They are empty here. */
  readonly pruned?: Pruned;
}

/** Parts removed from a stored block: its state changes, or its body as well. */
export type Pruned = 'changes' | 'body';

type Item = Uint8Array | Item[];

const PRUNED: readonly Pruned[] = ['changes', 'body'];
const NOTHING = new Uint8Array(0);
const flag = (value: boolean) => Uint8Array.of(value ? 1 : 0);
const int = (value: bigint | number) => bigIntToMinimalBytes(BigInt(value));

/** Builds a block from its parts, with hash and size. @param edits - the block begins with */
export function blockWithHash(
  body: BlockBody & { readonly transactions: readonly SignedTransaction[] },
  edits: readonly StateEdit[] = [],
): Block {
  const { header, transactions, uncles, withdrawals } = body;
  return {
    header,
    hash: headerHash(header),
    transactions,
    ...(uncles.length > 0 && { uncles: uncles.map(headerHash) }),
    ...(withdrawals.length > 0 && { withdrawals }),
    ...(edits.length > 0 && { edits }),
    size: blockBytes(body).length,
  };
}

/** The record without the pruned parts. */
export function pruneRecord(record: BlockRecord, pruned: Pruned): BlockRecord {
  const { block, imported, zkRoot } = record;
  const kept = { zkRoot, changes: [], pruned, ...(imported === true && { imported }) };
  if (pruned === 'changes') {
    // Without the state before the block its edits are of no use.
    const { edits: _, ...unedited } = block;
    const { receipts, uncles } = record;
    return { ...kept, block: unedited, receipts, ...(uncles !== undefined && { uncles }) };
  }
  return { ...kept, block: { header: block.header, hash: block.hash, transactions: [], size: 0 }, receipts: [] };
}

/** Encodes a record for the store: RLP and checksum. */
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
  // Recovering a sender would take longer than all other decoding of the record.
  const raws = record.block.transactions.map((tx): Item => [tx.raw, tx.from, flag(tx.impersonated === true)]);
  const { header, withdrawals = [], edits } = record.block;
  const { pruned } = record;
  const encoded = encodeRlp([
    int(pruned !== undefined ? PRUNED_FORMAT : edits === undefined ? FORMAT : EDITED_FORMAT),
    headerFields(header),
    raws,
    receipts,
    encodeChanges(record.changes),
    record.zkRoot,
    (record.uncles ?? []).map(headerFields),
    withdrawals.map(withdrawalFields),
    // The hash instead of a flag, so that one damaged byte cannot change it.
    record.imported === true ? record.block.hash : NOTHING,
    ...(pruned !== undefined ? [int(PRUNED.indexOf(pruned) + 1)] : edits === undefined ? [] : [editItems(edits)]),
  ]);
  return concatBytes(encoded, recordChecksum(encoded));
}

/**
 * @param bytes - after `loadForRecord`
 * @param chainId - chain id of the devnet
 * @throws PlumblineError `STORE_CORRUPT` if the bytes are not a valid record
 */
export function decodeBlockRecord(bytes: Uint8Array, chainId: number): BlockRecord {
  return orStoreCorrupt(() => {
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
      // Decoded on first use: rarely needed, and genesis may change very many accounts.
      get changes() {
        changes ??= changesIn(bytes, parts);
        return changes;
      },
      zkRoot: copyBytes(contentOf(bytes, parts.zkRoot)),
      ...(uncles.length > 0 && {
        uncles: uncles.map((part) => headerFromFields(RLP.decode(encodingOf(bytes, part)) as Uint8Array[])),
      }),
      ...(isImported(bytes, parts, block.hash) && { imported: true }),
      ...(pruned !== undefined && { pruned }),
    };
  });
}

/** Number of accounts in one chunk of a block's changes. */
const CHUNK_ACCOUNTS = 2048;

/**
 * Decodes only the changes of a record, in chunks, because genesis may change very many accounts.
 *
 * @throws PlumblineError `STORE_CORRUPT`; for a chunk that cannot be decoded, when it is reached
 */
export function decodeRecordChanges(bytes: Uint8Array): Iterable<readonly AccountChange[]> {
  return orStoreCorrupt(() => changeChunks(bytes, recordParts(bytes)));
}

function* changeChunks(bytes: Uint8Array, { changes }: RecordParts): Generator<readonly AccountChange[]> {
  const parts = orStoreCorrupt(() =>
    partsOf(bytes, changes.isList ? changes : partAt(bytes, changes.from, changes.to)),
  );
  for (let at = 0; at < parts.length; at += CHUNK_ACCOUNTS) {
    const chunk = parts.slice(at, at + CHUNK_ACCOUNTS);
    yield orStoreCorrupt(() => decodeChanges(chunk.map((part) => RLP.decode(encodingOf(bytes, part)) as Item[])));
  }
}

function changesIn(bytes: Uint8Array, { changes }: RecordParts): readonly AccountChange[] {
  return decodeChanges(
    changes.isList ? (RLP.decode(encodingOf(bytes, changes)) as Item[][]) : contentOf(bytes, changes),
  );
}

/** The parts that were pruned from a record; undefined if none were. @throws Error */
export function prunedKind(bytes: Uint8Array, { pruned }: RecordParts): Pruned | undefined {
  if (pruned === undefined) return undefined;
  const kind = PRUNED[Number(bytesToBigInt(contentOf(bytes, pruned))) - 1];
  if (kind === undefined) throw new Error('the kind of pruning is unknown');
  return kind;
}

/** Whether the block with this hash was imported. @throws Error */
export function isImported(bytes: Uint8Array, { imported }: RecordParts, hash: Uint8Array): boolean {
  if (imported === undefined || imported.from === imported.to) return false;
  if (!equalBytes(contentOf(bytes, imported), hash))
    throw new Error('the hash that marks an import is not the hash of this block');
  return true;
}
