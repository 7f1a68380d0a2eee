import { PlumblineError } from '../errors.js';
import type { Hex } from './hex.js';

/** Encodes a non-negative integer as a JSON-RPC quantity: `0x` and digits without leading zeros; zero is `0x0`. */
export function toQuantity(value: bigint | number): Hex {
  if (value < 0) throw invalid(String(value), 'is negative');
  return `0x${value.toString(16)}`;
}

/**
 * Decodes a JSON-RPC quantity. Leading zeros are accepted, as nodes do; an empty `0x` is not.
 *
 * @throws PlumblineError `INVALID_QUANTITY`
 */
export function quantityToBigInt(text: string): bigint {
  if (typeof text !== 'string' || !/^0x[0-9a-fA-F]+$/.test(text))
    throw invalid(String(text), 'is not 0x and hex digits');
  return BigInt(text);
}

function invalid(text: string, reason: string): PlumblineError<'INVALID_QUANTITY'> {
  const value = text.slice(0, 80);
  return new PlumblineError('INVALID_QUANTITY', `invalid quantity: ${reason}`, { value, reason });
}
