import { PlumblineError } from '../errors.js';
import type { ExtraDataPricing, Network } from '../networks/network.js';

/** The three prices of a block header, in wei: per gas, per compressed byte, and per gas for a simple transfer. */
export type Prices = ExtraDataPricing['defaults'];

/** The transaction for which a fee is computed. */
export interface TransactionUse {
  /** Gas limit of the transaction, above zero. */
  readonly gas: bigint;
  /** Bytes that the compressed transaction adds to a blob (docs/spec/compression.md 6). */
  readonly compressedTxSize: number;
  /** Base fee of the block, wei per gas. */
  readonly baseFee: bigint;
}

/** Prices of a network while no header has any. */
export function defaultPrices({ pricing }: Pick<Network, 'pricing'>): Prices {
  if (pricing?.model === 'extra-data') return pricing.defaults;
  return { fixedCostWei: 0n, variableCostWei: 0n, minGasPriceWei: pricing?.minGasPriceWei ?? 0n };
}

const INT64_LIMIT = 1n << 63n;

function outOfRange(what: string, value: bigint | number, limit: string): PlumblineError<'OUT_OF_RANGE'> {
  return new PlumblineError('OUT_OF_RANGE', `${what} must be ${limit}, got ${value}`, {
    what,
    value: String(value),
    limit,
  });
}

/** `value`, if it is a non-negative 64-bit signed integer, as in the node. @throws `OUT_OF_RANGE` */
export function requireInt64(what: string, value: bigint): bigint {
  if (value < 0n || value >= INT64_LIMIT) throw outOfRange(what, value, '0 to 2^63 - 1');
  return value;
}

/** Gas as a divisor. @throws PlumblineError `GAS_IS_ZERO`, `OUT_OF_RANGE` */
export function requireGas(gas: bigint): bigint {
  if (gas === 0n) throw new PlumblineError('GAS_IS_ZERO', 'gas must be above zero to compute a fee per gas', {});
  return requireInt64('gas', gas);
}

/** A compressed size as a non-negative 32-bit signed integer, as in the node. @throws `OUT_OF_RANGE` */
export function requireSize(size: number): number {
  if (!Number.isInteger(size) || size < 0 || size >= 2 ** 31) {
    throw outOfRange('compressedTxSize', size, 'an integer from 0 to 2^31 - 1');
  }
  return size;
}
