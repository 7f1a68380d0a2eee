import { PlumblineError } from '../errors.js';
import { bigIntToBytes, bytesToBigInt } from '../primitives/bytes.js';
import type { Prices } from './prices.js';

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
