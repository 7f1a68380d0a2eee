import { findParisBlock } from '../../chain/devnet/import-blocks.js';
import type { DevnetChainOptions } from '../../chain/devnet/options.js';
import type { GenesisAlloc, GenesisHeader } from '../../chain/devnet/state/genesis.js';
import { parseGenesis, terminalDifficulty } from '../../chain/devnet/state/genesis-json.js';
import { invalidParameter } from '../../errors.js';
import type { Prices } from '../../fees/prices.js';
import type { Network } from '../../networks/network.js';

/** The genesis of a devnet. */
export interface DevnetGenesis {
  readonly network: Network;
  readonly alloc: GenesisAlloc;
  /** The accounts are plumbline's own. */
  readonly isOwn?: boolean;
  /** Undefined for the default header. */
  readonly genesisHeader: GenesisHeader | undefined;
  /** Prices in the headers; undefined for headers without prices. */
  readonly prices: Prices | undefined;
}

/**
 * The genesis that a genesis file describes.
 *
 * @throws PlumblineError `INVALID_PARAMETER` for a file that cannot be used, or one beside a profile
 */
export function genesisOfFile(options: DevnetChainOptions): DevnetGenesis {
  const { genesis, scheme, alloc, prices } = options;
  if (options.network !== undefined) {
    throw invalidParameter('genesis', 'describes a network itself; leave out chain.network');
  }
  const parsed = parseGenesis(genesis, { scheme, parisBlock: parisBlock(options) });
  return { network: parsed.network, alloc: { ...parsed.alloc, ...alloc }, genesisHeader: parsed.header, prices };
}

/** Finds the Paris block for a file that gives only the terminal total difficulty. */
function parisBlock({ genesis, importBlocks }: DevnetChainOptions): number | undefined {
  const merge = terminalDifficulty(genesis);
  if (merge === undefined || importBlocks === undefined) return undefined;
  return findParisBlock(importBlocks, merge.genesis, merge.terminal);
}
