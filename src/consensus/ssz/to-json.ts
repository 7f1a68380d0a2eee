import { bytesToHex } from '../../primitives/hex.js';
import { jsonName } from './container.js';

/** A value of any type of SSZ as the beacon API writes it: integers in decimal, bytes in hex, names in snake case. */
export function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return bytesToHex(value);
  if (Array.isArray(value)) return value.map(toJson);
  return Object.fromEntries(Object.entries(value as object).map(([name, member]) => [jsonName(name), toJson(member)]));
}
