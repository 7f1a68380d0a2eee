import { bigIntToMinimalBytes } from '../../../primitives/bytes.js';

/** An item of RLP where it stands among others: it begins at `at`, its content at `from`, and both end before `to`. */
export interface RlpPart {
  readonly isList: boolean;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

const STRING = 0x80;
const LIST = 0xc0;
/** Longest content whose length is in the prefix. */
const SHORT = 55;

/**
 * The item that begins at an offset. Nothing in it is looked at.
 *
 * @param end - it has to end by then
 * @throws Error where there is none, or it ends later
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
  if (!(to <= end)) throw new Error('an item is longer than what holds it');
  return { isList, at, from, to };
}

/** The items that follow each other from an offset to another. @throws Error as `partAt` */
export function partsBetween(bytes: Uint8Array, from: number, to: number): RlpPart[] {
  const parts: RlpPart[] = [];
  for (let at = from; at < to; at = parts.at(-1)!.to) parts.push(partAt(bytes, at, to));
  return parts;
}

/** The items of a list. @throws Error for what is none; as `partAt` */
export function partsOf(bytes: Uint8Array, { isList, from, to }: RlpPart): RlpPart[] {
  if (!isList) throw new Error('an item is no list');
  return partsBetween(bytes, from, to);
}

/** Content of an item, not copied. */
export function contentOf(bytes: Uint8Array, { from, to }: RlpPart): Uint8Array {
  return bytes.subarray(from, to);
}

/** Bytes of an item with its prefix, not copied. */
export function encodingOf(bytes: Uint8Array, { at, to }: RlpPart): Uint8Array {
  return bytes.subarray(at, to);
}

/**
 * A list of encoded items. `RLP.encode` hands all items of a list to one call as its arguments, which overflows the stack
 * of a browser's worker when there are some ten thousand.
 */
export function encodedList(items: readonly Uint8Array[]): Uint8Array {
  const length = items.reduce((sum, item) => sum + item.length, 0);
  const digits = length > SHORT ? bigIntToMinimalBytes(BigInt(length)) : new Uint8Array(0);
  const encoded = new Uint8Array(1 + digits.length + length);
  encoded[0] = LIST + (length > SHORT ? SHORT + digits.length : length);
  encoded.set(digits, 1);
  let at = 1 + digits.length;
  for (const item of items) {
    encoded.set(item, at);
    at += item.length;
  }
  return encoded;
}
