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
