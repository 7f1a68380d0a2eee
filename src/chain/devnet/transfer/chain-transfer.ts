export { exportEntries } from './chain-export.js';

import { type ErrorCode, isPlumblineError, messageOf } from '../../../errors.js';
import { schemeAt } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { MemoryStore } from '../../../store/memory-store.js';
import type { Key, PageStore, Table } from '../../../store/page-store.js';
import { Devnet } from '../devnet.js';
import type { DevnetSettings } from '../options.js';
import { encodeBlockRecord } from '../records/block-record.js';
import { decodeHistory, HISTORY_KEY, type PrunedHistory, prunedAt } from '../records/pruned-history.js';
import { genesisChanges, genesisIdentity } from '../state/genesis.js';
import { DevnetStore } from '../storage/devnet-store.js';
import { ownPlaces, readEntries, requireOwnEntries, statePlaces } from './chain-entries.js';
import { type ChainFile, type ChainFileEntry, type ChainFileHeader, refusedFile } from './chain-file.js';
import { checkPruned } from './pruned-checks.js';
import { RecordChecks } from './record-checks.js';

/** Codes of errors that say nothing of a file; `CHAIN_FILE_REFUSED` says it already. */
const NOT_OF_FILE: readonly ErrorCode[] = [
  'CHAIN_FILE_REFUSED',
  'KERNEL_UNAVAILABLE',
  'KERNEL_OUT_OF_MEMORY',
  'NODE_CLOSED',
];

/** What a file says of a devnet with these settings, its head apart. */
export function describeChain({ network, alloc }: DevnetSettings): Omit<ChainFileHeader, 'head'> {
  return {
    chainId: network.chainId,
    network: network.name,
    scheme: schemeAt(network, 0),
    genesis: bytesToHex(genesisIdentity(alloc)),
  };
}

/**
 * Makes sure that a file holds a devnet that fits these settings. Its blocks are opened anew from genesis, as a copy: every
 * block leads to the next, and what it changed to the recorded roots; see `RecordChecks` for what else is compared, and what
 * cannot be. The state in the file is not looked at, unless blocks were pruned: then see `checkPruned`.
 *
 * @param settings - with kernels that nobody else uses, each time; their store is not looked at
 * @param signal - ends it
 * @returns what is to be stored: the blocks of the file, and a state that was made of them
 * @throws PlumblineError `CHAIN_FILE_REFUSED`; the signal's reason
 */
export async function checkChain(
  file: ChainFile,
  settings: () => Promise<DevnetSettings>,
  signal?: AbortSignal,
): Promise<readonly ChainFileEntry[]> {
  const alone = async (): Promise<DevnetSettings> => {
    const { health: _, budget: __, onProgress: ___, ...rest } = await settings();
    return { ...rest, mining: 'manual', check: 'full', onProgress: undefined };
  };
  const own = await alone();
  requireSameChain(file, own);
  requireOwnEntries(file.entries);
  let devnet: Devnet | undefined;
  try {
    const store = new CheckedCopy(signal);
    await store.commit({ puts: file.entries });
    const blocks = new DevnetStore(store, file.chainId);
    const history = await requireWhole(file, store, blocks);
    await checkRecords(file, blocks, history, own);
    const genesis = history.changesTo > 0 ? await checkPruned(store, blocks, history, await alone()) : undefined;
    const held = await blocks.block(0);
    if (genesis === undefined) await store.commit({ deletes: await statePlaces(store) });
    const { block } = genesis ?? held;
    // Nothing of its hash says what the accounts are that it begins with.
    const value = encodeBlockRecord({ block, receipts: [], changes: genesisChanges(own.alloc), zkRoot: held.zkRoot });
    await store.commit({ puts: [{ table: 'blocks', key: 0, value }] });
    devnet = await Devnet.open({ ...own, store });
    await devnet.whenLoaded();
    const zkRoot = genesis?.zkRoot ?? devnet.layerOne.stateRoot(0);
    if (zkRoot === undefined || !equalBytes(zkRoot, held.zkRoot)) throw refusedFile('has another zk root at genesis');
    await devnet.end();
    return await readEntries(store);
  } catch (error) {
    await devnet?.end();
    signal?.throwIfAborted();
    throw isOfFile(error) ? refusedFile(`does not open: ${messageOf(error)}`, error) : error;
  }
}

/** Lets others have the thread now and then: a chain is long. */
class CheckedCopy extends MemoryStore {
  constructor(private readonly signal: AbortSignal | undefined) {
    super();
  }

  override async getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.signal?.throwIfAborted();
    return super.getMany(table, keys);
  }
}

async function checkRecords(
  { head }: ChainFileHeader,
  blocks: DevnetStore,
  history: PrunedHistory,
  { network, alloc }: DevnetSettings,
): Promise<void> {
  const checks = new RecordChecks(network);
  checks.changes('genesis', genesisChanges(alloc));
  checks.changes('the pruned blocks', history.changes);
  await blocks.each(0, head, async (record) => {
    const { number } = record.block.header;
    if (record.pruned !== prunedAt(history, number))
      throw refusedFile(`does not hold: block ${number} is not pruned as the rest is`);
    await checks.block(record);
  });
}

function requireSameChain(file: ChainFileHeader, settings: DevnetSettings): void {
  const own = describeChain(settings);
  for (const name of ['chainId', 'network', 'scheme', 'genesis'] as const) {
    if (file[name] === own[name]) continue;
    throw refusedFile(`is of another chain: ${name} is ${file[name]}, this devnet has ${own[name]}`);
  }
}

/** Nothing in it is to be mended: it was whole when it was written. */
async function requireWhole(file: ChainFileHeader, store: PageStore, blocks: DevnetStore): Promise<PrunedHistory> {
  const head = await blocks.head(({ table, reason }) => {
    throw refusedFile(`is damaged: table ${table}, ${reason}`);
  });
  if (head === undefined) throw refusedFile('has no blocks');
  if (head !== file.head) throw refusedFile(`ends at block ${head} and says ${file.head}`);
  await blocks.edits();
  const history = decodeHistory(await store.get('blocks', HISTORY_KEY));
  if (history.bodiesTo > history.changesTo || history.changesTo > head) throw refusedFile('has pruned blocks it lacks');
  return history;
}

/** Whatever is thrown while a file is looked at comes of what is in it, but for these. */
function isOfFile(error: unknown): boolean {
  return !isPlumblineError(error) || !NOT_OF_FILE.includes(error.code);
}

/** Puts what was checked in the place of the devnet in a store, in one commit. */
export async function replaceEntries(store: PageStore, puts: readonly ChainFileEntry[]): Promise<void> {
  const deletes = await ownPlaces(store);
  try {
    await store.commit({ deletes, puts });
  } catch (error) {
    // It may have come to its end although the connection did not.
    if (!(await holds(store, puts).catch(() => false))) throw error;
  }
}

async function holds(store: PageStore, entries: readonly ChainFileEntry[]): Promise<boolean> {
  const held = await readEntries(store);
  return held.length === entries.length && held.every((entry, i) => isSame(entry, entries[i]!));
}

function isSame(a: ChainFileEntry, b: ChainFileEntry): boolean {
  return a.table === b.table && a.key === b.key && equalBytes(a.value, b.value);
}
