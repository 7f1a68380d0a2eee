import { PlumblineError } from '../../errors.js';
import type { Durability, Table } from '../../store/page-store.js';
import type { StoreStatus } from '../../store/store-status.js';
import type { TableUsage } from '../../store/table-usage.js';

/** Use and limit of one table. */
export interface TableReport extends TableUsage {
  /** Bytes; left out if the table has no limit of its own. */
  readonly budget?: number;
}

/** What a node stores, and how much. Plain data. */
export interface StorageReport {
  /** Whether what the node learns is still there after it is closed. */
  readonly status: StoreStatus;
  /** Of commits; left out for a node in memory. */
  readonly durability?: Durability;
  /** All zero for a node in memory, and while the store cannot be read: `status` has the reason. */
  readonly tables: Readonly<Record<Table, TableReport>>;
  /** Of all tables. */
  readonly bytes: number;
  /** Blocks and state of a devnet, with the budget for both if there is one; left out for other chains. */
  readonly devnet?: { readonly bytes: number; readonly budget?: number };
  /**
   * What the browser reports of this origin: bytes in use (an estimate), and the quota. Files of a database shrink some time
   * after their content. Left out if the browser reports nothing.
   */
  readonly origin?: { readonly usage?: number; readonly quota?: number };
  /** Whether the browser has promised not to drop what this origin stores (`navigator.storage.persist`). */
  readonly persisted?: boolean;
}

/** Result of importing a chain. */
export interface ChainImport {
  /** Number of the newest block. */
  readonly head: number;
}

/** Control of what a node stores. */
export interface StorageControl {
  report(): Promise<StorageReport>;
  /** Deletes everything that is stored. A devnet continues from genesis, a light node with nothing. */
  clear(): Promise<void>;
  /** @throws PlumblineError `METHOD_NOT_ENABLED` on other chains than devnets; `STORE_UNAVAILABLE` without a store */
  exportChain(): Promise<Uint8Array>;
  /**
   * @param signal - ends it before anything is changed; once writing has begun it has no effect
   * @throws PlumblineError `CHAIN_FILE_REFUSED`; `METHOD_NOT_ENABLED` on other chains than devnets; the signal's reason
   */
  importChain(file: Uint8Array, signal?: AbortSignal): Promise<ChainImport>;
}

/** A typed error as the result of a method of the library: a JSON-RPC error would leave out its code and details. */
interface Thrown {
  readonly plumblineError: Pick<PlumblineError, 'code' | 'message' | 'details'>;
}

export function thrownResult({ code, message, details }: PlumblineError): Thrown {
  return { plumblineError: { code, message, details } };
}

/** The result of a method. @throws PlumblineError the one that the method threw */
export function storageResult(answer: unknown): unknown {
  const thrown = (answer as Partial<Thrown> | null)?.plumblineError;
  if (thrown !== undefined) throw new PlumblineError(thrown.code, thrown.message, thrown.details);
  return answer;
}
