import type { Prices } from '../../fees/prices.js';
import type { Network } from '../../networks/network.js';
import type { WorldState } from '../../state/world-state.js';
import type { PageStore } from '../../store/page-store.js';
import type { FinalityOptions } from './finality.js';
import type { GenesisAlloc } from './genesis.js';

/** A devnet's settings, every choice made. */
export interface DevnetSettings {
  readonly network: Network;
  /** Empty, of the network's scheme. */
  readonly zkState: WorldState;
  readonly alloc: GenesisAlloc;
  /** Seconds. Part of the identity of the chain. */
  readonly genesisTimestamp: number;
  /** `auto` seals a block when a transaction arrives, `manual` waits to be told. */
  readonly mining: 'auto' | 'manual';
  readonly finality: FinalityOptions;
  /** Prices that headers carry; none when undefined. */
  readonly prices: Prices | undefined;
  /** Gets the priority fees, 20 bytes. */
  readonly coinbase: Uint8Array;
  /** Seconds of the wall clock; blocks take the time of their sealing, and at least one second more than their parent. */
  readonly now: () => number;
  readonly store: PageStore | undefined;
  /** Told how far opening has come: the share of the genesis accounts, or of the stored blocks, that is loaded, 0 to 1. */
  readonly onProgress: ((stage: 'genesis' | 'blocks', fraction: number) => void) | undefined;
}
