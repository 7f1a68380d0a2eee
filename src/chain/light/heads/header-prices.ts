import { parseExtraData } from '../../../fees/extra-data.js';
import type { Network } from '../../../networks/network.js';
import type { CurrentPrices } from '../../chain.js';
import type { BlockFinder } from './block-finder.js';
import type { LightBlock } from './light-block.js';

/** Most headers read to find prices. */
const LOOK_BACK = 16;

/** The prices in the header of `block`, else in the newest header before it that has some, else those of the profile. */
export async function pricesAt(
  block: LightBlock,
  { pricing }: Network,
  finder: Pick<BlockFinder, 'ancestorOf'>,
  signal?: AbortSignal,
): Promise<CurrentPrices> {
  if (pricing.model !== 'extra-data') {
    const prices = { fixedCostWei: 0n, variableCostWei: 0n, minGasPriceWei: pricing.minGasPriceWei };
    return { prices, sourceBlock: undefined };
  }
  const { number } = block.header;
  for (let back = 0; back <= Math.min(LOOK_BACK, number); back++) {
    const { header } = back === 0 ? block : await finder.ancestorOf(block, number - back, signal);
    const reading = parseExtraData(header.extraData);
    if (reading.status === 'prices') return { prices: reading.prices, sourceBlock: header.number };
  }
  return { prices: pricing.defaults, sourceBlock: undefined };
}
