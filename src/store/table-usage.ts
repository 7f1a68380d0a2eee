import { decodeChecked, encodeChecked } from './checked-text.js';
import type { Key, Table } from './page-store.js';
import { TABLES } from './schema.js';

/** Size of a table. */
export interface TableUsage {
  readonly records: number;
  /** Bytes of keys and values, without the overhead of the database. */
  readonly bytes: number;
}

/** Size of each table. */
export type StoreUsage = Readonly<Record<Table, TableUsage>>;

const FORMAT = 1;
/** Bytes that a numeric key counts for. */
const NUMBER_BYTES = 8;

/** Bytes that a record counts for. */
export function recordBytes(key: Key, valueBytes: number): number {
  return (typeof key === 'string' ? key.length : NUMBER_BYTES) + valueBytes;
}

/** The usage of an empty store. */
export function emptyUsage(): Record<Table, TableUsage> {
  return Object.fromEntries(TABLES.map((table) => [table, { records: 0, bytes: 0 }])) as Record<Table, TableUsage>;
}

/** Encodes figures for the store. */
export function encodeUsage(usage: StoreUsage): Uint8Array {
  const rows = TABLES.map((table) => [table, usage[table].records, usage[table].bytes]);
  return encodeChecked(JSON.stringify([FORMAT, rows]));
}

/** @returns undefined for damaged figures, another format or another record; then the tables have to be counted */
export function decodeUsage(bytes: Uint8Array): StoreUsage | undefined {
  const text = decodeChecked(bytes);
  if (text === undefined) return undefined;
  const stored: unknown = JSON.parse(text);
  if (!Array.isArray(stored) || stored[0] !== FORMAT) return undefined;
  const rows = stored[1] as [Table, number, number][];
  const usage = emptyUsage();
  for (const [table, records, size] of rows) if (table in usage) usage[table] = { records, bytes: size };
  return usage;
}
