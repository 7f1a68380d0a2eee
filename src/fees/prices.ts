import { PlumblineError } from '../errors.js';
import type { ExtraDataPricing, Network } from '../networks/network.js';
import { bigIntToBytes, bytesToBigInt } from '../primitives/bytes.js';

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

/**
 * Layout of version 1 (docs/spec/fees.md 3). Prices are unsigned 32-bit big-endian numbers of 1000 wei:
 *
 *     0         1            5               9               13            32
 *     | version | fixed cost | variable cost | min gas price | zero        | Clique seal, or nothing
 */
const VERSION = 1;
const PRICES_END = 13;
const ENCODED_BYTES = 32;
const WEI_PER_UNIT = 1000n;

/**
 * Result of reading prices from a header's extra data. For `ignored` and `rejected` the last prices stay in force.
 * `ignored` is normal; a node logs `rejected` as an error.
 */
export type ExtraDataReading =
  | { readonly status: 'prices'; readonly prices: Prices }
  | { readonly status: 'ignored' }
  | { readonly status: 'rejected'; readonly reason: string };

/**
 * Reads the prices of a block header. Bytes after the third price are ignored: old blocks have their seals there. Never
 * throws.
 *
 * @param extraData - the header's field, any length
 * @returns prices in wei, or why there are none
 * @source docs/spec/fees.md 3
 *
 * @example
 * ```ts
 * import { parseExtraData } from 'plumbline-l2/fees';
 * import { hexToBytes } from 'plumbline-l2/verify';
 *
 * const reading = parseExtraData(hexToBytes(`0x0100007530000003e80000c350${'00'.repeat(19)}`, 32));
 * reading.status === 'prices' && reading.prices.fixedCostWei; // => 30_000_000n
 * parseExtraData(new Uint8Array(32)).status; // => 'rejected'
 * ```
 */
export function parseExtraData(extraData: Uint8Array): ExtraDataReading {
  if (extraData.length === 0) return { status: 'ignored' };
  if (extraData[0] !== VERSION) return { status: 'rejected', reason: `version ${extraData[0]} is not supported` };
  if (extraData.length < PRICES_END) {
    return { status: 'rejected', reason: `${extraData.length} bytes are too few for version ${VERSION}` };
  }
  const price = (start: number) => bytesToBigInt(extraData.subarray(start, start + 4)) * WEI_PER_UNIT;
  return {
    status: 'prices',
    prices: { fixedCostWei: price(1), variableCostWei: price(5), minGasPriceWei: price(9) },
  };
}

/**
 * Encodes `prices` as extra data (32 bytes), for the headers of a devnet. Fractions of 1000 wei are dropped, as the
 * operator's coordinator does.
 *
 * @throws PlumblineError `OUT_OF_RANGE` for a negative price, or one of 2^32 times 1000 wei or more
 * @source docs/spec/fees.md 3, 3.1 step 6
 *
 * @example
 * ```ts
 * import { encodeExtraData, parseExtraData } from 'plumbline-l2/fees';
 *
 * const prices = { fixedCostWei: 30_000_000n, variableCostWei: 1_000_000n, minGasPriceWei: 50_000_000n };
 * parseExtraData(encodeExtraData(prices)); // => { status: 'prices', prices }
 * ```
 */
export function encodeExtraData(prices: Prices): Uint8Array {
  const bytes = new Uint8Array(ENCODED_BYTES);
  bytes[0] = VERSION;
  bytes.set(unit('fixedCostWei', prices.fixedCostWei), 1);
  bytes.set(unit('variableCostWei', prices.variableCostWei), 5);
  bytes.set(unit('minGasPriceWei', prices.minGasPriceWei), 9);
  return bytes;
}

function unit(what: string, wei: bigint): Uint8Array {
  const units = wei / WEI_PER_UNIT;
  if (wei < 0n || units >= 1n << 32n) {
    throw new PlumblineError(
      'OUT_OF_RANGE',
      `${what} must be 0 to 4294967295999 wei to fit into a header, got ${wei}`,
      {
        what,
        value: wei.toString(),
        limit: '0 to 4294967295999 wei',
      },
    );
  }
  return bigIntToBytes(units, 4);
}
