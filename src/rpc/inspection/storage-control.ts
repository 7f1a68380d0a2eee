import type { Durability, Table } from '../../store/page-store.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { TableUsage } from '../../store/table-usage.js';

/** What one table takes up, and may. */
export interface TableReport extends TableUsage {
  /** Bytes; left out where there is no limit to this table alone. */
  readonly budget?: number;
}

/** What a node keeps, and how much of it. Plain data. */
export interface StorageReport {
  /** Whether what the node learns outlives it. */
  readonly status: StoreStatus;
  /** Of commits; left out for a node in memory. */
  readonly durability?: Durability;
  /** All zero for a node in memory. */
  readonly tables: Readonly<Record<Table, TableReport>>;
  /** Of all tables. */
  readonly bytes: number;
  /** Blocks and state of a devnet, with the budget of both where there is one; left out for other chains. */
  readonly devnet?: { readonly bytes: number; readonly budget?: number };
  /**
   * What the browser says of this origin: bytes that everything in it takes up by its estimate, and may; files of a database
   * shrink some time after what is in them. Left out where it says nothing.
   */
  readonly origin?: { readonly usage?: number; readonly quota?: number };
  /** Whether the browser has promised not to drop what this origin stores (`navigator.storage.persist`). */
  readonly persisted?: boolean;
}

/** What came of importing a chain. */
export interface ChainImport {
  /** Number of the newest block. */
  readonly head: number;
}

/** What a node can be told about what it keeps. */
export interface StorageControl {
  report(): Promise<StorageReport>;
  /** Deletes everything that is stored, and goes on from genesis, or with nothing. */
  clear(): Promise<void>;
  /** @throws PlumblineError `METHOD_NOT_ENABLED` on other chains than devnets; `STORE_UNAVAILABLE` without a store */
  exportChain(): Promise<Uint8Array>;
  /**
   * @param signal - ends it before anything is changed; what has begun to be written is written
   * @throws PlumblineError `CHAIN_FILE_REFUSED`; `METHOD_NOT_ENABLED` on other chains than devnets; the signal's reason
   */
  importChain(file: Uint8Array, signal?: AbortSignal): Promise<ChainImport>;
}
