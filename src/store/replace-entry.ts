import { isPlumblineError } from '../errors.js';
import type { BudgetedTable } from './budgeted-table.js';

/** Most times that an entry is written again because another node was faster. */
const MAX_TRIES = 100;

/**
 * Stores an entry that several nodes write, at once: the value is made from what the store holds when it is written. An error of the
 * store is reported, not thrown.
 *
 * @param change - gives the new value for the one in the store, which may be undefined; undefined leaves it as it is
 */
export async function replaceEntry(
  table: BudgetedTable,
  key: string,
  change: (held: Uint8Array | undefined) => Uint8Array | undefined,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const held = await table.read(key);
    const isUnreadable = held === 'unreadable';
    const value = change(isUnreadable ? undefined : held);
    if (value === undefined) return;
    if (isUnreadable) return table.put(key, value);
    try {
      return await table.replace(key, held, value);
    } catch (error) {
      // Another node has written the entry since the read.
      if (!isPlumblineError(error, 'STORE_TAKEN_OVER')) return table.writer.failed(error);
    }
  }
}
