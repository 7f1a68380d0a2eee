import { PlumblineError } from '../errors.js';

/** 32 zero bytes, such as an empty slot. Shared: must not be modified. */
export const ZERO_WORD: Uint8Array = new Uint8Array(32);
/** 20 zero bytes. Shared: must not be modified. */
export const ZERO_ADDRESS: Uint8Array = new Uint8Array(20);

/**
 * A copy of bytes, or of a part of them, as a plain array. `slice` of a `Buffer` of Node gives a view, so bytes that can be a
 * caller's are copied by this.
 */
export function copyBytes(bytes: Uint8Array, start = 0, end: number = bytes.length): Uint8Array {
  return new Uint8Array(bytes.subarray(start, end));
}

/** The same memory as a plain array, whose `slice` copies. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Concatenates byte arrays. A list that grows with data goes to `joinBytes`: arguments are on the stack. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return joinBytes(parts);
}

/** Concatenates a list of byte arrays. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
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

/** Bytes that come in parts, in one buffer: a part of one byte takes no more than its byte. */
export class GrowingBytes {
  private buffer = new Uint8Array(1024);
  private used = 0;

  get length(): number {
    return this.used;
  }

  push(part: Uint8Array): void {
    const needed = this.used + part.length;
    if (needed > this.buffer.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.buffer.length));
      larger.set(this.buffer.subarray(0, this.used));
      this.buffer = larger;
    }
    this.buffer.set(part, this.used);
    this.used = needed;
  }

  /** A copy of all of them. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.buffer.slice(0, this.used);
  }
}

/** Whether both have the same length and bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Compares as unsigned bytes; a prefix comes before the longer one. @returns negative, zero or positive */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Whether all bytes are zero; true for no bytes. */
export function isZeroBytes(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}

/**
 * Number of bytes that a number holds exactly. Arithmetic on bigints is slow, so they are processed in chunks of this
 * size.
 */
const CHUNK = 6;

/** Most integers of a block are at most this, which a number holds exactly, in `SMALL_BYTES`. */
const SMALL = 0x1fffffffffffffn;
const SMALL_BYTES = 7;

/** Writes a number up to 2^53 - 1 to the end of `bytes`, which are zero and have room for it. */
function writeSmall(bytes: Uint8Array, number: number): void {
  let rest = number;
  let at = bytes.length;
  for (; rest > 0xffffffff; rest = Math.floor(rest / 256)) bytes[--at] = rest % 256;
  // Storing into the array keeps the lowest eight bits.
  for (; rest > 0; rest >>>= 8) bytes[--at] = rest;
}

/** Decodes a big-endian unsigned integer; no bytes give zero. */
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
 * Encodes as big-endian bytes of fixed length.
 *
 * @throws PlumblineError `OUT_OF_RANGE` for a negative value, or one that needs more than `length` bytes
 */
export function bigIntToBytes(value: bigint, length: number): Uint8Array {
  if (value >= 0n && value <= SMALL && length >= SMALL_BYTES) {
    const bytes = new Uint8Array(length);
    writeSmall(bytes, Number(value));
    return bytes;
  }
  if (value < 0n || value >> BigInt(8 * length) !== 0n) {
    throw new PlumblineError('OUT_OF_RANGE', `the integer does not fit into ${length} bytes`, {
      what: 'integer',
      value: value.toString(),
      limit: `${length} bytes`,
    });
  }
  const bytes = new Uint8Array(length);
  let rest = value;
  for (let end = length; rest !== 0n; end -= CHUNK, rest >>= 48n) {
    // Storing into the array keeps the lowest eight bits.
    for (let chunk = Number(BigInt.asUintN(48, rest)), i = end - 1; chunk > 0; i--) {
      bytes[i] = chunk;
      chunk = Math.floor(chunk / 256);
    }
  }
  return bytes;
}

/** Encodes as big-endian bytes without leading zeros; zero is empty. The form of integers in RLP. */
export function bigIntToMinimalBytes(value: bigint): Uint8Array {
  if (value >= 0n && value <= SMALL) {
    const number = Number(value);
    let length = 0;
    for (let rest = number; rest >= 1; rest /= 256) length++;
    const bytes = new Uint8Array(length);
    writeSmall(bytes, number);
    return bytes;
  }
  const digits = value.toString(16);
  return bigIntToBytes(value, (digits.length + 1) >> 1);
}

/** @throws PlumblineError `INVALID_LENGTH` for another number of bytes */
export function requireLength(what: string, bytes: Uint8Array, expected: number): void {
  if (bytes.length === expected) return;
  const message = `${what}: expected ${expected} bytes, got ${bytes.length}`;
  throw new PlumblineError('INVALID_LENGTH', message, { what, expected: String(expected), actual: bytes.length });
}

/** `bytes` with leading zero bytes, up to `length`. @throws PlumblineError `INVALID_LENGTH` if they are longer */
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
 * Encodes bytes as a map key: a string with one character per byte, in one piece. A hex string joined from its digits
 * takes 32 bytes of memory per digit until it is first read.
 *
 * @param bytes - short, such as hashes
 */
export function bytesToKey(bytes: Uint8Array): string {
  if (bytes.length === 20) return addressKey(bytes);
  // Spreading into arguments takes five times as long. `apply` accepts array-like objects, although its type does not
  // say so.
  return String.fromCharCode.apply(undefined, bytes as unknown as number[]);
}

/** With arguments that are written out, an engine needs no list of them, and a third of the time. */
function addressKey(b: Uint8Array): string {
  // biome-ignore format: ten bytes a line
  return String.fromCharCode(
    b[0]!, b[1]!, b[2]!, b[3]!, b[4]!, b[5]!, b[6]!, b[7]!, b[8]!, b[9]!,
    b[10]!, b[11]!, b[12]!, b[13]!, b[14]!, b[15]!, b[16]!, b[17]!, b[18]!, b[19]!,
  );
}

/** Decodes a key of `bytesToKey`. */
export function keyToBytes(key: string): Uint8Array {
  const bytes = new Uint8Array(key.length);
  for (let i = 0; i < key.length; i++) bytes[i] = key.charCodeAt(i);
  return bytes;
}
