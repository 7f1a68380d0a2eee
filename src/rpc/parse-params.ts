import { PlumblineError } from '../errors.js';
import { padStart } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';
import { quantityToBigInt } from '../primitives/quantity.js';
import { invalidParams, type RpcError } from './rpc-errors.js';

/*
 * From the JSON values of `params` to the values that methods use. Each function takes the parameter's name (with the path
 * inside it) and the subject of the message. It throws RpcError -32602 that names the parameter.
 */

/** Most storage keys of one proof request (docs/decisions.md 12). */
export const DEFAULT_MAX_STORAGE_KEYS = 1024;

const WORD_BITS = 256;

/** @returns 20 bytes. @throws RpcError -32602 */
export function parseAddress(value: unknown, parameter = 'address', subject = 'address params'): Uint8Array {
  return hexBytes(value, parameter, subject, 20);
}

/** @returns 32 bytes. @throws RpcError -32602 */
export function parseHash(value: unknown, parameter: string, subject = 'params'): Uint8Array {
  return hexBytes(value, parameter, subject, 32);
}

/** Bytes of any length. @throws RpcError -32602 */
export function parseBytes(value: unknown, parameter: string, subject = 'params'): Uint8Array {
  return hexBytes(value, parameter, subject);
}

/** Integer of a hex quantity that fits `bits` (256 when left out). @throws RpcError -32602 */
export function parseQuantity(value: unknown, parameter: string, subject = 'params', bits = WORD_BITS): bigint {
  const text = requireText(value, parameter, subject);
  return fitted(
    readHex(() => quantityToBigInt(text), parameter, subject),
    parameter,
    subject,
    bits,
  );
}

/** As `parseQuantity`, for counts and indexes. @throws RpcError -32602 above 2^53 - 1 */
export function parseIndex(value: unknown, parameter: string, subject = 'params'): number {
  return Number(parseQuantity(value, parameter, subject, 53));
}

/** @throws RpcError -32602 */
export function parseBoolean(value: unknown, parameter: string, subject = 'params'): boolean {
  if (typeof value === 'boolean') return value;
  throw value === undefined || value === null
    ? missing(parameter, subject)
    : invalidParams(parameter, 'is not a boolean', subject);
}

/** The parsed value, or undefined where it is missing or null. */
export function optional<T>(value: unknown, parse: (present: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : parse(value);
}

/**
 * Key of a storage slot: a quantity, or up to 32 bytes of hex, an odd number of digits included.
 *
 * @returns 32 bytes, zeros in front
 * @throws RpcError -32602
 */
export function parseStorageKey(value: unknown, parameter = 'position', subject = 'position params'): Uint8Array {
  const text = requireText(value, parameter, subject);
  if (text === '0x') throw invalidParams(parameter, 'has no digits', subject);
  const even = text.length % 2 === 0 ? text : text.replace(/^0x/, '0x0');
  const bytes = hexBytes(even, parameter, subject);
  if (bytes.length > 32) throw invalidParams(parameter, 'is longer than 32 bytes', subject);
  return padStart(bytes, 32);
}

/**
 * Keys of a proof request, in order and with duplicates (docs/spec/state-trie.md 7.3).
 *
 * @returns 32 bytes each
 * @throws RpcError -32602, also above `limit` keys
 */
export function parseStorageKeys(
  value: unknown,
  parameter = 'storageKeys',
  limit = DEFAULT_MAX_STORAGE_KEYS,
): Uint8Array[] {
  const subject = 'storage keys params';
  const keys = requireArray(value, parameter, subject);
  if (keys.length > limit) throw invalidParams(parameter, `has ${keys.length} keys, at most ${limit}`, subject);
  return keys.map((key, index) => parseStorageKey(key, `${parameter}[${index}]`, subject));
}

/** @throws RpcError -32602 */
export function requireArray(value: unknown, parameter: string, subject: string): readonly unknown[] {
  if (value === undefined || value === null) throw missing(parameter, subject);
  if (!Array.isArray(value)) throw invalidParams(parameter, 'is not an array', subject);
  return value;
}

/** @throws RpcError -32602 */
export function requireObject(value: unknown, parameter: string, subject: string): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) throw missing(parameter, subject);
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidParams(parameter, 'is not an object', subject);
  return value as Record<string, unknown>;
}

/** @throws RpcError -32602 that names a member that is not one of these */
export function requireMembers(object: object, names: readonly string[], parameter: string, subject: string): void {
  const unknown = Object.keys(object).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw invalidParams(`${parameter}.${unknown.slice(0, 40)}`, `is not known; there are ${names.join(', ')}`, subject);
}

/** @throws RpcError -32602 */
export function requireText(value: unknown, parameter: string, subject: string): string {
  if (value === undefined || value === null) throw missing(parameter, subject);
  if (typeof value !== 'string') throw invalidParams(parameter, 'is not a string', subject);
  return value;
}

/** `value` if it fits `bits`. @throws RpcError -32602 */
export function fitted(value: bigint, parameter: string, subject: string, bits: number): bigint {
  if (value >> BigInt(bits) !== 0n) throw invalidParams(parameter, `does not fit ${bits} bits`, subject);
  return value;
}

function hexBytes(value: unknown, parameter: string, subject: string, length?: number): Uint8Array {
  const text = requireText(value, parameter, subject);
  return readHex(() => hexToBytes(text, length), parameter, subject);
}

function readHex<T>(read: () => T, parameter: string, subject: string): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PlumblineError)) throw error;
    const reason = 'reason' in error.details ? error.details.reason : error.message;
    throw invalidParams(parameter, String(reason), subject);
  }
}

function missing(parameter: string, subject: string): RpcError {
  return invalidParams(parameter, 'is missing', subject);
}
