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
import { decodeHistory, HISTORY_KEY, type PrunedHistory, prunedAt } from '../records/ledger.js';
import { allocAsStored, genesisChanges, genesisIdentity } from '../state/genesis.js';
import { DevnetStore } from '../storage/devnet-store.js';
import { devnetKeys, readEntries, requireOwnEntries, stateKeys } from './chain-entries.js';
import { type ChainFile, type ChainFileEntry, type ChainFileHeader, refusedFile } from './chain-file.js';
import { checkPruned } from './pruned-checks.js';
import { RecordChecks } from './record-checks.js';

/** Codes of errors that the file did not cause, and `CHAIN_FILE_REFUSED`, which already names the file. */
const OTHER_ERRORS: readonly ErrorCode[] = [
  'CHAIN_FILE_REFUSED',
  'KERNEL_UNAVAILABLE',
  'KERNEL_OUT_OF_MEMORY',
  'NODE_CLOSED',
];

/** Description of a devnet with these settings, without its head. */
export function describeChain({
  network,
  alloc,
}: Pick<DevnetSettings, 'network' | 'alloc'>): Omit<ChainFileHeader, 'head'> {
  return {
    chainId: network.chainId,
    network: network.name,
    scheme: schemeAt(network, 0),
    genesis: bytesToHex(genesisIdentity(alloc)),
  };
}

/**
 * Checks that a file holdsEntries a valid devnet for these settings. Its blocks are opened again from genesis, in a copy:
 * every block must link to the one before, and its changes must give the recorded roots. `RecordChecks` says what else
 * is checked, and what cannot be. The state in the file is ignored, unless blocks were pruned: then see `checkPruned`.
 *
 * @param settings - called for new settings, with unshared kernels each time; their store is not used
 * @param signal - aborts the check
 * @returns the entries to store: the blocks of the file, and a state that was rebuilt from them
 * @throws PlumblineError `CHAIN_FILE_REFUSED`; the signal's reason
 */
export async function checkChain(
  file: ChainFile,
  settings: () => Promise<DevnetSettings>,
  signal?: AbortSignal,
): Promise<readonly ChainFileEntry[]> {
  const isolatedSettings = async (): Promise<DevnetSettings> => {
    const { health: _, budget: __, onProgress: ___, ...rest } = await settings();
    const earlier = allocAsStored(rest.alloc, []);
    const isEarlier = file.genesis === bytesToHex(genesisIdentity(earlier));
    return { ...rest, ...(isEarlier && { alloc: earlier }), mining: 'manual', check: 'full', onProgress: undefined };
  };
  const own = await isolatedSettings();
  requireSameChain(file, own);
  await requireOwnEntries(file.entries);
  let devnet: Devnet | undefined;
  try {
    const store = new CheckedCopy(signal);
    await store.commit({ puts: file.entries });
    const blocks = new DevnetStore(store, file.chainId);
    const history = await requireWhole(file, store, blocks);
    await checkRecords(file, blocks, history, own);
    const genesis =
      history.changesTo > 0 ? await checkPruned(store, blocks, history, await isolatedSettings()) : undefined;
    const held = await blocks.block(0);
    if (genesis === undefined) await store.commit({ deletes: await stateKeys(store) });
    const { block } = genesis ?? held;
    // The hash of genesis does not commit to its list of accounts.
    const value = encodeBlockRecord({ block, receipts: [], changes: genesisChanges(own.alloc), zkRoot: held.zkRoot });
    await store.commit({ puts: [{ table: 'blocks', key: 0, value }] });
    devnet = await Devnet.open({ ...own, store });
    await devnet.stateLoaded();
    const zkRoot = genesis?.zkRoot ?? devnet.layerOne.stateRoot(0);
    if (zkRoot === undefined || !equalBytes(zkRoot, held.zkRoot))
      throw refusedFile('has another zk state root at genesis than this devnet');
    await devnet.end();
    return await readEntries(store);
  } catch (error) {
    await devnet?.end();
    signal?.throwIfAborted();
    throw isFileError(error) ? refusedFile(`does not open as a chain: ${messageOf(error)}`, error) : error;
  }
}

/** Yields the thread now and then, because a chain may be long. */
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
      throw refusedFile(`is inconsistent: block ${number} is not pruned as the rest is`);
    await checks.block(record);
  });
}

function requireSameChain(file: ChainFileHeader, settings: DevnetSettings): void {
  const own = describeChain(settings);
  for (const name of ['chainId', 'network', 'scheme', 'genesis'] as const) {
    if (file[name] === own[name]) continue;
    throw refusedFile(`belongs to another chain: its ${name} is ${file[name]}, this devnet has ${own[name]}`);
  }
}

/** An exported file never needs repair: it was complete when it was written. */
async function requireWhole(file: ChainFileHeader, store: PageStore, blocks: DevnetStore): Promise<PrunedHistory> {
  const head = await blocks.head(({ table, reason }) => {
    throw refusedFile(`is damaged: table ${table}, ${reason}`);
  });
  if (head === undefined) throw refusedFile('has no blocks');
  if (head !== file.head) throw refusedFile(`ends at block ${head}, but its header says ${file.head}`);
  await blocks.edits();
  const history = decodeHistory(await store.get('blocks', HISTORY_KEY));
  if (history.bodiesTo > history.changesTo || history.changesTo > head)
    throw refusedFile('has a record of pruning that does not match its blocks');
  return history;
}

/** Errors thrown while a file is checked are caused by the file, except for these. */
function isFileError(error: unknown): boolean {
  return !isPlumblineError(error) || !OTHER_ERRORS.includes(error.code);
}

/** Replaces the devnet in a store by checked entries, in one commit. */
export async function replaceEntries(store: PageStore, puts: readonly ChainFileEntry[]): Promise<void> {
  const deletes = await devnetKeys(store);
  try {
    await store.commit({ deletes, puts });
  } catch (error) {
    // The commit may have succeeded although the connection failed.
    if (!(await holdsEntries(store, puts).catch(() => false))) throw error;
  }
}

async function holdsEntries(store: PageStore, entries: readonly ChainFileEntry[]): Promise<boolean> {
  const held = await readEntries(store);
  return held.length === entries.length && held.every((entry, i) => isSame(entry, entries[i]!));
}

function isSame(a: ChainFileEntry, b: ChainFileEntry): boolean {
  return a.table === b.table && a.key === b.key && equalBytes(a.value, b.value);
}
