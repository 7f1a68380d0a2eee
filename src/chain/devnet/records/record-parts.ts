import { sha256 } from '@noble/hashes/sha2.js';
import { isPlumblineError, messageOf, PlumblineError } from '../../../errors.js';
import { loadSignerRecovery } from '../../../ethereum/signer.js';
import { bytesToBigInt, equalBytes } from '../../../primitives/bytes.js';
import { contentOf, partAt, partsOf, type RlpPart } from './rlp-parts.js';

/**
 * Format of block records. Format 1 ends after the zk root, and its receipts end after the logs. Up to format 2 there
 * are no senders and no checksum, and the changes are part of the record's RLP. Format 4, of pruned blocks, ends with
 * the kind of pruning; format 5, of blocks that begin with edits of the state, ends with these.
 */
export const FORMAT = 3;
/** Format of the records of pruned blocks. */
export const PRUNED_FORMAT = 4;
/** Format of the records of blocks that begin with edits. */
export const EDITED_FORMAT = 5;
const FORMATS = [1, 2, 3, 4, 5];
const FIRST_FORMAT_WITH_CHECKSUM = 3;
const FIRST_FORMAT_WITH_SENDERS = 3;
const CHECKSUM_BYTES = 8;

/** Positions of a block's parts in the bytes. */
export interface ContentParts {
  readonly header: RlpPart;
  /** Each is the transaction's bytes, or a list of its bytes, its sender, and a flag set if it is unsigned. */
  readonly transactions: RlpPart;
  readonly receipts: RlpPart;
  /** In records of format 1, this and the next are absent. */
  readonly uncles: RlpPart | undefined;
  readonly withdrawals: RlpPart | undefined;
  /** As `editItems` gives them. */
  readonly edits: RlpPart | undefined;
}

/** Positions of the parts of a block record in its bytes. */
export interface RecordParts extends ContentParts {
  /** The record has a checksum, and it matches. Without one, damage is found when the record is decoded. */
  readonly hasChecksum: boolean;
  readonly changes: RlpPart;
  readonly zkRoot: RlpPart;
  /** Empty, or the block's hash if it was imported. */
  readonly imported: RlpPart | undefined;
  /** One byte: which parts were pruned. */
  readonly pruned: RlpPart | undefined;
}

/** Checksum that follows the RLP of a record, 8 bytes. */
export function recordChecksum(encoded: Uint8Array): Uint8Array {
  return sha256(encoded).subarray(0, CHECKSUM_BYTES);
}

function formatOf(bytes: Uint8Array): number {
  const list = partAt(bytes, 0);
  return Number(bytesToBigInt(contentOf(bytes, partAt(bytes, list.from, list.to))));
}

/**
 * Loads what the decoding of a record needs: formats without senders have them recovered.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 */
export async function loadForRecord(bytes: Uint8Array): Promise<void> {
  let format = FORMAT;
  try {
    format = formatOf(bytes);
  } catch {
    // The decoding says what is wrong.
  }
  if (format < FIRST_FORMAT_WITH_SENDERS) await loadSignerRecovery();
}

/** The parts of a record whose checksum matches. @throws Error if the bytes are not a record */
export function recordParts(bytes: Uint8Array): RecordParts {
  const list = partAt(bytes, 0);
  const format = formatOf(bytes);
  const hasChecksum = format >= FIRST_FORMAT_WITH_CHECKSUM;
  const expected = hasChecksum ? recordChecksum(bytes.subarray(0, list.to)) : new Uint8Array(0);
  if (!equalBytes(bytes.subarray(list.to), expected)) throw new Error('the checksum does not match');
  if (!FORMATS.includes(format)) throw new Error('the format is unknown');
  const parts = partsOf(bytes, list);
  const [, header, transactions, receipts, changes, zkRoot, uncles, withdrawals, imported, last] = parts;
  if (zkRoot === undefined) throw new Error('the record is too short');
  return {
    hasChecksum,
    header: header!,
    transactions: transactions!,
    receipts: receipts!,
    changes: changes!,
    zkRoot,
    uncles,
    withdrawals,
    imported,
    pruned: format === EDITED_FORMAT ? undefined : last,
    edits: format === EDITED_FORMAT ? last : undefined,
  };
}

/** Runs work. @throws PlumblineError `STORE_CORRUPT` for every error it throws */
export function orStoreCorrupt<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (isPlumblineError(cause, 'STORE_CORRUPT')) throw cause;
    const reason = messageOf(cause);
    const details = { table: 'blocks', reason };
    throw new PlumblineError('STORE_CORRUPT', `a stored block cannot be decoded: ${reason}`, details, { cause });
  }
}
