import { devAlloc } from '../../chain/devnet/state/genesis.js';
import { devnet } from '../../networks/devnet.js';
import type { DevnetChainOptions } from '../options/options.js';
import type { DevnetGenesis } from './genesis-file.js';

/**
 * The beginning that options ask for: the dev accounts on a profile, or a genesis file.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a genesis file that is none, or one beside a profile
 */
export async function devnetGenesis(options: DevnetChainOptions): Promise<DevnetGenesis> {
  const { genesis, scheme, alloc, prices } = options;
  if (genesis !== undefined) return (await import('./genesis-file.js')).genesisOfFile(options);
  const network = options.network ?? devnet(scheme === undefined ? {} : { scheme });
  const { pricing } = network;
  return {
    network,
    alloc: { ...devAlloc(), ...alloc },
    genesisHeader: undefined,
    prices: prices ?? (pricing.model === 'extra-data' ? pricing.defaults : undefined),
  };
}
