import type { CalldataSizer } from '../../kernel/contracts.js';
import type { PageStore } from '../../store/page-store.js';
import type { FinalityOptions, MiningMode, Tool } from './options.js';
import type { DevAccount } from './state/dev-accounts.js';
import type { StoringOptions } from './storage/chain-writer.js';
import type { StoredSettings } from './storage/find-stored.js';
import type { DevnetBudget } from './storage/pruning.js';

/** Values that developers have set for the next blocks. */
export interface NextBlock {
  /** Of all blocks from now on, 20 bytes. */
  readonly coinbase: Uint8Array;
  /** Of the next block only, wei. Later base fees follow from it. */
  readonly baseFeePerGas: bigint | undefined;
  /** Of the next block. Later blocks keep it. */
  readonly gasLimit: bigint | undefined;
  /** Of the next block only, 32 bytes. */
  readonly prevRandao?: Uint8Array | undefined;
}

/** Settings that the making of blocks depends on. */
export type MakingSettings = Pick<
  DevnetSettings,
  'accounts' | 'coinbase' | 'forkedFrom' | 'network' | 'now' | 'prices' | 'sizer' | 'slotAt' | 'store' | 'tool'
>;

/** Settings of a devnet, with all defaults filled in. */
export interface DevnetSettings extends StoredSettings {
  /** Initial mining mode. */
  readonly mining: MiningMode;
  /** Whose keys it holds; `DEV_ACCOUNTS` when left out. */
  readonly accounts?: readonly DevAccount[] | undefined;
  /** Decides what methods mean that differ between tools. */
  readonly tool?: Tool | undefined;
  /** Computes compressed sizes for the pool's profitability check. Without it the pool does not check. */
  readonly sizer?: (() => Promise<CalldataSizer>) | undefined;
  readonly finality: FinalityOptions;
  /** The block of a network on which it is a fork: its number and its hash, 32 bytes. */
  readonly forkedFrom?: { readonly number: number; readonly hash: Uint8Array } | undefined;
  /** Wall clock in seconds. A block takes the time of its sealing, and at least one second more than its parent. */
  readonly now: () => number;
  /** Slot of a block by its time in seconds, from Amsterdam on, where another chain counts slots. */
  readonly slotAt?: ((timestamp: number) => bigint) | undefined;
  readonly store: PageStore | undefined;
  /** What the devnet does when its store fails. */
  readonly storing?: StoringOptions | undefined;
  /** How much is kept; everything if left out. */
  readonly budget?: DevnetBudget | undefined;
  /** How a loaded state is checked against its roots; default `sampled`, see `LoadOptions`. */
  readonly check?: 'sampled' | 'full' | undefined;
}
