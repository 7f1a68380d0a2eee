import { isPlumblineError, PlumblineError } from '../errors.js';
import { hexToBytes } from '../primitives/hex.js';

/** The error for an answer that does not have the form of a proof. */
export function malformed(path: string, reason: string): PlumblineError<'PROOF_MALFORMED'> {
  return new PlumblineError('PROOF_MALFORMED', `malformed proof: ${path} ${reason}`, { path, reason });
}

/** The path `parent.name`; the name alone if `parent` is empty. */
export function member(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`;
}

/** Reads an object of any fields. @throws PlumblineError `PROOF_MALFORMED` */
export function readObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed(path === '' ? 'the answer' : path, 'is not an object');
  }
  return value as Record<string, unknown>;
}

/**
 * Reads an object with exactly these fields.
 *
 * @throws PlumblineError `PROOF_MALFORMED`
 */
export function readExactObject(value: unknown, fields: readonly string[], path: string) {
  const object = readObject(value, path);
  for (const name of fields) if (!Object.hasOwn(object, name)) throw malformed(member(path, name), 'is missing');
  for (const name of Object.keys(object)) {
    if (!fields.includes(name)) throw malformed(member(path, name), 'is not a field of this object');
  }
  return object;
}

/** Reads a list. @throws PlumblineError `PROOF_MALFORMED` */
export function readArray(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(path, 'is not a list');
  return value;
}

/** Reads a list of byte strings of any length. @throws PlumblineError `PROOF_MALFORMED` */
export function readBytesList(value: unknown, path: string): Uint8Array[] {
  return readArray(value, path).map((item, i) => readBytes(item, `${path}[${i}]`));
}

/**
 * Reads bytes from `0x` and an even number of hex digits.
 *
 * @param lengths - allowed numbers of bytes; any if left out
 * @throws PlumblineError `PROOF_MALFORMED`
 */
export function readBytes(value: unknown, path: string, ...lengths: readonly number[]): Uint8Array {
  if (typeof value !== 'string') throw malformed(path, 'is not hex text');
  let bytes: Uint8Array;
  try {
    bytes = hexToBytes(value);
  } catch (error) {
    if (isPlumblineError(error, 'INVALID_HEX')) throw malformed(path, error.details.reason);
    throw error;
  }
  if (lengths.length > 0 && !lengths.includes(bytes.length)) {
    throw malformed(path, `has ${bytes.length} bytes, expected ${lengths.join(' or ')}`);
  }
  return bytes;
}

/**
 * Reads hex text as a number below 2^256. Leading zeros and an odd number of digits are allowed, because servers differ.
 *
 * @throws PlumblineError `PROOF_MALFORMED`
 */
export function readNumber256(value: unknown, path: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) {
    throw malformed(path, 'is not 0x and 1 to 64 hex digits');
  }
  return BigInt(value);
}

/** As `readNumber256`, for a count, index or time. @throws PlumblineError `PROOF_MALFORMED`, also above 2^53 - 1 */
export function readCount(value: unknown, path: string): number {
  const count = Number(readNumber256(value, path));
  if (!Number.isSafeInteger(count)) throw malformed(path, 'is above 2^53 - 1');
  return count;
}

/** Reads a JSON number without a fraction, of any size. @throws PlumblineError `PROOF_MALFORMED` */
export function readInteger(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw malformed(path, 'is not an integer');
  return value;
}
