import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToBigInt, concatBytes, equalBytes } from '../../../primitives/bytes.js';
import { blockContents, type LazyBlockContents, transactionHashes } from './block-contents.js';
import { decodeBlockRecord, encodeBlockRecord, isImported, type Pruned, prunedKind } from './block-record.js';
import { orCorrupt, recordParts } from './record-parts.js';
import { contentOf, encodingOf, partsBetween, partsOf, type RlpPart } from './rlp-parts.js';

/** What opening needs of a stored block; the rest is not decoded before somebody asks for it. */
export interface StoredBlock {
  readonly number: number;
  /** Seconds. */
  readonly timestamp: number;
  /** 32 bytes, as the next two. */
  readonly hash: Uint8Array;
  readonly parentHash: Uint8Array;
  readonly zkRoot: Uint8Array;
  /** 32 bytes each. */
  readonly transactionHashes: readonly Uint8Array[];
  readonly imported: boolean;
  readonly pruned: Pruned | undefined;
  /** The block with its receipts, for `readKept`. */
  readonly kept: Uint8Array;
}

const EMPTY_LIST = Uint8Array.of(0xc0);
/** Places of header fields. */
const PARENT_HASH = 0;
const NUMBER = 8;
const TIMESTAMP = 11;

/**
 * Reads as little of a record as opening needs, once its checksum fits. Records of a format without one are decoded as a
 * whole.
 *
 * @param chainId - of the devnet the record belongs to
 * @param check - decode those with a checksum too
 * @throws PlumblineError `STORE_CORRUPT`
 */
export function readStoredBlock(bytes: Uint8Array, chainId: number, check: 'sampled' | 'full'): StoredBlock {
  return orCorrupt(() => {
    const parts = recordParts(bytes);
    const decoded = check === 'full' || !parts.isSealed ? decodeBlockRecord(bytes, chainId) : undefined;
    if (decoded !== undefined && !parts.isSealed)
      return readStoredBlock(encodeBlockRecord(decoded), chainId, 'sampled');
    const hash = keccak_256(encodingOf(bytes, parts.header));
    if (decoded !== undefined && !equalBytes(decoded.block.hash, hash))
      throw new Error('the header is not as it is hashed');
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
      zkRoot: contentOf(bytes, parts.zkRoot).slice(),
      transactionHashes: transactionHashes(bytes, parts.transactions),
      imported: isImported(bytes, parts, hash),
      pruned: prunedKind(bytes, parts),
      kept: concatBytes(
        encoding(parts.header),
        encoding(parts.transactions),
        encoding(parts.receipts),
        encoding(parts.uncles),
        encoding(parts.withdrawals),
      ),
    };
  });
}

/** The block that was kept. @throws PlumblineError `STORE_CORRUPT`, be it later, as the block is looked into */
export function readKept(kept: Uint8Array, chainId: number): LazyBlockContents {
  return orCorrupt(() => {
    const [header, transactions, receipts, uncles, withdrawals] = partsBetween(kept, 0, kept.length);
    const parts = { header: header!, transactions: transactions!, receipts: receipts!, uncles, withdrawals };
    return blockContents(kept, parts, chainId);
  });
}

/** Hashes of the transactions that were kept, 32 bytes each. */
export function hashesOfKept(kept: Uint8Array): Uint8Array[] {
  const [, transactions] = partsBetween(kept, 0, kept.length);
  return transactionHashes(kept, transactions!);
}
