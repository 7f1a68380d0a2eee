import type { BlockHeader } from '../../../ethereum/header.js';
import { parseExtraData } from '../../../fees/extra-data.js';
import type { Network } from '../../../networks/network.js';
import type { CurrentPrices } from '../../chain.js';

/**
 * Prices in a header, else the defaults of the network profile (docs/spec/fees.md 3). Either all headers of a devnet carry
 * prices or none does, so older headers need not be read.
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
