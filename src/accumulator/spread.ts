import type { HashScheme } from '../kernel/contracts.js';
import { padStart } from '../primitives/bytes.js';

/**
 * Ethereum values in the form of hash inputs (docs/spec/hashing.md 3): poseidon2 writes every two bytes into a 4-byte
 * word; mimc splits values into 16-byte halves, one 32-byte block each.
 */

/** Every 2 bytes become the 4-byte word `00 00 xx yy`. The length of `bytes` must be even. */
function spreadWords(bytes: Uint8Array, into: Uint8Array, offset: number): void {
  for (let i = 0, at = offset; i < bytes.length; i += 2, at += 4) {
    into[at + 2] = bytes[i]!;
    into[at + 3] = bytes[i + 1]!;
  }
}

/** `int(n)`: a 32-byte big-endian integer, 32 bytes (mimc) or 64 (poseidon2). */
export function encodeInt(scheme: HashScheme, value: Uint8Array): Uint8Array {
  return scheme === 'mimc' ? value : encodeFull(scheme, value);
}

/** `full(v)`: 32 arbitrary bytes, 64 bytes in both schemes; for mimc the low half comes first. */
export function encodeFull(scheme: HashScheme, value: Uint8Array): Uint8Array {
  const encoded = new Uint8Array(64);
  if (scheme === 'mimc') {
    encoded.set(value.subarray(16, 32), 16);
    encoded.set(value.subarray(0, 16), 48);
  } else spreadWords(value, encoded, 0);
  return encoded;
}

/** An address of 20 bytes: 32 bytes (mimc) or 40 (poseidon2). */
export function encodeAddress(scheme: HashScheme, address: Uint8Array): Uint8Array {
  const encoded = new Uint8Array(scheme === 'mimc' ? 32 : 40);
  if (scheme === 'mimc') encoded.set(address, 12);
  else spreadWords(address, encoded, 0);
  return encoded;
}

/**
 * Byte code of any length. Poseidon2 spreads it; an odd last 16-byte chunk gets a leading zero byte. Mimc makes each
 * chunk a block, with leading zeros (docs/spec/hashing.md 3.1, 3.2). Empty stays empty.
 */
export function encodeCode(scheme: HashScheme, code: Uint8Array): Uint8Array {
  const lastAt = code.length - (code.length % 16);
  const last = code.subarray(lastAt);
  if (scheme === 'poseidon2') {
    const encoded = new Uint8Array(2 * lastAt + 4 * Math.ceil(last.length / 2));
    spreadWords(code.subarray(0, lastAt), encoded, 0);
    spreadWords(padStart(last, last.length + (last.length % 2)), encoded, 2 * lastAt);
    return encoded;
  }
  const encoded = new Uint8Array(32 * Math.ceil(code.length / 16));
  for (let at = 0; at < lastAt; at += 16) encoded.set(code.subarray(at, at + 16), 2 * at + 16);
  encoded.set(last, encoded.length - last.length);
  return encoded;
}
