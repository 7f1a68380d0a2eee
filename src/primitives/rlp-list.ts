import { bigIntToMinimalBytes } from './bytes.js';

const BYTES = 0x80;
const LIST = 0xc0;
/** Longest content whose length is in the prefix. */
const SHORT = 55;

/** What RLP encodes: bytes, or a list. */
type RlpItem = Uint8Array | readonly RlpItem[];

/**
 * RLP of an item, for lists that grow with data. `RLP.encode` spreads the items of a list into the arguments of one call, which
 * overflows the stack of a browser's worker with about ten thousand of them.
 *
 * @source Ethereum Yellow Paper, appendix B
 */
export function encodeRlp(item: RlpItem): Uint8Array {
  if (!(item instanceof Uint8Array)) return encodedList(item.map(encodeRlp));
  return item.length === 1 && item[0]! < BYTES ? item : prefixed(BYTES, [item]);
}

/** As `encodeRlp`, of a list whose items are encoded already. */
export function encodedList(items: readonly Uint8Array[]): Uint8Array {
  return prefixed(LIST, items);
}

function prefixed(kind: number, items: readonly Uint8Array[]): Uint8Array {
  const length = items.reduce((sum, item) => sum + item.length, 0);
  const digits = length > SHORT ? bigIntToMinimalBytes(BigInt(length)) : new Uint8Array(0);
  const encoded = new Uint8Array(1 + digits.length + length);
  encoded[0] = kind + (length > SHORT ? SHORT + digits.length : length);
  encoded.set(digits, 1);
  let at = 1 + digits.length;
  for (const item of items) {
    encoded.set(item, at);
    at += item.length;
  }
  return encoded;
}
