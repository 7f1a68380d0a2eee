import type { BlockHeader } from '../../../ethereum/header.js';
import { parseExtraData } from '../../../fees/extra-data.js';
import type { Network } from '../../../networks/network.js';
import type { CurrentPrices } from '../../chain.js';

/**
 * Prices of a header, else the profile's defaults (docs/spec/fees.md 3). The headers of a devnet carry prices all or
 * not at all, so no older one needs to be asked.
 */
export function currentPrices(network: Network, head: BlockHeader): CurrentPrices {
  const reading = parseExtraData(head.extraData);
  if (reading.status === 'prices') return { prices: reading.prices, sourceBlock: head.number };
  const { pricing } = network;
  const prices =
    pricing.model === 'extra-data'
      ? pricing.defaults
      : { fixedCostWei: 0n, variableCostWei: 0n, minGasPriceWei: pricing.minGasPriceWei };
  return { prices, sourceBlock: undefined };
}
