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

/** Encodes text for the store, after a checksum. The checksum detects damage, not manipulation. */
export function encodeChecked(text: string): Uint8Array {
  return new TextEncoder().encode(`${checksum(text)} ${text}`);
}

/** @returns undefined when the checksum does not match */
export function decodeChecked(bytes: Uint8Array): string | undefined {
  const stored = new TextDecoder().decode(bytes);
  const at = stored.indexOf(' ');
  const text = stored.slice(at + 1);
  return stored.slice(0, at) === checksum(text) ? text : undefined;
}

/** FNV-1a, 32 bits. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16);
}
