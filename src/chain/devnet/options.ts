import type { CalldataSizer } from '../../kernel/contracts.js';
import type { PageStore } from '../../store/page-store.js';
import type { FinalityOptions } from './layer-one/finality.js';
import type { StoringOptions } from './storage/chain-writer.js';
import type { StoredSettings } from './storage/find-stored.js';
import type { DevnetBudget } from './storage/pruning.js';

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
export interface DevnetSettings extends StoredSettings {
  /** How mining begins. */
  readonly mining: MiningMode;
  /** Sizes transactions, for the margin that the pool asks; it asks none without. */
  readonly sizer?: CalldataSizer | undefined;
  readonly finality: FinalityOptions;
  /** Seconds of the wall clock; blocks take the time of their sealing, and at least one second more than their parent. */
  readonly now: () => number;
  readonly store: PageStore | undefined;
  /** What the devnet does when its store fails. */
  readonly storing?: StoringOptions | undefined;
  /** How much is kept; everything when left out. */
  readonly budget?: DevnetBudget | undefined;
  /** How a stored state is compared with its roots as it is loaded; `sampled` when left out, see `LoadOptions`. */
  readonly check?: 'sampled' | 'full' | undefined;
}
