import { sha256 } from '@noble/hashes/sha2.js';
import { isPlumblineError, messageOf, PlumblineError } from '../../../errors.js';
import { bytesToBigInt, equalBytes } from '../../../primitives/bytes.js';
import { contentOf, partAt, partsOf, type RlpPart } from './rlp-parts.js';

/**
 * Records of format 1 end after the zk root, and their receipts after the logs. Up to format 2 senders are not stored, the
 * changes are not RLP of their own, and there is no checksum. Format 4 is that of pruned ones, and says at its end of which
 * kind.
 */
export const FORMAT = 3;
/** Format of the records of pruned blocks. */
export const PRUNED_FORMAT = 4;
const FORMATS = [1, 2, 3, 4];
const FIRST_SEALED_FORMAT = 3;
const CHECKSUM_BYTES = 8;

/** Where the parts of a block stand in bytes. */
export interface ContentParts {
  readonly header: RlpPart;
  /** Of each transaction its bytes alone, or a list of its bytes, its sender, and a mark where nobody signed it. */
  readonly transactions: RlpPart;
  readonly receipts: RlpPart;
  /** Records of format 1 have neither these nor the next. */
  readonly uncles: RlpPart | undefined;
  readonly withdrawals: RlpPart | undefined;
}

/** Where the parts of a block record stand in its bytes. */
export interface RecordParts extends ContentParts {
  /** It has a checksum, which fits; damage of others is found as they are decoded. */
  readonly isSealed: boolean;
  readonly changes: RlpPart;
  readonly zkRoot: RlpPart;
  /** Empty, or the block's hash where it was imported. */
  readonly imported: RlpPart | undefined;
  /** One byte, what was pruned. */
  readonly pruned: RlpPart | undefined;
}

/** What stands behind the list of a record. */
export function recordChecksum(encoded: Uint8Array): Uint8Array {
  return sha256(encoded).subarray(0, CHECKSUM_BYTES);
}

/** The parts of a record, after its checksum has been compared. @throws Error for what is no record */
export function recordParts(bytes: Uint8Array): RecordParts {
  const list = partAt(bytes, 0);
  const first = partAt(bytes, list.from, list.to);
  const format = Number(bytesToBigInt(contentOf(bytes, first)));
  const isSealed = format >= FIRST_SEALED_FORMAT;
  const expected = isSealed ? recordChecksum(bytes.subarray(0, list.to)) : new Uint8Array(0);
  if (!equalBytes(bytes.subarray(list.to), expected)) throw new Error('the checksum does not fit');
  if (!FORMATS.includes(format)) throw new Error('unknown format');
  const parts = partsOf(bytes, list);
  const [, header, transactions, receipts, changes, zkRoot, uncles, withdrawals, imported, pruned] = parts;
  if (zkRoot === undefined) throw new Error('the record is too short');
  return {
    isSealed,
    header: header!,
    transactions: transactions!,
    receipts: receipts!,
    changes: changes!,
    zkRoot,
    uncles,
    withdrawals,
    imported,
    pruned,
  };
}

/** What the work gives back. @throws PlumblineError `STORE_CORRUPT` for whatever it throws */
export function orCorrupt<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (isPlumblineError(cause, 'STORE_CORRUPT')) throw cause;
    const reason = messageOf(cause);
    const details = { table: 'blocks', reason };
    throw new PlumblineError('STORE_CORRUPT', `a stored block does not decode: ${reason}`, details, { cause });
  }
}
