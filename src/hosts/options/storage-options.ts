import { type TableOf, type WithDefaults, withDefaults } from '../../primitives/option-table.js';
import type { Durability } from '../../store/page-store.js';

/** Limits of the stored data by kind, in bytes of keys and values. */
export interface StorageBudgets {
  /** Block headers of a light node. Default 8 MiB, about 14 000 headers. */
  readonly headers?: number;
  /** Finalizations read from layer 1. Default 256 KiB. */
  readonly finalizations?: number;
  /** Zk proofs of a light node. The same number of bytes is kept in memory. Default 8 MiB, about 600 proofs of an account with a slot. */
  readonly proofs?: number;
  /** Code of contracts, by hash. Default 16 MiB. */
  readonly codes?: number;
  /** Compression dictionaries, 64 KiB each. Default 1 MiB. */
  readonly dictionaries?: number;
  /**
   * Blocks and state of a devnet. Default: no limit, because a devnet's data cannot be fetched again. With a limit, old blocks first
   * lose their state changes: balances and slots after them can no longer be read. Then they lose their transactions and receipts, and
   * are `BLOCK_PRUNED`. Headers stay, about 600 bytes each. Blocks that are newer than the stored state, or must stay provable, also
   * stay. If the limit is below the size of these, it is exceeded.
   */
  readonly devnet?: number;
}

/** Budgets and durability of a store. */
export interface StorageOptions {
  /** The least recently used data is deleted first. */
  readonly budgets?: StorageBudgets;
  /**
   * When a commit counts as done. `relaxed`, the default: a commit survives a crash of the page or the browser, but a power failure
   * may lose the newest commits, each as a whole. `strict`: a commit waits for the disk. This makes every block of a devnet some
   * milliseconds slower.
   *
   * A devnet commits a block before it answers with the hash of a transaction in it. A light node writes verified data in the
   * background: after at most a second, when 1 MiB is waiting, and when the node is closed.
   */
  readonly durability?: Durability;
  /**
   * What happens if the store cannot be opened, or fails while the node opens. `error`, the default of devnets and replicas: the node
   * does not open, with the store's error. `memory`, the default of light nodes: the node runs in memory, and leaves the store as it
   * is. `storage().status` and the event `storage` say so.
   *
   * A store that fails later does not end the node: see `StoreStatus`.
   */
  readonly fallback?: 'error' | 'memory';
}

const MIB = 2 ** 20;

/** What each budget is. */
export const BUDGET_OPTIONS = {
  headers: { is: 'count', or: 8 * MIB },
  finalizations: { is: 'count', or: MIB / 4 },
  proofs: { is: 'count', or: 8 * MIB },
  codes: { is: 'count', or: 16 * MIB },
  dictionaries: { is: 'count', or: MIB },
  devnet: { is: 'count' },
} as const satisfies TableOf<StorageBudgets>;

/** What each option of a store is. */
export const STORAGE_OPTIONS = {
  budgets: { is: BUDGET_OPTIONS, or: {} },
  durability: { is: ['default', 'strict', 'relaxed'], or: 'relaxed' },
  // Its default goes by the kind of chain.
  fallback: { is: ['error', 'memory'] },
} as const satisfies TableOf<StorageOptions>;

/** Budgets of tables, with defaults. */
export type Budgets = Omit<WithDefaults<StorageBudgets, typeof BUDGET_OPTIONS>, 'devnet'>;

/** Budgets of tables, with defaults. */
export function budgetsOf({ budgets = {} }: StorageOptions): Budgets {
  const { devnet: _, ...ofTables } = withDefaults(BUDGET_OPTIONS, budgets);
  return ofTables;
}
