import { bigIntToMinimalBytes } from './bytes.js';

const LIST = 0xc0;
/** Longest content whose length is in the prefix. */
const SHORT = 55;

/**
 * RLP of a list whose items are encoded already. `RLP.encode` takes no encoded items, and spreads all items into the arguments
 * of one call, which overflows the stack of a browser's worker with about ten thousand of them.
 *
 * @source Ethereum Yellow Paper, appendix B
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
