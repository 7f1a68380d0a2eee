/** What RLP encodes: bytes, or a list. */
export type RlpItem = Uint8Array | readonly RlpItem[];

const STRING = 0x80;
const LIST = 0xc0;
/** Longest content whose length is in the prefix. */
const SHORT = 55;

/**
 * RLP of an item, written into one array. `RLP.encode` of `@ethereumjs/rlp` makes several for each item, by way of hex: in a
 * block of one transfer that was a sixth of all the memory that was allocated.
 *
 * @source Ethereum Yellow Paper, appendix B
 */
export function encodeRlp(item: RlpItem): Uint8Array {
  const bytes = new Uint8Array(rlpLength(item));
  writeItem(item, bytes, bytes.length);
  return bytes;
}

/** RLP of a list whose items are encoded already. */
export function encodedList(items: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const item of items) length += item.length;
  const bytes = new Uint8Array(rlpListLength(length));
  let at = bytes.length - length;
  writePrefix(LIST, length, bytes, at);
  for (const item of items) {
    bytes.set(item, at);
    at += item.length;
  }
  return bytes;
}

/** Length of the RLP of an item in bytes. */
export function rlpLength(item: RlpItem): number {
  if (item instanceof Uint8Array) return isOwnEncoding(item) ? 1 : rlpListLength(item.length);
  let content = 0;
  for (const part of item) content += rlpLength(part);
  return rlpListLength(content);
}

/** Length of an RLP list in bytes, prefix included. @param content - length of its encoded items in bytes */
export function rlpListLength(content: number): number {
  let prefix = 1;
  for (let rest = content > SHORT ? content : 0; rest > 0; rest = Math.floor(rest / 256)) prefix++;
  return prefix + content;
}

/** Writes backwards, so that the length of a list is known once its prefix is written. @returns where the item begins */
function writeItem(item: RlpItem, bytes: Uint8Array, end: number): number {
  let at = end;
  if (item instanceof Uint8Array) {
    at -= item.length;
    bytes.set(item, at);
    return isOwnEncoding(item) ? at : writePrefix(STRING, item.length, bytes, at);
  }
  for (let i = item.length - 1; i >= 0; i--) at = writeItem(item[i]!, bytes, at);
  return writePrefix(LIST, end - at, bytes, at);
}

/** @param end - where the content begins. @returns where the prefix begins */
function writePrefix(kind: number, length: number, bytes: Uint8Array, end: number): number {
  let at = end;
  if (length <= SHORT) {
    bytes[--at] = kind + length;
    return at;
  }
  // Storing into the array keeps the lowest eight bits.
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes[--at] = rest;
  const digits = end - at;
  bytes[--at] = kind + SHORT + digits;
  return at;
}

function isOwnEncoding(bytes: Uint8Array): boolean {
  return bytes.length === 1 && bytes[0]! < STRING;
}
