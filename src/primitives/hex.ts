import { PlumblineError } from '../errors.js';

// A file of its own: a bundler leaves it out where nothing is encoded.
export { bytesToHex, type Hex, writeHex } from './bytes-to-hex.js';

/** `Uint8Array.fromHex` (no prefix), if the engine has it, and the length from which it is faster. */
const { fromHex } = Uint8Array as unknown as { fromHex?: (digits: string) => Uint8Array<ArrayBuffer> };
const NATIVE_FROM = 256;

/** Value of each ASCII digit, -1 for others. A table avoids a branch per digit: proofs are mostly hex. */
const NIBBLES = Int8Array.from({ length: 128 }, (_, code) => {
  return '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase());
});

/**
 * Decodes strict hex: `0x`, then an even number of digits of either case.
 *
 * @param length - required number of bytes; any if left out
 * @throws PlumblineError `INVALID_HEX` for anything else, `INVALID_LENGTH` for another number of bytes
 *
 * @example
 * ```ts
 * import { hexToBytes } from 'plumbline-l2/verify';
 *
 * hexToBytes('0x0102'); // => Uint8Array.of(1, 2)
 * ```
 */
export function hexToBytes(text: string, length?: number): Uint8Array<ArrayBuffer> {
  if (typeof text !== 'string' || !text.startsWith('0x')) throw invalid(text, 'does not start with 0x');
  if (text.length % 2 !== 0) throw invalid(text, 'has an odd number of digits');
  const size = (text.length - 2) / 2;
  if (length !== undefined && size !== length) {
    throw new PlumblineError('INVALID_LENGTH', `expected ${length} bytes, got ${size}`, {
      what: 'hex',
      expected: String(length),
      actual: size,
    });
  }
  if (fromHex !== undefined && size >= NATIVE_FROM) return nativeBytes(text, fromHex);
  const bytes = new Uint8Array(size);
  // Becomes negative when a character is not a digit, or not ASCII.
  let flags = 0;
  for (let i = 0, at = 2; i < size; i++, at += 2) {
    const first = text.charCodeAt(at);
    const second = text.charCodeAt(at + 1);
    const high = NIBBLES[first & 127]!;
    const low = NIBBLES[second & 127]!;
    flags |= high | low | (127 - (first | second));
    bytes[i] = high * 16 + low;
  }
  if (flags < 0) throw noDigit(text);
  return bytes;
}

/** Kernel and dictionary are decoded once, before the code is optimized: this saves 20 ms of a page's start. */
function nativeBytes(text: string, decode: NonNullable<typeof fromHex>): Uint8Array<ArrayBuffer> {
  try {
    return decode.call(Uint8Array, text.slice(2));
  } catch (error) {
    throw error instanceof SyntaxError ? noDigit(text) : error;
  }
}

const noDigit = (text: string) => invalid(text, 'has a character that is not a hex digit');

function invalid(text: unknown, reason: string): PlumblineError<'INVALID_HEX'> {
  const value = String(text).slice(0, 80);
  return new PlumblineError('INVALID_HEX', `invalid hex: ${reason}`, { value, reason });
}
