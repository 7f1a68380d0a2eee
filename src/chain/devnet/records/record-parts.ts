import { RLP } from '@ethereumjs/rlp';
import { sha256 } from '@noble/hashes/sha2.js';
import { isPlumblineError, messageOf, PlumblineError } from '../../../errors.js';
import { loadSignerRecovery } from '../../../ethereum/signer.js';
import type { AccountChange } from '../../../evm/state-overlay.js';
import type { Account } from '../../../evm/state-reader.js';
import { bigIntToMinimalBytes, bytesToBigInt, equalBytes } from '../../../primitives/bytes.js';
import { encodedList } from '../../../primitives/rlp-list.js';

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

/** Position of an RLP item: offsets of its prefix (`at`), of its content (`from`), and of its end (`to`, exclusive). */
export interface RlpPart {
  readonly isList: boolean;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

const STRING = 0x80;
const LIST = 0xc0;
/** Maximum length of content whose length is in the prefix. */
const SHORT = 55;

/**
 * The item that begins at an offset. Its content is not decoded.
 *
 * @param end - maximum offset of its end
 * @throws Error if there is no item, or it ends later
 */
export function partAt(bytes: Uint8Array, at: number, end = bytes.length): RlpPart {
  if (at >= end) throw new Error('an item is missing');
  const prefix = bytes[at]!;
  const isList = prefix >= LIST;
  if (prefix < STRING) return { isList, at, from: at, to: at + 1 };
  let from = at + 1;
  let length = prefix - (isList ? LIST : STRING);
  if (length > SHORT) {
    const digits = length - SHORT;
    length = 0;
    for (let i = 0; i < digits; i++) length = length * 256 + (bytes[from++] ?? Number.NaN);
  }
  const to = from + length;
  if (!(to <= end)) throw new Error('an item is longer than its list');
  return { isList, at, from, to };
}

/** The items between two offsets. @throws Error as `partAt` */
export function partsBetween(bytes: Uint8Array, from: number, to: number): RlpPart[] {
  const parts: RlpPart[] = [];
  for (let at = from; at < to; at = parts.at(-1)!.to) parts.push(partAt(bytes, at, to));
  return parts;
}

/** The items of a list. @throws Error if it is not a list, and as `partAt` */
export function partsOf(bytes: Uint8Array, { isList, from, to }: RlpPart): RlpPart[] {
  if (!isList) throw new Error('an item is not a list');
  return partsBetween(bytes, from, to);
}

/** Content of an item, as a view. */
export function contentOf(bytes: Uint8Array, { from, to }: RlpPart): Uint8Array {
  return bytes.subarray(from, to);
}

/** An item with its prefix, as a view. */
export function encodingOf(bytes: Uint8Array, { at, to }: RlpPart): Uint8Array {
  return bytes.subarray(at, to);
}

type Item = Uint8Array | Item[];

const account = (value: Account | undefined): Item[] =>
  value === undefined ? [] : [bigIntToMinimalBytes(value.nonce), bigIntToMinimalBytes(value.balance), value.codeHash];

/** Encodes the changes of a block as RLP. */
export function encodeChanges(changes: readonly AccountChange[]): Uint8Array {
  return encodedList(
    changes.map((change) =>
      encodedList([
        ...[
          change.address,
          account(change.before),
          account(change.after),
          Uint8Array.of(change.destroyed ? 1 : 0),
          change.code === undefined ? [] : [change.code],
        ].map((item) => RLP.encode(item)),
        encodedList(change.slots.map(({ key, before, after }) => RLP.encode([key, before, after]))),
      ]),
    ),
  );
}

/** @param encoded - RLP, or its decoded items, as in block records up to format 2 */
export function decodeChanges(encoded: Uint8Array | Item[][]): AccountChange[] {
  return (encoded instanceof Uint8Array ? (RLP.decode(encoded) as Item[][]) : encoded).map(parseChange);
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
