import { PlumblineError } from '../errors.js';

/** 32 zero bytes: a slot that was never written, a hash of nothing. Shared: not to be written to. */
export const ZERO_WORD: Uint8Array = new Uint8Array(32);
/** 20 zero bytes, on the same terms. */
export const ZERO_ADDRESS: Uint8Array = new Uint8Array(20);

/** The parts laid end to end. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Whether both are the same bytes, in length too. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Unsigned byte-wise order, shorter first when one is the start of the other: negative, zero or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Whether no byte is other than zero; none at all counts. */
export function isZeroBytes(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Bytes that a number holds exactly: arithmetic on bigints is slow, so they are handled in pieces of this size. */
const CHUNK = 6;

/** Big-endian unsigned integer; empty bytes are zero. */
export function bytesToBigInt(bytes: Uint8Array): bigint {
  const { length } = bytes;
  let at = 0;
  while (at < length && bytes[at] === 0) at++;
  let value = 0n;
  for (let size = (length - at) % CHUNK || CHUNK; at < length; size = CHUNK) {
    let chunk = 0;
    for (const end = at + size; at < end; at++) chunk = chunk * 256 + bytes[at]!;
    value = value === 0n ? BigInt(chunk) : (value << 48n) | BigInt(chunk);
  }
  return value;
}

/**
 * Big-endian bytes of fixed length.
 *
 * @throws PlumblineError `OUT_OF_RANGE` for a negative value or one that needs more than `length` bytes
 */
export function bigIntToBytes(value: bigint, length: number): Uint8Array {
  if (value < 0n || value >> BigInt(8 * length) !== 0n) {
    throw new PlumblineError('OUT_OF_RANGE', `integer does not fit ${length} bytes`, {
      what: 'integer',
      value: value.toString(),
      limit: `${length} bytes`,
    });
  }
  const bytes = new Uint8Array(length);
  let rest = value;
  for (let end = length; rest !== 0n; end -= CHUNK, rest >>= 48n) {
    // An element takes the low eight bits of what it is set to.
    for (let chunk = Number(BigInt.asUintN(48, rest)), i = end - 1; chunk > 0; i--) {
      bytes[i] = chunk;
      chunk = Math.floor(chunk / 256);
    }
  }
  return bytes;
}

/** Big-endian bytes without leading zeros; zero is empty. The form RLP wants of integers. */
export function bigIntToMinimalBytes(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array(0);
  const digits = value.toString(16);
  return bigIntToBytes(value, (digits.length + 1) >> 1);
}

/** @throws PlumblineError `INVALID_LENGTH` for another number of bytes */
export function requireLength(what: string, bytes: Uint8Array, expected: number): void {
  if (bytes.length === expected) return;
  const message = `${what}: expected ${expected} bytes, got ${bytes.length}`;
  throw new PlumblineError('INVALID_LENGTH', message, { what, expected: String(expected), actual: bytes.length });
}

/** `bytes` with zero bytes in front, up to `length`. @throws PlumblineError `INVALID_LENGTH` if longer already */
export function padStart(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length > length) {
    throw new PlumblineError('INVALID_LENGTH', `expected at most ${length} bytes, got ${bytes.length}`, {
      what: 'bytes',
      expected: `at most ${length}`,
      actual: bytes.length,
    });
  }
  const padded = new Uint8Array(length);
  padded.set(bytes, length - bytes.length);
  return padded;
}

/**
 * Text that stands for bytes as the key of a map: a character for each byte, in one piece. Hex that was put together from its
 * digits takes 32 bytes for each of them until somebody reads it.
 *
 * @param bytes - short ones, such as hashes
 */
export function bytesToKey(bytes: Uint8Array): string {
  // Spread into the arguments they take five times as long. `apply` takes whatever is like an array; its type does not say so.
  return String.fromCharCode.apply(undefined, bytes as unknown as number[]);
}

/** The bytes that a key of `bytesToKey` stands for. */
export function keyToBytes(key: string): Uint8Array {
  return Uint8Array.from(key, (character) => character.charCodeAt(0));
}
