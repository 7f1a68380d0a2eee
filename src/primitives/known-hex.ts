import { copyBytes } from './bytes.js';
import { bytesToHex, type Hex } from './hex.js';

/** Texts that were made, by some bits of their last bytes. */
const KNOWN = new Array<{ readonly bytes: Uint8Array; readonly text: Hex } | undefined>(512);

/**
 * As `bytesToHex`, for bytes that often come again, such as the addresses and topics of one transaction: a text is made and held
 * once.
 *
 * @param start - of the first of `length` bytes, at least 4
 */
export function knownHex(bytes: Uint8Array, start = 0, length: number = bytes.length): Hex {
  const end = start + length;
  const place = (bytes[end - 1]! ^ (bytes[end - 2]! << 3) ^ (bytes[start]! << 5) ^ bytes[start + 3]!) & 511;
  const known = KNOWN[place];
  if (known !== undefined && known.bytes.length === length) {
    let i = 0;
    while (i < length && known.bytes[i] === bytes[start + i]) i++;
    if (i === length) return known.text;
  }
  const copy = copyBytes(bytes, start, end);
  const text = bytesToHex(copy);
  KNOWN[place] = { bytes: copy, text };
  return text;
}
