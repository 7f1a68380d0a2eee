import { findParisBlock } from '../../chain/devnet/import/import-decode.js';
import type { GenesisAlloc, GenesisHeader } from '../../chain/devnet/state/genesis.js';
import { parseGenesis, terminalDifficulty } from '../../chain/devnet/state/genesis-json.js';
import { PlumblineError } from '../../errors.js';
import type { Prices } from '../../fees/prices.js';
import type { Network } from '../../networks/network.js';
import type { DevnetChainOptions } from '../options/options.js';

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
 * The beginning that a genesis file describes.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a file that is none, or one beside a profile
 */
export function genesisOfFile(options: DevnetChainOptions): DevnetGenesis {
  const { genesis, scheme, alloc, prices } = options;
  if (options.network !== undefined) {
    const reason = 'describes a network itself, so no profile goes with it';
    throw new PlumblineError('INVALID_PARAMETER', `genesis ${reason}`, { parameter: 'genesis', reason });
  }
  const parsed = parseGenesis(genesis, { scheme, parisBlock: parisBlock(options) });
  return { network: parsed.network, alloc: { ...parsed.alloc, ...alloc }, genesisHeader: parsed.header, prices };
}

/** Some files say at which total difficulty proof of work ends, and leave the block to be found. */
function parisBlock({ genesis, importBlocks }: DevnetChainOptions): number | undefined {
  const merge = terminalDifficulty(genesis);
  if (merge === undefined || importBlocks === undefined) return undefined;
  return findParisBlock(importBlocks, merge.genesis, merge.terminal);
}
