import { copyBytes } from './bytes.js';
import { bytesToHex, type Hex } from './hex.js';
import { toQuantity } from './quantity.js';

/** Numbers below this have a text that is held, as a quantity and as the three lowest digits of a larger number. */
const HELD = 4_096;
const QUANTITIES = new Array<Hex | undefined>(HELD);
const LOWEST = new Array<string | undefined>(HELD);

/** Of the last large number, all but its three lowest digits. The gas of one call is near that of the next. */
let high = 0;
let highText: Hex = '0x0';

/** As `toQuantity`, for many numbers: joining texts that are held takes less time than making the digits. */
export function quantityText(value: number | bigint): Hex {
  if (typeof value === 'bigint') return toQuantity(value);
  if (value < HELD) {
    QUANTITIES[value] ??= toQuantity(value);
    return QUANTITIES[value];
  }
  const rest = Math.floor(value / HELD);
  const last = value - HELD * rest;
  LOWEST[last] ??= last.toString(16).padStart(3, '0');
  const lowest = LOWEST[last];
  if (rest < HELD) return `${quantityText(rest)}${lowest}`;
  if (rest !== high) {
    highText = quantityText(rest);
    high = rest;
  }
  return `${highText}${lowest}`;
}

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
