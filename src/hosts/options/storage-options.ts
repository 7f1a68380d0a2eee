import { invalidParameter } from '../../errors.js';
import type { Durability } from '../../store/page-store.js';

/** Bytes that each kind of what is kept may take, keys and values; a kind that is left out has its default. */
export interface StorageBudgets {
  /** Block headers of a light node. Default 8 MiB, some 14 000. */
  readonly headers?: number;
  /** What layer 1 was seen to hold, by network. Default 256 KiB. */
  readonly finalizations?: number;
  /** Zk proofs of a light node. Default 8 MiB, some 600 of an account with a slot. */
  readonly proofs?: number;
  /** Code of contracts, by hash. Default 16 MiB. */
  readonly codes?: number;
  /** Compression dictionaries, 64 KiB each. Default 1 MiB. */
  readonly dictionaries?: number;
  /**
   * Blocks and state of a devnet. No bound when left out: nothing of a devnet can be had again. With one, old blocks lose
   * what they changed, so that balances and slots after them cannot be read any more; then their transactions and receipts,
   * so that they are `BLOCK_PRUNED`. Headers stay, some 600 bytes each, and so does all that is newer than the stored state
   * or has to be provable. A bound below that does not hold.
   */
  readonly devnet?: number;
}

/** How much is kept, and how safely. */
export interface StorageOptions {
  /** What was used least recently goes first. */
  readonly budgets?: StorageBudgets;
  /**
   * When a commit counts as done: `relaxed`, the default, survives a crash of page or browser, while a power cut may cost the
   * newest commits, each as a whole; `strict` waits for the disk, which makes every block of a devnet some milliseconds
   * slower.
   *
   * A devnet commits each block before whoever sent a transaction gets its hash. What a light node has verified is written
   * behind, at the latest a second later or when 1 MiB waits, and when the node is closed.
   */
  readonly durability?: Durability;
  /**
   * What becomes of a node whose store cannot be opened, or not be used as it opens: `error`, the default of devnets and
   * replicas, fails with the store's error; `memory`, that of light nodes, leaves the store as it is and goes on in memory. The
   * node says so: `storage().status`, event `storage`.
   *
   * A store that fails later ends no node, whatever this says: see `StoreStatus`.
   */
  readonly fallback?: 'error' | 'memory';
}

const MIB = 2 ** 20;

/** Budgets of tables, defaults filled in: some 14 000 headers, 600 proofs of an account with a slot, 1 500 contracts. */
export function budgetsOf({ budgets = {} }: StorageOptions): Required<Omit<StorageBudgets, 'devnet'>> {
  const {
    headers = 8 * MIB,
    finalizations = MIB / 4,
    proofs = 8 * MIB,
    codes = 16 * MIB,
    dictionaries = MIB,
  } = budgets;
  return { headers, finalizations, proofs, codes, dictionaries };
}

const DURABILITIES: readonly unknown[] = ['default', 'strict', 'relaxed'];

/** @throws PlumblineError `INVALID_PARAMETER` */
export function requireStorage({ budgets = {}, durability = 'relaxed', fallback = 'error' }: StorageOptions): void {
  for (const [name, bytes] of Object.entries(budgets)) {
    if (bytes === undefined || (Number.isSafeInteger(bytes) && bytes >= 0)) continue;
    throw invalidParameter(`storage.budgets.${name}`, 'must be a whole number of bytes');
  }
  if (fallback !== 'error' && fallback !== 'memory')
    throw invalidParameter('storage.fallback', 'must be error or memory');
  if (!DURABILITIES.includes(durability))
    throw invalidParameter('storage.durability', 'must be one of default, strict, relaxed');
}
