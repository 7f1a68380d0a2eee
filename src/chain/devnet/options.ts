import type { Prices } from '../../fees/prices.js';
import type { CalldataSizer } from '../../kernel/contracts.js';
import type { Network } from '../../networks/network.js';
import type { PageStore } from '../../store/page-store.js';
import type { StoreHealth } from '../../store/store-status.js';
import type { StoringOptions } from './chain-writer.js';
import type { CheckpointOptions } from './checkpoints.js';
import type { ZkEngine } from './devnet-state.js';
import type { FinalityOptions } from './finality.js';
import type { GenesisAlloc, GenesisHeader } from './genesis.js';
import type { DevnetBudget } from './pruning.js';

/**
 * When blocks are sealed: `auto` when a transaction arrives that can run, `manual` when told to, or every so many seconds,
 * with whatever waits, be it nothing.
 */
export type MiningMode = 'auto' | 'manual' | { readonly intervalSeconds: number };

/** What developers have set for the blocks to come. */
export interface NextBlock {
  /** Of all of them, 20 bytes. */
  readonly coinbase: Uint8Array;
  /** Of the next one alone, wei; the ones after it follow from it. */
  readonly baseFeePerGas: bigint | undefined;
  /** Of the next one; the ones after it keep it. */
  readonly gasLimit: bigint | undefined;
}

/** A devnet's settings, every choice made. */
export interface DevnetSettings {
  readonly network: Network;
  /** Of the network's scheme. */
  readonly zk: ZkEngine;
  readonly alloc: GenesisAlloc;
  /** Seconds. Part of the identity of the chain. */
  readonly genesisTimestamp: number;
  /** Header of the genesis block, where it is not the devnet's own. */
  readonly genesisHeader?: GenesisHeader | undefined;
  /** What mining begins with. */
  readonly mining: MiningMode;
  /** Sizes transactions, for the margin that the pool asks; it asks none without. */
  readonly sizer?: CalldataSizer | undefined;
  readonly finality: FinalityOptions;
  /** Prices that headers carry; none when undefined. */
  readonly prices: Prices | undefined;
  /** Gets the priority fees, 20 bytes. */
  readonly coinbase: Uint8Array;
  /** Seconds of the wall clock; blocks take the time of their sealing, and at least one second more than their parent. */
  readonly now: () => number;
  readonly store: PageStore | undefined;
  /** Told whether the store can be used; the devnet goes on in memory where it no longer can. */
  readonly health?: StoreHealth | undefined;
  /** How it does so. */
  readonly storing?: StoringOptions | undefined;
  /** How much is kept; everything when left out. */
  readonly budget?: DevnetBudget | undefined;
  /** How often the state is stored. */
  readonly checkpoints?: CheckpointOptions | undefined;
  /** How a stored state is compared with its roots as it is loaded; `sampled` when left out, see `LoadOptions`. */
  readonly check?: 'sampled' | 'full' | undefined;
  /**
   * Told how far opening has come: the share of the genesis accounts, of the stored blocks, or of the stored state, that is
   * loaded, 0 to 1. A stored state is loaded after the devnet has opened.
   */
  readonly onProgress: ((stage: 'genesis' | 'blocks' | 'state', fraction: number) => void) | undefined;
}
