import { PlumblineError } from '../errors.js';
import type { ExtraDataPricing } from '../networks/network.js';

/** The three prices of a block header, in wei: per gas, per compressed byte, and per gas for a simple transfer. */
export type Prices = ExtraDataPricing['defaults'];

/** What a fee is asked for. */
export interface TransactionUse {
  /** Gas limit of the transaction, above zero. */
  readonly gas: bigint;
  /** What the transaction adds to a blob once compressed, bytes (docs/spec/compression.md 6). */
  readonly compressedTxSize: number;
  /** Base fee of the block, wei per gas. */
  readonly baseFee: bigint;
}

const INT64_LIMIT = 1n << 63n;

function outOfRange(what: string, value: bigint | number, limit: string): PlumblineError<'OUT_OF_RANGE'> {
  return new PlumblineError('OUT_OF_RANGE', `${what} is out of range`, { what, value: String(value), limit });
}

/** `value`, if it is one of the integers the node holds in 64 bits with sign, and not negative. @throws `OUT_OF_RANGE` */
export function requireInt64(what: string, value: bigint): bigint {
  if (value < 0n || value >= INT64_LIMIT) throw outOfRange(what, value, '0 to 2^63 - 1');
  return value;
}

/** Gas to divide by. @throws PlumblineError `GAS_IS_ZERO`, `OUT_OF_RANGE` */
export function requireGas(gas: bigint): bigint {
  if (gas === 0n) throw new PlumblineError('GAS_IS_ZERO', 'a fee per gas needs gas above zero', {});
  return requireInt64('gas', gas);
}

/** A compressed size the node can hold: an integer of 32 bits with sign, not negative. @throws `OUT_OF_RANGE` */
export function requireSize(size: number): number {
  if (!Number.isInteger(size) || size < 0 || size >= 2 ** 31) {
    throw outOfRange('compressedTxSize', size, 'an integer from 0 to 2^31 - 1');
  }
  return size;
}
