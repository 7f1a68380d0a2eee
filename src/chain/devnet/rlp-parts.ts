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
