import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import { invalidParameter, PlumblineError } from '../../errors.js';
import type { BlockAccessList } from '../../ethereum/block-access-list.js';
import type { TrieProof } from '../../ethereum/state-trie.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import { type BlockContext, contextOfHeader } from '../../evm/block-context.js';
import type { RunLimits } from '../../evm/run-budget.js';
import type { SimulationBase } from '../../evm/simulation.js';
import { StateOverlay } from '../../evm/state-overlay.js';
import type { StateReader } from '../../evm/state-reader.js';
import { parseExtraData } from '../../fees/prices.js';
import type { Network } from '../../networks/network.js';
import { equalBytes, ZERO_WORD } from '../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { SerialQueue } from '../../scheduling/serial-queue.js';
import type { PageStore } from '../../store/page-store.js';
import { StoreHealth } from '../../store/store-status.js';
import { decodeChecked, encodeChecked } from '../../store/table-usage.js';
import {
  type Block,
  type BlockReference,
  type IncludedTransaction,
  TRUST_RANK,
  type TransactionReceipt,
  type TrustLevel,
} from '../block.js';
import {
  type CallPlan,
  type Chain,
  type ChainCall,
  type ChainListener,
  type CurrentPrices,
  type Exclusion,
  endAll,
  notedRoots,
  noteFound,
  type PendingTransaction,
  type PlannedRuns,
  type PreparedSimulation,
  type PreparedState,
  type SimulationPlan,
} from '../chain.js';
import { DevnetFinality, NO_LAYER_ONE } from '../devnet/layer-one/finality.js';
import { accessListOf } from '../devnet/mining/block-execution.js';
import { BlockMaker } from '../devnet/mining/block-maker.js';
import { DevnetControl } from '../devnet/mining/control.js';
import { Mining, requireInterval } from '../devnet/mining/mining.js';
import { contextAfter, currentPrices } from '../devnet/mining/sealing.js';
import { TransactionSubmission } from '../devnet/mining/transaction-submission.js';
import type { FinalityOptions, MiningMode } from '../devnet/options.js';
import { type BlockRecord, pruneRecord } from '../devnet/records/block-record.js';
import { Ledger } from '../devnet/records/ledger.js';
import type { MakingSettings } from '../devnet/settings.js';
import { DEV_ACCOUNTS, type DevAccount } from '../devnet/state/dev-accounts.js';
import type { PrefetchRun, Reading } from '../devnet/state/flat-state.js';
import { DEV_BALANCE, type GenesisAlloc } from '../devnet/state/genesis.js';
import { ChainWriter } from '../devnet/storage/chain-writer.js';
import { anotherGenesis, DevnetStore } from '../devnet/storage/devnet-store.js';
import { StoredChain } from '../devnet/storage/stored-chain.js';
import { LightBlock } from '../light/heads/light-block.js';
import type { LightCache } from '../light/light-cache.js';
import type { LightChain } from '../light/light-chain.js';
import { PREFETCH_RUN_GAS, type PrefetchedCall, runToPrefetch } from '../light/state/prefetch-call.js';
import type { FoundLog, LogQuery } from '../log-filter.js';
import { searchLogs } from '../log-search.js';
import { applyEdits, type StateEdit } from '../state-edits.js';
import { ForkState } from './fork-state.js';
import { NetworkState } from './network-state.js';

/** The parts of a fork. `openFork` makes them. */
export interface ForkParts {
  readonly settings: MakingSettings;
  /** The network, whose blocks up to that of the fork are the fork's too. */
  readonly light: LightChain;
  readonly origin: ForkOrigin;
  readonly networkState: NetworkState;
  readonly state: ForkState;
  /** Begins with the block of the network. */
  readonly ledger: Ledger;
  readonly finality: DevnetFinality;
  readonly maker: BlockMaker;
  readonly mining: Mining;
  readonly submission: TransactionSubmission;
  readonly control: DevnetControl;
  readonly queue: SerialQueue;
  readonly writer: ChainWriter | undefined;
  storedChain(end: () => Promise<void>): StoredChain;
}

/**
 * A devnet on the state of a network at a block. Blocks up to that one are the network's, at the trust level of the light chain;
 * those after it are made here.
 */
export class ForkChain implements Chain {
  readonly kind = 'devnet';
  readonly network: Network;
  readonly control: DevnetControl;
  readonly origin: ForkOrigin;
  readonly networkState: NetworkState;
  /** The fork's own data in its store. */
  readonly storedChain: StoredChain;
  private readonly number: number;

  constructor(private readonly parts: ForkParts) {
    this.network = parts.settings.network;
    this.control = parts.control;
    this.origin = parts.origin;
    this.networkState = parts.networkState;
    this.number = parts.origin.block.header.number;
    this.storedChain = parts.storedChain(() => this.end());
  }

  async head({ note }: ChainCall = {}): Promise<Block> {
    note?.block(this.parts.ledger.head);
    return this.parts.ledger.head;
  }

  async block(reference: BlockReference, { note, ...call }: ChainCall = {}): Promise<Block | undefined> {
    const found = await this.find(reference, call);
    noteFound(reference, found, this.parts.ledger.head, note);
    return found;
  }

  private async find(reference: BlockReference, call: ChainCall): Promise<Block | undefined> {
    const { ledger, light, finality } = this.parts;
    if ('number' in reference)
      return reference.number < this.number ? light.block(reference, call) : ledger.blockByNumber(reference.number);
    if ('hash' in reference) return ledger.blockByHash(reference.hash) ?? this.ofNetwork(reference.hash, call);
    switch (reference.tag) {
      case 'latest':
      case 'pending':
        return ledger.head;
      case 'earliest':
        return this.find({ number: 0 }, call);
      case 'safe':
      case 'finalized':
        return finality.finalized;
    }
  }

  /** A block of the network by its hash, unless it is after that of the fork. */
  private async ofNetwork(hash: Uint8Array, call: ChainCall): Promise<Block | undefined> {
    const found = await this.parts.light.block({ hash }, call);
    return found !== undefined && found.header.number < this.number ? found : undefined;
  }

  async blocks(first: number, last: number, call: ChainCall = {}): Promise<readonly Block[]> {
    const { ledger, light } = this.parts;
    const top = Math.min(last, this.number - 1);
    const below = first <= top ? await light.blocks(first, top, call) : [];
    const from = Math.max(first, this.number);
    const length = Math.max(0, last + 1 - from);
    const own = Array.from({ length }, (_, i) => ledger.blockByNumber(from + i)!);
    for (const block of own) call.note?.block(block);
    return [...below, ...own];
  }

  async withBody(block: Block, call?: ChainCall): Promise<Block> {
    return this.isOwn(block) ? block : this.parts.light.withBody(block, call);
  }

  async transaction(hash: Uint8Array, { note, ...call }: ChainCall = {}): Promise<IncludedTransaction | undefined> {
    const own = this.parts.ledger.transaction(hash);
    return this.noted(own ?? this.upToFork(await this.elsewhere(hash)?.transaction(hash, call)), note);
  }

  private noted<Found extends IncludedTransaction>(
    found: Found | undefined,
    note: ChainCall['note'],
  ): Found | undefined {
    if (found === undefined) note?.unproved();
    else note?.block(found.block);
    return found;
  }

  /** The network, where a transaction may be that is not in a block of the fork. */
  private elsewhere(hash: Uint8Array): LightChain | undefined {
    const { maker, light } = this.parts;
    return maker.pool.has(hash) ? undefined : light;
  }

  private upToFork<Found extends IncludedTransaction>(found: Found | undefined): Found | undefined {
    return found !== undefined && found.block.header.number <= this.number ? found : undefined;
  }

  async receipts(block: Block, call: ChainCall = {}): Promise<readonly TransactionReceipt[]> {
    if (!this.isOwn(block)) return this.parts.light.receipts(block, call);
    call.note?.block(block);
    return this.parts.ledger.receiptsOf(block);
  }

  async accessList(block: Block, call: ChainCall = {}): Promise<BlockAccessList> {
    if (!this.isOwn(block)) return this.parts.light.accessList(block, call);
    const { note, ...limits } = call;
    note?.block(block);
    return accessListOf(this.network, this.parts.state, block, this.contextOf(block), limits);
  }

  async logs(query: LogQuery, call: ChainCall = {}): Promise<readonly FoundLog[]> {
    const { ledger, light } = this.parts;
    const { from, to } = query;
    const below = from <= this.number ? await light.logs({ ...query, to: Math.min(to, this.number) }, call) : [];
    if (to <= this.number) return below;
    const source = {
      bloom: (number: number) => ledger.bloomOf(number),
      block: (reference: BlockReference) => this.block(reference),
      receipts: (block: Block) => this.receipts(block),
    };
    return [...below, ...(await searchLogs(source, { ...query, from: Math.max(from, this.number + 1) }, call))];
  }

  async pendingTransactions(): Promise<readonly SignedTransaction[]> {
    return this.parts.maker.pool.transactions;
  }

  async pendingTransaction(hash: Uint8Array): Promise<PendingTransaction | undefined> {
    const transaction = this.parts.maker.pool.transactions.find((one) => equalBytes(one.hash, hash));
    return transaction && { transaction };
  }

  async forward(): Promise<undefined> {}

  async exclusion(hash: Uint8Array): Promise<Exclusion | undefined> {
    return this.parts.maker.exclusions.find(hash);
  }

  async stateAt(block: Block, call: ChainCall = {}): Promise<StateReader> {
    if (block.header.number < this.number) return this.parts.light.stateAt(block, call);
    return ownState(this.parts, block, call);
  }

  async stateBefore(block: Block, parent: Block, call: ChainCall = {}): Promise<StateReader> {
    return this.isOwn(block) ? this.stateAt(parent, call) : this.parts.light.stateBefore(block, parent, call);
  }

  async accountsAt(reference: BlockReference, call: ChainCall = {}): Promise<StateReader | undefined> {
    const block = await this.block(reference, call);
    return block && this.stateAt(block, call);
  }

  /** The state for a call: what the call reads of the network is fetched together. */
  async prepare({ block, tag, ...plan }: CallPlan, call: ChainCall = {}): Promise<PreparedState> {
    const { light, ledger } = this.parts;
    const on = block ?? ledger.head;
    if (on.header.number < this.number) return light.prepare({ ...plan, block: on, tag }, call);
    call.note?.block(on);
    const prefetchRun =
      plan.runs === undefined
        ? prefetchOfCall({ ...plan, network: this.network, context: await this.pendingContext(on) })
        : prefetchOfRuns(plan.runs.run);
    return { block: on, state: await ownState(this.parts, on, call, prefetchRun) };
  }

  contextOf(block: Block): BlockContext {
    const { light, ledger } = this.parts;
    if (!this.isOwn(block)) return light.contextOf(block);
    return contextOfHeader(block.header, ledger.blockHash, this.network);
  }

  async pendingContext(parent: Block = this.parts.ledger.head, { note }: ChainCall = {}): Promise<BlockContext> {
    const { ledger, light, maker, settings } = this.parts;
    note?.block(parent);
    if (equalBytes(parent.hash, ledger.head.hash)) return maker.context();
    if (parent.header.number < this.number) return light.pendingContext(parent);
    return contextAfter(parent, this.network, { coinbase: settings.coinbase, blockHash: ledger.blockHash });
  }

  async trust(block: Block): Promise<TrustLevel> {
    if (this.isOwn(block)) return 'held';
    const { origin, light } = this.parts;
    return equalBytes(block.hash, origin.block.hash) ? origin.level : light.trust(block);
  }

  async prices(block: Block = this.parts.ledger.head): Promise<CurrentPrices> {
    return block.header.number < this.number
      ? this.parts.light.prices(block)
      : currentPrices(this.network, block.header);
  }

  async proof(
    address: Uint8Array,
    keys: readonly Uint8Array[],
    block: Block,
    call: ChainCall = {},
  ): Promise<TrieProof> {
    const { light, state } = this.parts;
    const { number } = block.header;
    return number < this.number
      ? light.proof(address, keys, block, call)
      : state.prove(number, address, keys, call.signal);
  }

  async restsOn(): Promise<undefined> {}

  takenBack(): undefined {}

  async prepareSimulation(plan: SimulationPlan, call: ChainCall = {}): Promise<PreparedSimulation> {
    const { block } = plan;
    const { light, state, maker, ledger } = this.parts;
    if (block.header.number < this.number) return light.prepareSimulation(plan, call);
    call.note?.block(block);
    const stateRoot = await state.rootsAfter(block.header.number);
    if (equalBytes(block.hash, ledger.head.hash)) {
      const changes = await maker.pendingChanges();
      if (changes.length > 0) await stateRoot(changes);
    }
    const prefetchRun = prefetchOfBlocks({ ...block, network: this.network, blockHash: ledger.blockHash }, plan);
    const own = await ownState(this.parts, block, call, prefetchRun);
    return { block, state: own, stateRoot: notedRoots(stateRoot, call.note) };
  }

  /**
   * Of blocks of the network. The fork's own blocks have no zk state: that would need the whole state of the network.
   *
   * @throws PlumblineError `METHOD_NOT_ENABLED` for those; as `LightChain.zkProof`
   */
  async zkProof(
    address: Uint8Array,
    keys: readonly Uint8Array[],
    reference: BlockReference,
    call?: ChainCall,
  ): Promise<LineaProofJson> {
    const block = 'number' in reference ? undefined : await this.find(reference, call ?? {});
    const number = 'number' in reference ? reference.number : block?.header.number;
    if (number !== undefined && number <= this.number) return this.parts.light.zkProof(address, keys, { number }, call);
    const reason = `this chain is a fork, whose own blocks have no zk state; name a block of the network by its number, ${this.number} at most`;
    const method = `${this.network.methodPrefix}_getProof`;
    throw new PlumblineError('METHOD_NOT_ENABLED', reason, { method, reason });
  }

  submit(raw: Uint8Array, limits?: ChainCall): Promise<Uint8Array> {
    return this.parts.queue.run(() => {
      limits?.signal?.throwIfAborted();
      return this.parts.submission.broadcast(raw, limits);
    });
  }

  subscribe({ head, removed, shortened, pending }: ChainListener): () => void {
    const { maker, submission } = this.parts;
    return endAll(
      head && maker.heads.add(head),
      removed && maker.removals.add(removed),
      shortened && maker.shortenings.add(shortened),
      pending && submission.pending.add(pending),
    );
  }

  /** Stops the fork. Its store and the network's chain stay open. */
  async end(): Promise<void> {
    this.parts.mining.stop();
    await this.parts.queue.close();
    await this.parts.writer?.close();
  }

  async close(): Promise<void> {
    try {
      await this.end();
    } finally {
      await this.parts.light.close();
    }
  }

  /** Whether the block was made here. */
  private isOwn({ header }: Block): boolean {
    return header.number > this.number;
  }
}

/** What the states of a fork are made of. */
interface StateParts {
  readonly state: ForkState;
  readonly ledger: Ledger;
  readonly maker: BlockMaker;
  readonly origin: ForkOrigin;
}

/** State after the block of the network, or one that was made here; after the newest one with the pending edits. */
async function ownState(
  { ledger, maker, state, origin }: StateParts,
  block: Block,
  { signal, gas, note }: ChainCall,
  prefetchRun?: Reading['prefetchRun'],
): Promise<StateReader> {
  const edits = equalBytes(block.hash, ledger.head.hash) ? maker.pendingEdits : [];
  const edited = async (below: StateReader) => {
    if (edits.length === 0) return below;
    const overlay = new StateOverlay(below);
    await applyEdits(overlay, edits);
    return overlay;
  };
  let isEdited = false;
  const reading = {
    signal,
    gas,
    // What the edits read is not what the caller reads.
    onBelow: () => isEdited && note?.block(origin.block),
    prefetchRun:
      prefetchRun && (async (guesses: StateReader, limits: RunLimits) => prefetchRun(await edited(guesses), limits)),
  };
  const found = await edited(state.flat.at(block.header.number, reading));
  isEdited = true;
  return found;
}

/** Runs a call for what it reads. */
function prefetchOfCall(call: Omit<PrefetchedCall, 'left'>): PrefetchRun {
  return (guesses, limits) => runToPrefetch(guesses, call, limits);
}

/** Simulates the blocks of a plan for what they read. */
function prefetchOfBlocks(base: Omit<SimulationBase, 'state' | 'stateRoot'>, plan: SimulationPlan): PrefetchRun {
  return prefetchOfRuns(async (guesses, limits, speculativeRun) => {
    const { simulateBlocks } = await import('../../evm/simulate.js');
    const guessed = { ...base, state: guesses, stateRoot: async () => ZERO_WORD };
    await simulateBlocks(guessed, plan.requests, { ...plan, ...limits }, speculativeRun);
  });
}

/** Runs several calls for what they read. */
function prefetchOfRuns(run: PlannedRuns['run']): PrefetchRun {
  return async (guesses, limits) => {
    let hasFailed = false;
    const ended = (succeeded: boolean) => {
      hasFailed ||= !succeeded;
    };
    await run(guesses, limits, { gas: PREFETCH_RUN_GAS, begin() {}, ended });
    return !hasFailed;
  };
}

/** Settings of a fork. */
export interface ForkSettings extends Omit<MakingSettings, 'forkedFrom' | 'prices'> {
  /** The network. Closed with the fork, and by the caller when the fork does not open. */
  readonly light: LightChain;
  /** The block to begin with; its newest when left out. */
  readonly at: BlockReference | undefined;
  /** A fork that this one replaces: its block, and what is known of its network. */
  readonly before?: ForkChain | undefined;
  readonly mining: MiningMode;
  readonly finality: FinalityOptions;
  /** Changes to the state before the first block. */
  readonly edits: readonly StateEdit[];
  /** Keeps what is read of the network for later sessions. */
  readonly cache: LightCache | undefined;
  readonly health: StoreHealth | undefined;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/**
 * Opens a fork: the one in its store, or a new one.
 *
 * @throws PlumblineError `BLOCK_NOT_FOUND`; `INVALID_PARAMETER` for another block than that of the stored fork; `STORE_CORRUPT` for a
 *   store with another chain; of the network
 */
export async function openFork(given: ForkSettings): Promise<ForkChain> {
  const { light, at, store, network, cache, health = new StoreHealth('durable') } = given;
  requireInterval(given.mining);
  const found = store && (await readFork(store, network.chainId, health));
  if (found !== undefined) requireSameBlock(found, at);
  const origin = found?.origin ?? given.before?.origin ?? (await originOf(light, at));
  const { block } = origin;
  const { number } = block.header;
  const reading = parseExtraData(block.header.extraData);
  const settings: MakingSettings = {
    ...given,
    prices: reading.status === 'prices' ? reading.prices : undefined,
    forkedFrom: { number, hash: block.hash },
  };
  const { proofs: nodes, codes } = cache ?? {};
  const networkState = new NetworkState({ network: light, block, nodes, codes }, given.before?.networkState);
  const state = new ForkState(networkState);
  const hashOf = (below: number) => light.contextOf(block).blockHash(below);
  const ledger = new Ledger(network.chainId, { first: number, hashOf });
  ledger.append(block, []);
  const finality = new DevnetFinality(NO_LAYER_ONE, ledger, state, given.finality);
  const queue = new SerialQueue();
  const stored = found ?? (store && (await storeFork(store, network.chainId, origin)));
  const own = { head: stored?.head ?? number, hashOf: (of: number) => ledger.hashOf(of) };
  const writer = stored && new ChainWriter(stored.blocks, own, health, (work) => queue.run(work));
  const maker = new BlockMaker(settings, ledger, state, finality, writer, undefined);
  if (found !== undefined)
    await replay(found, { state, ledger, finality, maker, health, onProgress: given.onProgress });
  const mining = new Mining(maker, queue);
  const submission = new TransactionSubmission(settings, ledger, maker, mining);
  const control = new DevnetControl({ settings, maker, mining, submission, ledger, state, queue });
  // A fork without a block of its own has them, unless its first opening did not end.
  if (ledger.head.header.number === number && maker.pendingEdits.length === 0) {
    // In as few requests as possible: edits read one account after another.
    const reader = networkState.reader({});
    await Promise.all(given.edits.map(({ address }) => reader.account(address)));
    await control.editAll(given.edits);
  }
  await mining.set(given.mining);
  const storedChain = (end: () => Promise<void>) => new StoredChain({ queue, ledger, stored, writer, end });
  const parts = { settings, light, origin, networkState, state, ledger, finality, maker, mining, submission, control };
  return new ForkChain({ ...parts, queue, writer, storedChain });
}

async function originOf(light: LightChain, at: BlockReference = { tag: 'latest' }): Promise<ForkOrigin> {
  const block = await light.block(at);
  if (block !== undefined) return { block, level: await light.trust(block) };
  const name = 'number' in at ? String(at.number) : 'hash' in at ? bytesToHex(at.hash) : at.tag;
  throw new PlumblineError('BLOCK_NOT_FOUND', `the network has no block ${name} to fork; name an earlier one`, {
    block: name,
  });
}

interface Replaying {
  readonly state: ForkState;
  readonly ledger: Ledger;
  readonly finality: DevnetFinality;
  readonly maker: BlockMaker;
  readonly health: StoreHealth;
  readonly onProgress: ((fraction: number) => void) | undefined;
}

/** Takes over the stored blocks of a fork. @throws PlumblineError `STORE_CORRUPT` */
async function replay({ blocks, origin, head }: StoredFork, parts: Replaying): Promise<void> {
  const { state, ledger, finality, maker, health, onProgress } = parts;
  await blocks.each(
    origin.block.header.number + 1,
    head,
    ({ block, receipts, changes }) => {
      maker.checkLink(block.header.number, block.header.parentHash);
      state.replay(block.header.number, changes, block.header.stateRoot);
      ledger.append(block, receipts);
      finality.advance();
    },
    onProgress,
  );
  await maker.resume(await blocks.edits((repair) => health.repaired(repair)));
}

/**
 * The edits of a new fork. The dev accounts have as much as on any devnet, and no code: on networks, others have set some. Of the
 * accounts that the options name, what they name replaces what the network has.
 *
 * @param alloc - by address
 * @throws PlumblineError `INVALID_HEX`, `INVALID_LENGTH`
 */
export function openingEdits(alloc: GenesisAlloc = {}, accounts: readonly DevAccount[] = DEV_ACCOUNTS): StateEdit[] {
  const dev = accounts.flatMap((account): StateEdit[] => {
    const address = hexToBytes(account.address, 20);
    return [
      { kind: 'balance', address, balance: DEV_BALANCE },
      { kind: 'code', address, code: new Uint8Array(0) },
    ];
  });
  const named = Object.entries(alloc).flatMap(([name, { balance, nonce, code, storage = {} }]): StateEdit[] => {
    const address = hexToBytes(name, 20);
    return [
      ...(balance === undefined ? [] : [{ kind: 'balance', address, balance } as const]),
      ...(nonce === undefined ? [] : [{ kind: 'nonce', address, nonce } as const]),
      ...(code === undefined ? [] : [{ kind: 'code', address, code: hexToBytes(code) } as const]),
      ...Object.entries(storage).map(([key, value]): StateEdit => {
        return { kind: 'slot', address, key: hexToBytes(key, 32), value: hexToBytes(value, 32) };
      }),
    ];
  });
  return [...dev, ...named];
}

/** The block of a network that a fork begins with. */
interface ForkOrigin {
  readonly block: Block;
  /** How far the block was trusted when the fork was made. */
  readonly level: TrustLevel;
}

/** A fork in its store. */
interface StoredFork {
  readonly pages: PageStore;
  readonly blocks: DevnetStore;
  readonly origin: ForkOrigin;
  /** Newest block. */
  readonly head: number;
}

const ORIGIN = 'fork-origin';

/**
 * Reads which fork a store holds.
 *
 * @returns undefined if it holds no chain
 * @throws PlumblineError `STORE_CORRUPT` for a damaged chain, and one that is not a fork, or of another network
 */
async function readFork(
  pages: PageStore,
  chainId: number,
  health: StoreHealth | undefined,
): Promise<StoredFork | undefined> {
  const text = await pages.get('meta', ORIGIN);
  if (text === undefined) {
    if ((await new DevnetStore(pages, chainId).head()) !== undefined) throw anotherGenesis();
    return undefined;
  }
  const { chainId: stored, number, level } = readOrigin(text);
  if (stored !== chainId) throw anotherGenesis();
  const blocks = new DevnetStore(pages, chainId, number);
  const head = await blocks.head((repair) => health?.repaired(repair));
  // The entry is written before the blocks.
  if (head === undefined) return undefined;
  const { header, hash } = (await blocks.block(number)).block;
  return { pages, blocks, head, origin: { block: new LightBlock(header, hash), level } };
}

/** Stores a new fork: the block that it begins with. */
async function storeFork(pages: PageStore, chainId: number, origin: ForkOrigin): Promise<StoredFork> {
  const { header, hash } = origin.block;
  const { number } = header;
  const value = encodeChecked(JSON.stringify({ chainId, number, level: origin.level }));
  await pages.commit({ puts: [{ table: 'meta', key: ORIGIN, value }] });
  const blocks = new DevnetStore(pages, chainId, number);
  const block: Block = { header, hash, transactions: [], size: 0 };
  const record: BlockRecord = { block, receipts: [], changes: [], zkRoot: ZERO_WORD };
  await blocks.writeGenesis(pruneRecord(record, 'body'));
  return { pages, blocks, head: number, origin };
}

/** @throws PlumblineError `INVALID_PARAMETER` if another block is asked for than that of the stored fork */
function requireSameBlock({ origin }: StoredFork, asked: BlockReference | undefined): void {
  const { header, hash } = origin.block;
  if (asked === undefined || 'tag' in asked) return;
  const isSame = 'number' in asked ? asked.number === header.number : bytesToHex(asked.hash) === bytesToHex(hash);
  if (isSame) return;
  throw invalidParameter(
    'chain.fork.block',
    `is another block than that of the stored fork, ${header.number} (${bytesToHex(hash)}); name that one, or another storeName`,
  );
}

function readOrigin(bytes: Uint8Array): {
  readonly chainId: number;
  readonly number: number;
  readonly level: TrustLevel;
} {
  const text = decodeChecked(bytes);
  const { chainId, number, level } = text === undefined ? ({} as Record<string, unknown>) : JSON.parse(text);
  if (Number.isSafeInteger(chainId) && Number.isSafeInteger(number) && Object.hasOwn(TRUST_RANK, String(level))) {
    return { chainId, number, level };
  }
  const reason = 'the entry of the fork is damaged';
  throw new PlumblineError('STORE_CORRUPT', reason, { table: 'meta', reason });
}
