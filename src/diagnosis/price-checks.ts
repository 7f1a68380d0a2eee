import type { Estimator } from '../estimate/estimator.js';
import type { Prices } from '../fees/prices.js';
import { payingGasPrice, priorityFeePerGas } from '../fees/pricing.js';
import { encodeForSizing } from '../fees/transaction-bytes.js';
import type { Network } from '../networks/network.js';
import type { CheckName } from './check-table.js';
import type { Conditions } from './conditions.js';
import { type CompleteTransaction, capOf, signedBytes } from './diagnosed-transaction.js';
import { compared, type Finding } from './finding.js';

/** A compressed size in bytes, and the bounds between which it certainly is. */
export interface SizeRange {
  readonly least: number;
  readonly likely: number;
  readonly most: number;
}

const USABLE_BITS = 254;
const PACKED_BYTES = 32;
/** Bytes of the compressor's header. */
const HEADER_BYTES = 3;

/**
 * The compressed size of a transaction. With another dictionary than the network's own it is an approximation, and the bounds are
 * those of any dictionary: one packed element, and the bytes as they are.
 *
 * @source docs/spec/compression.md 6
 */
export async function sizeOf(
  candidate: CompleteTransaction,
  estimator: Estimator,
  network: Network,
): Promise<SizeRange> {
  const bytes = network.sizing === 'current' ? encodeForSizing(candidate) : signedBytes(candidate);
  const likely = (await estimator.sizer()).compressedTxSize(bytes);
  if (estimator.dictionary.networkOwn || network.dictionary === undefined)
    return { least: likely, likely, most: likely };
  const most = PACKED_BYTES * Math.ceil((8 * (bytes.length + HEADER_BYTES)) / USABLE_BITS);
  return { least: PACKED_BYTES, likely, most };
}

/** The price against the base fee of the next block. */
export function baseFeeCheck(candidate: CompleteTransaction, { context: { baseFeePerGas } }: Conditions): Finding {
  const remedy = remedyFor(candidate, baseFeePerGas, baseFeePerGas);
  return compared('base-fee', capOf(candidate) ?? 0n, baseFeePerGas, { remedy });
}

/**
 * The price against the cost of the transaction times a margin (docs/spec/fees.md 2.1).
 *
 * @param gas - the gas limit, or in `used-price` the gas that it uses; above zero
 */
export function marginCheck(
  check: CheckName,
  candidate: CompleteTransaction,
  on: { readonly network: Network; readonly context: Conditions['context']; readonly prices: Prices },
  size: SizeRange,
  { gas, margin }: { readonly gas: bigint; readonly margin: number },
): Finding {
  const baseFee = on.context.baseFeePerGas;
  const { gasPrice, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = candidate;
  const offer = gasPrice !== undefined ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas };
  const found = payingGasPrice(offer, baseFee);
  const at = (compressedTxSize: number): Finding => {
    const fee = priorityFeePerGas(on.network.pricing, on.prices, { gas, compressedTxSize, baseFee }, margin);
    const needed = baseFee + fee;
    return compared(check, found, needed, { remedy: remedyFor(candidate, needed, baseFee) });
  };
  const [least, most] = [at(size.least), at(size.most)];
  if (most.outcome === 'ok') return most;
  if (least.outcome === 'fails') return at(size.likely);
  const reason =
    'the compressed size is an approximation without the dictionary of the network, and the price is near the limit';
  const { remedy: _, ...likely } = at(size.likely);
  return { ...likely, outcome: 'unknown', reason };
}

/** Which prices have to be raised, and to what. */
function remedyFor(
  { gasPrice, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n }: CompleteTransaction,
  needed: bigint,
  baseFee: bigint,
) {
  if (gasPrice !== undefined) return `gasPrice to at least ${needed} wei`;
  const fee = needed - baseFee;
  const parts = [
    ...(maxFeePerGas < needed ? [`maxFeePerGas to at least ${needed} wei`] : []),
    ...(maxPriorityFeePerGas < fee ? [`maxPriorityFeePerGas to at least ${fee} wei`] : []),
  ];
  return parts.join(' and ');
}
