import type { GenesisHeader } from '../chain/devnet/genesis.js';
import { devAlloc, type GenesisAlloc } from '../chain/devnet/genesis.js';
import { parseGenesis, unplacedMerge } from '../chain/devnet/genesis-json.js';
import { findParisBlock } from '../chain/devnet/import-decode.js';
import { PlumblineError } from '../errors.js';
import type { Prices } from '../fees/prices.js';
import { devnet } from '../networks/devnet.js';
import type { Network } from '../networks/network.js';
import type { DevnetChainOptions } from './options.js';

/** What a devnet begins with. */
export interface DevnetGenesis {
  readonly network: Network;
  readonly alloc: GenesisAlloc;
  /** Undefined for the devnet's own. */
  readonly genesisHeader: GenesisHeader | undefined;
  /** Prices that headers carry; none when undefined. */
  readonly prices: Prices | undefined;
}

/**
 * The beginning that options ask for: the dev accounts on a profile, or a genesis file.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a genesis file that is none, or one beside a profile
 */
export function devnetGenesis(options: DevnetChainOptions): DevnetGenesis {
  const { genesis, scheme, alloc, prices } = options;
  if (genesis === undefined) {
    const network = options.network ?? devnet(scheme === undefined ? {} : { scheme });
    const { pricing } = network;
    return {
      network,
      alloc: { ...devAlloc(), ...alloc },
      genesisHeader: undefined,
      prices: prices ?? (pricing.model === 'extra-data' ? pricing.defaults : undefined),
    };
  }
  if (options.network !== undefined) {
    const reason = 'describes a network itself, so no profile goes with it';
    throw new PlumblineError('INVALID_PARAMETER', `genesis ${reason}`, { parameter: 'genesis', reason });
  }
  const parsed = parseGenesis(genesis, { scheme, parisBlock: parisBlock(options) });
  return { network: parsed.network, alloc: { ...parsed.alloc, ...alloc }, genesisHeader: parsed.header, prices };
}

/** Some files say at which total difficulty proof of work ends, and leave the block to be found. */
function parisBlock({ genesis, importBlocks }: DevnetChainOptions): number | undefined {
  const merge = unplacedMerge(genesis);
  if (merge === undefined || importBlocks === undefined) return undefined;
  return findParisBlock(importBlocks, merge.genesis, merge.terminal);
}
