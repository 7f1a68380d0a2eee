/** Hex as in JSON-RPC: `0x` and digits. */
export type Hex = `0x${string}`;

const DIGITS = '0123456789abcdef';

/** Pairs of ASCII characters in memory order, each written as 16 bits: `0x`, and the digits of each byte. */
const PREFIX = pairsOf(Uint8Array.of(0x30, 0x78))[0]!;
const PAIRS = pairsOf(
  Uint8Array.from({ length: 512 }, (_, i) => DIGITS.charCodeAt(i % 2 === 0 ? i >> 5 : (i >> 1) & 15)),
);
const DECODER = new TextDecoder();
/** Up to this many bytes, digits are written to one buffer that is used again: words, addresses, nodes of proofs. */
const SHARED_BYTES = 256;
const SHARED = new Uint16Array(SHARED_BYTES + 1);
/** The part of it that a text of so many bytes takes. */
const PARTS = new Array<Uint8Array | undefined>(SHARED_BYTES + 1);

function pairsOf(ascii: Uint8Array<ArrayBuffer>): Uint16Array {
  return new Uint16Array(ascii.buffer);
}

/**
 * Writes what `bytesToHex` gives for a part of `bytes`.
 *
 * @param pairs - pairs of ASCII characters in memory order, with room for one and `length` more
 * @param at - where the first pair goes
 */
export function writeHex(bytes: Uint8Array, start: number, length: number, pairs: Uint16Array, at: number): void {
  pairs[at] = PREFIX;
  for (let i = 0; i < length; i++) pairs[at + 1 + i] = PAIRS[bytes[start + i]!]!;
}

/**
 * Lower-case hex of `bytes`, with `0x`.
 *
 * @example
 * ```ts
 * import { bytesToHex } from 'plumbline-l2/verify';
 *
 * bytesToHex(Uint8Array.of(1, 2)); // => '0x0102'
 * ```
 */
export function bytesToHex(bytes: Uint8Array): Hex {
  const { length } = bytes;
  const isShort = length <= SHARED_BYTES;
  const pairs = isShort ? SHARED : new Uint16Array(length + 1);
  writeHex(bytes, 0, length, pairs, 0);
  let part = isShort ? PARTS[length] : undefined;
  if (part === undefined) {
    part = new Uint8Array(pairs.buffer, 0, 2 * length + 2);
    if (isShort) PARTS[length] = part;
  }
  // One flat string. Joining strings makes a tree of them: more work for the collector than the digits themselves.
  return DECODER.decode(part) as Hex;
}
