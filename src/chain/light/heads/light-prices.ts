import { parseExtraData } from '../../../fees/extra-data.js';
import type { Network } from '../../../networks/network.js';
import type { CurrentPrices } from '../../chain.js';
import type { LightBlock } from './light-block.js';

/** Headers looked back at when the newest brings no prices. */
const LOOK_BACK = 16;

/**
 * Prices that hold after a block: of its header, else of the newest before it that brought some (docs/spec/fees.md 3), else
 * the profile's.
 *
 * @param ancestor - a verified ancestor of the block by its number
 */
export async function pricesAfter(
  network: Network,
  block: LightBlock,
  ancestor: (number: number) => Promise<LightBlock>,
): Promise<CurrentPrices> {
  const { pricing } = network;
  if (pricing.model !== 'extra-data') {
    const prices = { fixedCostWei: 0n, variableCostWei: 0n, minGasPriceWei: pricing.minGasPriceWei };
    return { prices, sourceBlock: undefined };
  }
  for (let back = 0; back <= Math.min(LOOK_BACK, block.header.number); back++) {
    const { header } = back === 0 ? block : await ancestor(block.header.number - back);
    const reading = parseExtraData(header.extraData);
    if (reading.status === 'prices') return { prices: reading.prices, sourceBlock: header.number };
  }
  return { prices: pricing.defaults, sourceBlock: undefined };
}
