import { type ErrorCode, isPlumblineError, messageOf } from '../../errors.js';
import { schemeAt } from '../../networks/network.js';
import { bytesToHex } from '../../primitives/hex.js';
import { MemoryStore } from '../../store/memory-store.js';
import type { PageStore } from '../../store/page-store.js';
import { ownKeys, requireOwnEntries } from './chain-entries.js';
import { type ChainFile, type ChainFileEntry, type ChainFileHeader, refusedFile } from './chain-file.js';
import { Devnet } from './devnet.js';
import { genesisIdentity } from './genesis.js';
import type { DevnetSettings } from './options.js';
import { DevnetStore } from './persistence.js';

/** Codes of errors that say nothing of a file; `CHAIN_FILE_REFUSED` says it already. */
const NOT_OF_FILE: readonly ErrorCode[] = [
  'CHAIN_FILE_REFUSED',
  'KERNEL_UNAVAILABLE',
  'KERNEL_OUT_OF_MEMORY',
  'NODE_CLOSED',
];
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
  requireSameChain(file, settings);
  requireOwnEntries(file.entries);
  let devnet: Devnet | undefined;
  try {
    const store = new MemoryStore();
    await store.commit({ puts: file.entries });
    await requireWhole(file, new DevnetStore(store, file.chainId));
    const { health: _, ...alone } = settings;
    devnet = await Devnet.open({ ...alone, store, mining: 'manual', check: 'full', onProgress: undefined });
    await devnet.whenLoaded();
  } catch (error) {
    throw isOfFile(error) ? refusedFile(`does not open: ${messageOf(error)}`, error) : error;
  } finally {
    await devnet?.end();
  }
}

function requireSameChain(file: ChainFileHeader, settings: DevnetSettings): void {
  const own = describeChain(settings);
  for (const name of ['chainId', 'network', 'scheme', 'genesis'] as const) {
    if (file[name] === own[name]) continue;
    throw refusedFile(`is of another chain: ${name} is ${file[name]}, this devnet has ${own[name]}`);
  }
}

/** Nothing in it is to be mended: it was whole when it was written. */
async function requireWhole(file: ChainFileHeader, blocks: DevnetStore): Promise<void> {
  const head = await blocks.head(({ table, reason }) => {
    throw refusedFile(`is damaged: table ${table}, ${reason}`);
  });
  if (head === undefined) throw refusedFile('has no blocks');
  if (head !== file.head) throw refusedFile(`ends at block ${head} and says ${file.head}`);
  await blocks.edits();
}

/** Whatever is thrown while a file is looked at comes of what is in it, but for these. */
function isOfFile(error: unknown): boolean {
  return !isPlumblineError(error) || !NOT_OF_FILE.includes(error.code);
}

/** Puts a checked file in the place of the devnet in a store, in one commit. */
export async function replaceEntries(store: PageStore, { entries }: ChainFile): Promise<void> {
  await store.commit({ deletes: await ownKeys(store), puts: entries });
}
