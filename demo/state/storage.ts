import type { PlumblineNode } from 'plumbline';

/** One table of the node's store. */
export interface TableFigures {
  readonly name: string;
  readonly records: number;
  readonly bytes: number;
  /** Bytes it may have; undefined where there is no limit. */
  readonly budget: number | undefined;
}

export interface Figures {
  /** Bytes this origin uses and may use, by the browser's estimate. */
  readonly usage: number | undefined;
  readonly quota: number | undefined;
  readonly tables: readonly TableFigures[];
}

/** What is stored, as far as node and browser say; undefined when neither says anything. */
export async function storageFigures(node: PlumblineNode | undefined): Promise<Figures | undefined> {
  const [browser, tables] = await Promise.all([browserFigures(), nodeTables(node)]);
  if (browser === undefined && tables.length === 0) return undefined;
  return { usage: browser?.usage, quota: browser?.quota, tables };
}

async function browserFigures(): Promise<StorageEstimate | undefined> {
  try {
    return await navigator.storage?.estimate();
  } catch {
    return undefined;
  }
}

async function nodeTables(node: PlumblineNode | undefined): Promise<readonly TableFigures[]> {
  const { storage } = (node ?? {}) as { storage?: () => Promise<{ tables?: unknown }> };
  if (storage === undefined) return [];
  try {
    const { tables = {} } = await storage.call(node);
    return Object.entries(tables as Record<string, Partial<TableFigures>>).map(([name, table]) => ({
      name: table.name ?? name,
      records: table.records ?? 0,
      bytes: table.bytes ?? 0,
      budget: table.budget,
    }));
  } catch {
    return [];
  }
}
