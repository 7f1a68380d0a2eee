import { isPlumblineError, PlumblineError } from '../errors.js';
import { hexToBytes } from '../primitives/hex.js';

/** The error of material that is not a proof at all. */
export function malformed(path: string, reason: string): PlumblineError<'PROOF_MALFORMED'> {
  return new PlumblineError('PROOF_MALFORMED', `malformed proof: ${path} ${reason}`, { path, reason });
}

/** `parent.name`, or the name alone at the top. */
export function member(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`;
}

/** @throws PlumblineError `PROOF_MALFORMED` */
export function readObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed(path === '' ? 'the answer' : path, 'is not an object');
  }
  return value as Record<string, unknown>;
}

/**
 * An object with these fields and no others.
 *
 * @throws PlumblineError `PROOF_MALFORMED`
 */
export function readExactObject(value: unknown, fields: readonly string[], path: string) {
  const object = readObject(value, path);
  for (const name of fields) if (!Object.hasOwn(object, name)) throw malformed(member(path, name), 'is missing');
  for (const name of Object.keys(object)) {
    if (!fields.includes(name)) throw malformed(member(path, name), 'does not belong here');
  }
  return object;
}

/** @throws PlumblineError `PROOF_MALFORMED` */
export function readArray(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(path, 'is not a list');
  return value;
}

/** A list of byte strings of any length. @throws PlumblineError `PROOF_MALFORMED` */
export function readBytesList(value: unknown, path: string): Uint8Array[] {
  return readArray(value, path).map((item, i) => readBytes(item, `${path}[${i}]`));
}

/**
 * Bytes of strict hex text.
 *
 * @param lengths - numbers of bytes allowed; any when empty
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
 * Hex text read as a number below 2^256; leading zeros and odd numbers of digits are allowed, as servers differ there.
 *
 * @throws PlumblineError `PROOF_MALFORMED`
 */
export function readNumber256(value: unknown, path: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) {
    throw malformed(path, 'is not 0x and 1 to 64 hex digits');
  }
  return BigInt(value);
}

/** As `readNumber256`, for a count, index or time. @throws PlumblineError `PROOF_MALFORMED` above 2^53 - 1, too */
export function readCount(value: unknown, path: string): number {
  const count = Number(readNumber256(value, path));
  if (!Number.isSafeInteger(count)) throw malformed(path, 'is above 2^53 - 1');
  return count;
}

/** A JSON number without a fraction, of any size. @throws PlumblineError `PROOF_MALFORMED` */
export function readInteger(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw malformed(path, 'is not an integer');
  return value;
}
