import type { Hex } from '../../primitives/hex.js';
import type { LightChainOptions } from './light-options.js';

/** The network that a devnet is a fork of: a light chain's options, and the block. */
export interface ForkOptions extends Omit<LightChainOptions, 'kind'> {
  /**
   * The block that the fork begins with: its number, its hash of 32 bytes, or a tag. The newest one when left out. `finalized` and
   * `safe` need `layerOne`. The endpoints must have the state after it for as long as the fork reads what it has not read before.
   */
  readonly block?: number | Hex | 'latest' | 'finalized' | 'safe';
}

/** What a fork has of the network, so that it cannot be given. */
export type NotOfForks = 'network' | 'scheme' | 'genesis' | 'importBlocks' | 'prices';
