import { PlumblineError } from '../../errors.js';
import type { ChainImport, StorageControl, StorageReport, TableReport } from '../../rpc/schema/answers.js';
import type { MeteredStore } from '../../store/metered-store.js';
import type { Table } from '../../store/page-store.js';
import { TABLES } from '../../store/schema.js';
import { isStoreFailure, type StoreHealth } from '../../store/store-status.js';
import type { TableUsage } from '../../store/table-usage.js';
import { STORAGE_OPTIONS, type StorageOptions } from '../options/options.js';

/** What the storage control of a node works on. */
export interface NodeStorageParts {
  /** Undefined for a node in memory. */
  readonly store: MeteredStore | undefined;
  readonly health: StoreHealth;
  readonly options: StorageOptions;
  /** Budgets of tables, defaults among them. */
  readonly budgets: Partial<Readonly<Record<Table, number>>>;
  /** Tables that the budget of a devnet limits; empty for other chains. */
  readonly devnetTables: readonly Table[];
  clear?(): Promise<void>;
  exportChain?(): Promise<Uint8Array>;
  importChain?(file: Uint8Array, signal?: AbortSignal): Promise<ChainImport>;
}

const NOTHING: TableUsage = { records: 0, bytes: 0 };

/** The storage control of a node in this thread. */
export class NodeStorage implements StorageControl {
  constructor(private readonly parts: NodeStorageParts) {}

  async report(): Promise<StorageReport> {
    const { store, health, options, budgets, devnetTables } = this.parts;
    let { status } = health;
    const usage = await store?.usage().catch((error: unknown) => {
      if (!isStoreFailure(error)) throw error;
      if (status.mode === 'durable') status = { ...status, mode: 'memory', reason: error.code, message: error.message };
      return undefined;
    });
    const tables = Object.fromEntries(
      TABLES.map((table) => {
        const budget = budgets[table];
        return [table, { ...(usage?.[table] ?? NOTHING), ...(budget !== undefined && { budget }) }];
      }),
    ) as Record<Table, TableReport>;
    const bytesOf = (of: readonly Table[]) => of.reduce((sum, table) => sum + tables[table].bytes, 0);
    const budget = options.budgets?.devnet;
    const [origin, persisted] = await Promise.all([estimateOf(), isPersisted()]);
    return {
      status,
      ...(store !== undefined && { durability: options.durability ?? STORAGE_OPTIONS.durability.or }),
      tables,
      bytes: bytesOf(TABLES),
      ...(devnetTables.length > 0 && {
        devnet: { bytes: bytesOf(devnetTables), ...(budget !== undefined && { budget }) },
      }),
      ...(origin !== undefined && { origin }),
      ...(persisted !== undefined && { persisted }),
    };
  }

  async clear(): Promise<void> {
    if (this.parts.clear === undefined) throw notEnabled('clear');
    await this.parts.clear();
  }

  async exportChain(): Promise<Uint8Array> {
    if (this.parts.exportChain === undefined) throw notEnabled('exportChain');
    return this.parts.exportChain();
  }

  async importChain(file: Uint8Array, signal?: AbortSignal): Promise<ChainImport> {
    if (this.parts.importChain === undefined) throw notEnabled('importChain');
    return this.parts.importChain(file, signal);
  }
}

function notEnabled(method: string): PlumblineError<'METHOD_NOT_ENABLED'> {
  return new PlumblineError('METHOD_NOT_ENABLED', `${method} is not available on this kind of chain`, { method });
}

/** Undefined in Node and in insecure pages. */
function storageManager(): StorageManager | undefined {
  return typeof navigator === 'undefined' ? undefined : (navigator as Partial<Navigator>).storage;
}

async function estimateOf(): Promise<StorageReport['origin']> {
  try {
    const estimate = await storageManager()?.estimate();
    if (estimate === undefined) return undefined;
    const { usage, quota } = estimate;
    return { ...(usage !== undefined && { usage }), ...(quota !== undefined && { quota }) };
  } catch {
    return undefined;
  }
}

async function isPersisted(): Promise<boolean | undefined> {
  try {
    return await storageManager()?.persisted();
  } catch {
    return undefined;
  }
}
