import type { Hex } from '../../primitives/hex.js';
import type { TableOf } from '../../primitives/option-table.js';
import type { DevnetChainOptions } from '../devnet/options.js';
import { LIGHT_OPTIONS, type LightChainOptions } from '../light/light-options.js';

/** The network that a devnet is a fork of: a light chain's options, and the block. */
export interface ForkOptions extends Omit<LightChainOptions, 'kind'> {
  /**
   * The block from which the fork starts: its number, its hash (32 bytes), or a tag. Default: the newest block. `finalized` and `safe`
   * need `layerOne`. The endpoints must have the state after this block as long as the fork reads new state.
   */
  readonly block?: number | Hex | 'latest' | 'finalized' | 'safe';
}

/** What a fork has of the network, so that it cannot be given. */
export type NotOfForks = 'network' | 'scheme' | 'genesis' | 'importBlocks' | 'prices';

/** An embedded devnet on the proved state of a network. */
export interface ForkChainOptions
  extends Omit<DevnetChainOptions, NotOfForks | 'fork'>,
    Partial<Record<NotOfForks, never>> {
  readonly fork: ForkOptions;
}

const { kind: _, ...OF_NETWORK } = LIGHT_OPTIONS;

/** What each option of a fork's network is. */
export const FORK_OPTIONS = { ...OF_NETWORK, block: { is: 'any' } } as const satisfies TableOf<ForkOptions>;
