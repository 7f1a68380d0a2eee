import { equalBytes } from '../../../primitives/bytes.js';
import { requirePages } from '../../../state/page-census.js';
import type { PageStore } from '../../../store/page-store.js';
import { CHECKPOINT_KEY, damagedEntry, decodeCheckpoint, decodeSegment } from '../records/checkpoint-codec.js';
import { decodeHistory, HISTORY_KEY, prunedAt } from '../records/ledger.js';
import { DevnetStore, storeCorrupt } from '../storage/devnet-store.js';
import { readEntries } from './chain-entries.js';
import type { ChainFileEntry } from './chain-file.js';

/**
 * The entries of an exported chain: blocks and pending edits. The state is included only if old blocks were pruned,
 * because then the blocks do not give it. Every record is decoded as a check.
 *
 * @param head - number of the newest block
 * @throws PlumblineError `STORE_CORRUPT`
 */
export async function exportEntries(store: PageStore, head: number, chainId: number): Promise<ChainFileEntry[]> {
  const blocks = new DevnetStore(store, chainId);
  const found = await blocks.head(({ table, reason }) => {
    throw damagedEntry('meta', table, reason);
  });
  if (found !== head) throw storeCorrupt(`it ends at block ${found}, not at ${head}`);
  await blocks.edits();
  const history = decodeHistory(await store.get('blocks', HISTORY_KEY));
  let parent: Uint8Array | undefined;
  await blocks.each(0, head, ({ block, changes, pruned }) => {
    const { number, parentHash } = block.header;
    if (pruned !== prunedAt(history, number)) throw storeCorrupt(`block ${number} is not pruned as the rest is`);
    const isNext = parent === undefined ? number === 0 : equalBytes(parentHash, parent);
    if (!isNext || changes === undefined) throw storeCorrupt(`block ${number} does not follow from the one before it`);
    parent = block.hash;
  });
  const entries = await readEntries(store);
  if (history.changesTo === 0) return entries.filter((entry) => !isStateEntry(entry));
  requireState(entries);
  return entries;
}

function isStateEntry({ table, key }: ChainFileEntry): boolean {
  return table === 'state' || table === 'trie' || key === CHECKPOINT_KEY || key === HISTORY_KEY;
}

/** Checks that all pages and segments are present and can be decoded. */
function requireState(entries: readonly ChainFileEntry[]): void {
  const values = new Map(entries.map(({ table, key, value }) => [`${table} ${key}`, value]));
  const at = (table: string, key: unknown) => values.get(`${table} ${key}`);
  const checkpoint = at('meta', CHECKPOINT_KEY);
  if (checkpoint === undefined) throw damagedEntry('meta', CHECKPOINT_KEY, 'is missing');
  for (const { number } of decodeCheckpoint(checkpoint).segments) {
    decodeSegment(number, at('trie', number), new Map());
  }
  requirePages((key) => at('state', key));
}
