import { isPlumblineError } from '../../errors.js';
import { schemeAt } from '../../networks/network.js';
import { bytesToHex } from '../../primitives/hex.js';
import { MemoryStore } from '../../store/memory-store.js';
import type { Commit, PageStore, Table } from '../../store/page-store.js';
import { type ChainFile, type ChainFileEntry, type ChainFileHeader, refusedFile } from './chain-file.js';
import { Devnet } from './devnet.js';
import { genesisIdentity } from './genesis.js';
import type { DevnetSettings } from './options.js';

/** Tables that belong to a devnet as a whole. */
const OWN_TABLES: readonly Table[] = ['blocks', 'state', 'trie'];
/** Its entries of `meta`. */
const OWN_PREFIX = 'devnet-';
/** Entries read at once. */
const BATCH = 64;

/** What a file says of a devnet with these settings, its head apart. */
export function describeChain({ network, alloc }: DevnetSettings): Omit<ChainFileHeader, 'head'> {
  return {
    chainId: network.chainId,
    network: network.name,
    scheme: schemeAt(network, 0),
    genesis: bytesToHex(genesisIdentity(alloc)),
  };
}

/** All that a store has of a devnet. */
export async function readEntries(store: PageStore): Promise<ChainFileEntry[]> {
  const entries: ChainFileEntry[] = [];
  for (const { table, key } of await ownKeys(store)) entries.push({ table, key, value: new Uint8Array(0) });
  for (let at = 0; at < entries.length; ) {
    const { table } = entries[at]!;
    let end = at;
    while (end < entries.length && end < at + BATCH && entries[end]!.table === table) end++;
    const batch = entries.slice(at, end);
    const values = await store.getMany(
      table,
      batch.map(({ key }) => key),
    );
    for (const [i, entry] of batch.entries()) entries[at + i] = { ...entry, value: values[i] ?? new Uint8Array(0) };
    at = end;
  }
  return entries;
}

/**
 * Makes sure that a file holds a devnet that fits these settings and opens as a whole: every block leads to the next, and the
 * state to the recorded roots.
 *
 * @param settings - with kernels that nobody else uses; their store is not looked at
 * @throws PlumblineError `CHAIN_FILE_REFUSED`
 */
export async function checkChain(file: ChainFile, settings: DevnetSettings): Promise<void> {
  const own = describeChain(settings);
  for (const name of ['chainId', 'network', 'scheme', 'genesis'] as const) {
    if (file[name] === own[name]) continue;
    throw refusedFile(`is of another chain: ${name} is ${file[name]}, this devnet has ${own[name]}`);
  }
  const store = new MemoryStore();
  await store.commit({ puts: file.entries });
  let devnet: Devnet | undefined;
  try {
    const { health: _, ...alone } = settings;
    devnet = await Devnet.open({ ...alone, store, mining: 'manual', check: 'full', onProgress: undefined });
    await devnet.whenLoaded();
    const { number } = (await devnet.head()).header;
    if (number !== file.head) throw refusedFile(`ends at block ${number} and says ${file.head}`);
  } catch (error) {
    if (!isPlumblineError(error, 'STORE_CORRUPT') && !isPlumblineError(error, 'STORE_TOO_NEW')) throw error;
    throw refusedFile(`does not open: ${error.message}`, error);
  } finally {
    await devnet?.end();
  }
}

/** Puts a checked file in the place of the devnet in a store, in one commit. */
export async function replaceEntries(store: PageStore, { entries }: ChainFile): Promise<void> {
  await store.commit({ deletes: await ownKeys(store), puts: entries });
}

async function ownKeys(store: PageStore): Promise<NonNullable<Commit['deletes']>[number][]> {
  const meta = (await store.keys('meta')).filter((key) => String(key).startsWith(OWN_PREFIX));
  const keys = meta.map((key) => ({ table: 'meta' as Table, key }));
  for (const table of OWN_TABLES) for (const key of await store.keys(table)) keys.push({ table, key });
  return keys;
}
