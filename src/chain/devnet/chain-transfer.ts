import { RLP } from '@ethereumjs/rlp';
import { type ErrorCode, isPlumblineError, messageOf } from '../../errors.js';
import { blobBaseFee, effectiveGasPrice } from '../../ethereum/base-fee.js';
import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import { createdAddress } from '../../ethereum/encode-transaction.js';
import { type BlockHeader, headerFields } from '../../ethereum/header.js';
import { orderedTrieRoot, withdrawalsRoot } from '../../ethereum/ordered-trie.js';
import { encodeReceipt, logsBloom } from '../../ethereum/receipt.js';
import { loadSignerRecovery } from '../../ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../../ethereum/transaction.js';
import { type Rules, rulesAt } from '../../evm/common.js';
import type { AccountChange } from '../../evm/state-overlay.js';
import { keccak256 } from '../../kernel/keccak.js';
import { type Network, schemeAt } from '../../networks/network.js';
import { bytesToKey, equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { nextTurn } from '../../scheduling/turns.js';
import { requirePages } from '../../state/page-format.js';
import { MemoryStore } from '../../store/memory-store.js';
import type { Commit, Key, PageStore, Table } from '../../store/page-store.js';
import type { TransactionReceipt } from '../block.js';
import { type ChainFile, type ChainFileEntry, type ChainFileHeader, refusedFile } from './chain-file.js';
import { Devnet } from './devnet.js';
import { blobGasOf } from './mining/block-execution.js';
import { isUnsigned } from './mining/impersonation.js';
import { type BlockRecord, encodeBlockRecord } from './records/block-record.js';
import { CHECKPOINT_KEY, damagedEntry, decodeCheckpoint, decodeSegment } from './records/checkpoint-codec.js';
import { decodeHistory, HISTORY_KEY, type PrunedHistory, prunedAt } from './records/ledger.js';
import type { DevnetSettings } from './settings.js';
import { DevnetState } from './state/devnet-state.js';
import { allocAsStored, genesisChanges, genesisIdentity, sealGenesis } from './state/genesis.js';
import { DEVNET_TABLES, DevnetStore, storeCorrupt } from './storage/devnet-store.js';
import { isL1Key } from './storage/stored-l1.js';

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
    const zkRoot = genesis?.zkRoot ?? devnet.layerOne!.stateRoot(0);
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

/**
 * Checks the state of a chain with pruned blocks against its headers: from the genesis accounts, by the sum of the
 * pruned changes, to the block of the checkpoint. All nodes of the ordinary trie must be present. Left-over nodes of
 * older tries are deleted.
 *
 * This cannot check the zk state roots of the blocks up to the checkpoint, nor that the zk state holds the same
 * accounts as the ordinary one: each leads to its own root. Pruned data can be checked by its sum only.
 *
 * @param store - holds nothing but the chain
 * @param settings - with unshared kernels
 * @returns genesis, from the settings
 * @throws PlumblineError `CHAIN_FILE_REFUSED`, `STORE_CORRUPT`
 */
export async function checkPruned(
  store: PageStore,
  blocks: DevnetStore,
  { changesTo, changes }: PrunedHistory,
  settings: DevnetSettings,
): Promise<BlockRecord> {
  const stored = await store.get('meta', CHECKPOINT_KEY);
  if (stored === undefined) throw refusedFile('has pruned blocks but no state');
  const checkpoint = decodeCheckpoint(stored);
  if (checkpoint.block < changesTo) throw refusedFile('has the state of a pruned block');
  const state = await DevnetState.create(settings.zk, false);
  const genesis = await sealGenesis(settings, state);
  const { trie } = state;
  let root = genesis.block.header.stateRoot;
  const apply = async (record: BlockRecord, changed: BlockRecord['changes']) => {
    const { number, stateRoot } = record.block.header;
    const writes = changed.map(({ address, after, destroyed, slots }) => {
      return { address, account: after, clearStorage: destroyed, slots };
    });
    const next = await trie.write(writes);
    if (!equalBytes(next, stateRoot))
      throw refusedFile(`is inconsistent: its changes do not give the state root of block ${number}`);
    trie.hold(next);
    trie.release(root);
    root = next;
  };
  await apply(await blocks.block(changesTo), changes);
  await blocks.each(changesTo + 1, checkpoint.block, (record) => apply(record, record.changes));
  const nodes = new Map<string, Uint8Array>();
  for (const { number } of checkpoint.segments) decodeSegment(number, await store.get('trie', number), nodes);
  for (const name of trie.nodesOf(root, () => false).keys()) {
    if (!nodes.has(name)) throw refusedFile('lacks a node of the state trie');
  }
  const listed = new Set<unknown>(checkpoint.segments.map(({ number }) => number));
  const others = (await store.keys('trie')).filter((key) => !listed.has(key));
  await store.commit({ deletes: others.map((key) => ({ table: 'trie', key })) });
  return genesis;
}

/**
 * Compares block records, in order, with what their headers commit to: transactions and senders, receipts, uncles,
 * withdrawals, and code by its hash. The links between headers, and that the changes give their state roots, are
 * checked when the chain is opened.
 *
 * No header commits to these, so they cannot be checked: whether the changes are those of the transactions and the
 * developer's edits, the block access list, how much of its gas a block of Amsterdam counts, who sent an unsigned transaction, settings of clock and fees, and
 * which blocks were imported. Before Byzantium the success of a transaction cannot be checked either.
 *
 * Every method throws PlumblineError `CHAIN_FILE_REFUSED`, or any error for data that cannot be decoded.
 */
export class RecordChecks {
  /** Hashes of the code seen so far. */
  private readonly codes = new Set([bytesToKey(EMPTY_CODE_HASH)]);
  private parent: BlockHeader | undefined;

  constructor(private readonly network: Network) {}

  /** Checks the code of accounts. @param what - source of the changes, for the message */
  changes(what: string, changes: readonly AccountChange[]): void {
    for (const { after, code } of changes) {
      if (after === undefined) continue;
      if (code !== undefined) {
        if (!equalBytes(keccak256(code), after.codeHash))
          throw refusedFile(`has code in ${what} that does not match its hash`);
        this.codes.add(bytesToKey(after.codeHash));
      }
      if (!this.codes.has(bytesToKey(after.codeHash))) throw refusedFile(`lacks the code of an account in ${what}`);
    }
  }

  async block(record: BlockRecord): Promise<void> {
    const { header } = record.block;
    const rules = rulesAt(this.network, header.number, header.timestamp);
    if (this.parent !== undefined) this.header(header, this.parent, rules);
    this.parent = header;
    if (record.pruned !== 'body') {
      await this.body(record);
      this.receipts(record, rules);
    }
    this.changes(`block ${header.number}`, record.changes);
  }

  private header(header: BlockHeader, parent: BlockHeader, rules: Rules): void {
    const { london, shanghai, cancun, prague, amsterdam } = rules;
    const check = checkerOf(header);
    check('time', header.timestamp > parent.timestamp);
    check('gas used', header.gasUsed <= header.gasLimit);
    check('base fee', london === (header.baseFeePerGas !== undefined));
    check('withdrawals root', shanghai === (header.withdrawalsRoot !== undefined));
    check('blob gas', cancun === (header.excessBlobGas !== undefined));
    check('requests hash', prague === (header.requestsHash !== undefined));
    check('block access list', amsterdam === (header.blockAccessListHash !== undefined));
  }

  private async body({ block, uncles = [] }: BlockRecord): Promise<void> {
    const { header, transactions, withdrawals = [] } = block;
    const check = checkerOf(header);
    const raws = transactions.map(({ raw }) => raw);
    check('list of transactions', equalBytes(orderedTrieRoot(raws), header.transactionsRoot));
    check('list of uncles', equalBytes(keccak256(RLP.encode(uncles.map(headerFields))), header.sha3Uncles));
    if (header.withdrawalsRoot === undefined) check('list of withdrawals', withdrawals.length === 0);
    else check('list of withdrawals', equalBytes(withdrawalsRoot(withdrawals), header.withdrawalsRoot));
    await loadSignerRecovery();
    for (const transaction of transactions) check('sender of a transaction', this.isSender(transaction));
  }

  private isSender(transaction: SignedTransaction): boolean {
    if (transaction.impersonated === true) return isUnsigned(transaction);
    const parsing = { blobs: true, frontier: true };
    return equalBytes(parseSignedTransaction(transaction.raw, this.network.chainId, parsing).from, transaction.from);
  }

  private receipts({ block: { header }, receipts }: BlockRecord, rules: Rules): void {
    const check = checkerOf(header);
    const encoded = receipts.map((receipt) => encodeReceipt({ ...receipt, type: receipt.transaction.type }));
    check('list of receipts', equalBytes(orderedTrieRoot(encoded), header.receiptsRoot));
    const logs = receipts.flatMap((receipt) => receipt.logs);
    check('bloom of logs', equalBytes(logsBloom(logs), header.logsBloom));
    const blobPrice =
      rules.blobs === undefined || header.excessBlobGas === undefined
        ? 1n
        : blobBaseFee(header.excessBlobGas, rules.blobs);
    let cumulative = 0n;
    for (const receipt of receipts) {
      check('gas of a transaction', receipt.gasUsed === receipt.cumulativeGasUsed - cumulative);
      check('receipt of a transaction', matchesTransaction(receipt, header.baseFeePerGas ?? 0n, blobPrice));
      cumulative = receipt.cumulativeGasUsed;
    }
    check('gas used', rules.amsterdam ? maySumTo(cumulative, header.gasUsed) : header.gasUsed === cumulative);
  }
}

/**
 * Whether receipts that sum up to `paid` may be of a block that counts `gasUsed`. From Amsterdam on that is the larger sum of two
 * kinds of gas, and refunds, at most a fifth, are not taken off.
 */
function maySumTo(paid: bigint, gasUsed: bigint): boolean {
  return 2n * gasUsed >= paid && 4n * gasUsed <= 5n * paid + 5n;
}

/** Whether the fields of a receipt that no header commits to follow from its transaction. */
function matchesTransaction(receipt: TransactionReceipt, baseFeePerGas: bigint, blobPrice: bigint): boolean {
  const { transaction, contractAddress = new Uint8Array(0) } = receipt;
  const created = transaction.to === undefined ? createdAddress(transaction) : new Uint8Array(0);
  const hasBlobs = transaction.blobVersionedHashes !== undefined;
  return (
    equalBytes(contractAddress, created) &&
    receipt.effectiveGasPrice === effectiveGasPrice(transaction, baseFeePerGas) &&
    receipt.blobGasUsed === (hasBlobs ? blobGasOf(transaction) : undefined) &&
    receipt.blobGasPrice === (hasBlobs ? blobPrice : undefined)
  );
}

function checkerOf({ number }: BlockHeader) {
  return (what: string, holds: boolean): void => {
    if (!holds) throw refusedFile(`is inconsistent: the ${what} of block ${number} does not match its header`);
  };
}

/** Keys of the devnet in table `meta`. */
const META_KEYS: readonly Key[] = ['devnet-head', 'devnet-edits', CHECKPOINT_KEY];
/** Keys of zk state pages: the state's description, roots of tries, blocks of nodes, buckets of keys. */
const PAGE = /^(state|\d+(\/(\d+|k\d+)\/\d+)?)$/;

/** Entries read at once. */
const BATCH = 64;

/** Whether a devnet writes entries with this key. */
function isOwn(table: Table, key: Key): boolean {
  if (table === 'meta') return META_KEYS.includes(key);
  if (table === 'state') return typeof key === 'string' && PAGE.test(key);
  if (table === 'blocks' && (key === HISTORY_KEY || isL1Key(key))) return true;
  return DEVNET_TABLES.includes(table) && Number.isSafeInteger(key) && (key as number) >= 0 && !Object.is(key, -0);
}

type EntryKey = NonNullable<Commit['deletes']>[number];

/** Keys of all entries of a devnet. Every entry in its own tables counts. */
async function devnetKeys(store: PageStore): Promise<EntryKey[]> {
  const keys = (await store.keys('meta')).filter((key) => isOwn('meta', key));
  return [...keys.map((key): EntryKey => ({ table: 'meta', key })), ...(await keysIn(store, DEVNET_TABLES))];
}

/** Keys of the state, and of the record of pruning. The blocks are not included. */
async function stateKeys(store: PageStore): Promise<EntryKey[]> {
  const others: EntryKey[] = [
    { table: 'meta', key: CHECKPOINT_KEY },
    { table: 'blocks', key: HISTORY_KEY },
  ];
  return [...others, ...(await keysIn(store, ['state', 'trie']))];
}

async function keysIn(store: PageStore, tables: readonly Table[]): Promise<EntryKey[]> {
  const entryKeys: EntryKey[] = [];
  for (const table of tables) for (const key of await store.keys(table)) entryKeys.push({ table, key });
  return entryKeys;
}

/** All entries of a devnet. @throws PlumblineError `STORE_CORRUPT` if an entry disappears meanwhile */
async function readEntries(store: PageStore): Promise<ChainFileEntry[]> {
  const entryKeys = (await devnetKeys(store)).filter(({ table, key }) => isOwn(table, key));
  const entries: ChainFileEntry[] = [];
  for (const table of ['meta' as const, ...DEVNET_TABLES]) {
    const keys = entryKeys.filter((entryKey) => entryKey.table === table).map(({ key }) => key);
    for (let at = 0; at < keys.length; at += BATCH) {
      await nextTurn();
      const batch = keys.slice(at, at + BATCH);
      for (const [i, value] of (await store.getMany(table, batch)).entries()) {
        const key = batch[i]!;
        if (value === undefined) throw damagedEntry(table, key, 'is missing');
        entries.push({ table, key, value });
      }
    }
  }
  return entries;
}

/** @throws PlumblineError `CHAIN_FILE_REFUSED` for entries that no export writes, or that occur twice */
async function requireOwnEntries(entries: readonly ChainFileEntry[]): Promise<void> {
  const seen = new Set<string>();
  for (const { table, key } of entries) {
    await nextTurn();
    const name = `${table} ${key}`;
    if (!isOwn(table, key)) throw refusedFile(`has an entry that no export writes: ${name}`);
    if (seen.has(name)) throw refusedFile(`has an entry twice: ${name}`);
    seen.add(name);
  }
}
