import { keccak256 } from '../../../kernel/keccak.js';
import { bytesToBigInt, concatBytes, copyBytes, equalBytes } from '../../../primitives/bytes.js';
import { blockContents, type LazyBlockContents, transactionHashes } from './block-contents.js';
import { decodeBlockRecord, encodeBlockRecord, isImported, type Pruned, prunedKind } from './block-record.js';
import {
  contentOf,
  encodingOf,
  orStoreCorrupt,
  partAt,
  partsBetween,
  partsOf,
  type RlpPart,
  recordParts,
} from './record-parts.js';

/** The fields of a stored block that opening needs. The rest is decoded on first use. */
export interface StoredBlock {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
  /** 32 bytes, like the next two. */
  readonly hash: Uint8Array;
  readonly parentHash: Uint8Array;
  readonly zkRoot: Uint8Array;
  /** 32 bytes each. */
  readonly transactionHashes: readonly Uint8Array[];
  readonly imported: boolean;
  readonly pruned: Pruned | undefined;
  /** Block and receipts, for `readContents`. */
  readonly contents: Uint8Array;
}

const EMPTY_LIST = Uint8Array.of(0xc0);
/** Indexes of header fields. */
const PARENT_HASH = 0;
const BLOOM = 6;
const NUMBER = 8;
const TIMESTAMP = 11;

/**
 * Decodes the fields that opening needs, after the checksum matched. Records of a format without checksum are decoded
 * in full.
 *
 * @param bytes - after `loadForRecord`
 * @param chainId - chain id of the devnet
 * @param check - `full` also decodes records with a checksum in full
 * @throws PlumblineError `STORE_CORRUPT`
 */
export function readStoredBlock(bytes: Uint8Array, chainId: number, check: 'sampled' | 'full'): StoredBlock {
  return orStoreCorrupt(() => {
    const parts = recordParts(bytes);
    const decoded = check === 'full' || !parts.hasChecksum ? decodeBlockRecord(bytes, chainId) : undefined;
    if (decoded !== undefined && !parts.hasChecksum)
      return readStoredBlock(encodeBlockRecord(decoded), chainId, 'sampled');
    const hash = keccak256(encodingOf(bytes, parts.header));
    if (decoded !== undefined && !equalBytes(decoded.block.hash, hash))
      throw new Error('the header is not in its canonical encoding');
    const fields = partsOf(bytes, parts.header);
    const field = (index: number) => {
      const part = fields[index];
      if (part === undefined) throw new Error('the header is too short');
      return contentOf(bytes, part);
    };
    const encoding = (part: RlpPart | undefined) => (part === undefined ? EMPTY_LIST : encodingOf(bytes, part));
    return {
      number: Number(bytesToBigInt(field(NUMBER))),
      timestamp: Number(bytesToBigInt(field(TIMESTAMP))),
      hash,
      parentHash: field(PARENT_HASH),
      zkRoot: copyBytes(contentOf(bytes, parts.zkRoot)),
      transactionHashes: transactionHashes(bytes, parts.transactions),
      imported: isImported(bytes, parts, hash),
      pruned: prunedKind(bytes, parts),
      contents: concatBytes(
        encoding(parts.header),
        encoding(parts.transactions),
        encoding(parts.receipts),
        encoding(parts.uncles),
        encoding(parts.withdrawals),
        encoding(parts.edits),
      ),
    };
  });
}

/** Reads `StoredBlock.contents`. @throws PlumblineError `STORE_CORRUPT`, also later when a part is decoded */
export function readContents(contents: Uint8Array, chainId: number): LazyBlockContents {
  return orStoreCorrupt(() => {
    const [header, transactions, receipts, uncles, withdrawals, edits] = partsBetween(contents, 0, contents.length);
    const parts = { header: header!, transactions: transactions!, receipts: receipts!, uncles, withdrawals, edits };
    return blockContents(contents, parts, chainId);
  });
}

/** Bloom of the block in `StoredBlock.contents`, 256 bytes, as a view. @throws PlumblineError `STORE_CORRUPT` */
export function storedBloom(contents: Uint8Array): Uint8Array {
  return orStoreCorrupt(() => {
    const header = partAt(contents, 0);
    let { from } = header;
    for (let i = 0; i < BLOOM; i++) from = partAt(contents, from, header.to).to;
    return contentOf(contents, partAt(contents, from, header.to));
  });
}

/** Transaction hashes in `StoredBlock.contents`, 32 bytes each. */
export function storedTransactionHashes(contents: Uint8Array): Uint8Array[] {
  const [, transactions] = partsBetween(contents, 0, contents.length);
  return transactionHashes(contents, transactions!);
}
