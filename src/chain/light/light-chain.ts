import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import type { BlockAccessList } from '../../ethereum/block-access-list.js';
import type { TrieProof } from '../../ethereum/state-trie.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import { type BlockContext, contextOfHeader, pendingContext } from '../../evm/block-context.js';
import type { StateReader } from '../../evm/state-reader.js';
import { isLayerOne, type Network } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { Clock } from '../../scheduling/clock.js';
import { Listeners } from '../../scheduling/listeners.js';
import { loadOnce } from '../../scheduling/load-once.js';
import {
  type Block,
  type BlockReference,
  type BlockTag,
  type IncludedTransaction,
  isHead,
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
  type LayerOneEvidence,
  notedRoots,
  noteFound,
  notePrepared,
  type PendingTransaction,
  type PreparedSimulation,
  type PreparedState,
  type SimulationPlan,
  type TakenBack,
} from '../chain.js';
import type { FoundLog, LogQuery } from '../log-filter.js';
import type { BlockContentsReader } from './block-contents.js';
import { pricesAt } from './heads/block-finder.js';
import { type LightBlock, lightBlock } from './heads/light-block.js';
import type { LightChainParts } from './light-parts.js';
import { type LightHeads, openHeads } from './open-heads.js';
import { notReached } from './refused.js';
import type { SettledReads, StatesForCall } from './settled-reads.js';
import type { Settlement } from './settlement/settlement.js';
import type { FetchedState } from './state/fetch-with-nodes.js';
import { LightStates } from './state/light-states.js';
import type { PlannedCall } from './state/prepared-call.js';

/** A chain read from endpoints. Heads are accepted at a trust level; everything else is verified against their headers. */
export class LightChain implements Chain {
  readonly kind = 'light';
  readonly network: Network;
  private readonly heads: LightHeads;
  private readonly states: LightStates;
  /** Loaded for the first finalized block or zk proof. */
  readonly settlement: () => Promise<Settlement>;
  /** Loaded for the first block that layer-1 consensus may settle; undefined unless it is followed. */
  private readonly settled: (() => Promise<SettledReads>) | undefined;
  /** Loaded when the contents of a block are first read. */
  private readonly contents: () => Promise<BlockContentsReader>;
  private readonly sent: SentTransactions;
  /** Of a layer 1: the priority fee after a block. */
  private tip: { readonly at: Uint8Array; readonly wei: bigint } | undefined;

  constructor(private readonly parts: LightChainParts) {
    this.network = parts.network;
    this.sent = new SentTransactions(parts.clock);
    let loaded: Settlement | undefined;
    this.heads = openHeads(parts, {
      known: () => loaded?.knownNumber,
      newest: async () => (parts.layerOne ?? parts.consensus) && (await this.settlement()).newestNumber(),
    });
    this.states = new LightStates(parts, this.heads, (block) => this.contextAfter(block));
    this.settlement = loadOnce(async () => {
      const { Settlement } = await import('./settlement/settlement.js');
      loaded = new Settlement(parts, this.heads);
      return loaded;
    });
    if (parts.consensus !== undefined) {
      this.settled = loadOnce(async () => {
        const [{ SettledReads }, settlement] = await Promise.all([import('./settled-reads.js'), this.settlement()]);
        return new SettledReads(settlement, this.heads, this.states);
      });
    }
    this.contents = loadOnce(async () => {
      const { BlockContentsReader } = await import('./block-contents.js');
      return new BlockContentsReader(parts.upstream, parts.network, parts.agreeing);
    });
  }

  /** @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, of the endpoints */
  async head({ note, signal }: ChainCall = {}): Promise<LightBlock> {
    const head = this.require('latest', await this.heads.follower.current(signal));
    note?.block(head);
    return head;
  }

  /** @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, of the endpoints */
  async block(reference: BlockReference, { signal, note }: ChainCall = {}): Promise<LightBlock | undefined> {
    const found = await this.find(reference, signal);
    const isAbove = note !== undefined && found === undefined && 'number' in reference;
    noteFound(reference, found, isAbove ? await this.head().catch(() => undefined) : undefined, note);
    return found;
  }

  private async find(reference: BlockReference, signal: AbortSignal | undefined): Promise<LightBlock | undefined> {
    if ('hash' in reference) return ((await this.settled?.()) ?? this.heads.finder).byHash(reference.hash, signal);
    if ('number' in reference) return this.byNumber(reference.number, signal);
    const block = await this.tagged(reference.tag, signal);
    return block && this.require(reference.tag, block);
  }

  /** A block that layer-1 consensus settles, or at the level of the endpoints. */
  private async byNumber(number: number, signal?: AbortSignal): Promise<LightBlock | undefined> {
    return (await (await this.settled?.())?.byNumber(number, signal)) ?? this.heads.finder.byNumber(number, signal);
  }

  private async tagged(tag: BlockTag, signal: AbortSignal | undefined): Promise<LightBlock | undefined> {
    const { follower, finder } = this.heads;
    if (tag === 'latest' || tag === 'pending') return follower.current(signal);
    if (tag === 'earliest') return this.byNumber(0, signal);
    if (this.settled !== undefined) return (await this.settled()).newest(signal);
    if (this.parts.layerOne === undefined) return undefined;
    const number = await (await this.settlement()).newestNumber(signal);
    return number === undefined ? undefined : finder.byNumber(number, signal);
  }

  async blocks(first: number, last: number, call: ChainCall = {}): Promise<readonly LightBlock[]> {
    const { blocksOfRange } = await import('./heads/block-range.js');
    return blocksOfRange(this.source, first, last, call);
  }

  /** The block with its transactions. @throws PlumblineError `ANSWER_REFUSED`, of the endpoints */
  async withBody(block: Block, { signal }: ChainCall = {}): Promise<Block> {
    return (await this.contents()).withBody(block, signal);
  }

  async transaction(hash: Uint8Array, { signal, note }: ChainCall = {}): Promise<IncludedTransaction | undefined> {
    const contents = await this.contents();
    const found = await contents.find(hash, (number) => this.byNumber(number, signal), signal);
    noteFound({ hash }, found?.block, undefined, note);
    return found;
  }

  async receipts(block: Block, { signal, note }: ChainCall = {}): Promise<readonly TransactionReceipt[]> {
    note?.block(block);
    return (await this.contents()).receipts(block, signal);
  }

  async accessList(block: Block, { signal, note }: ChainCall = {}): Promise<BlockAccessList> {
    note?.block(block);
    const { fetchAccessList } = await import('./state/block-lists.js');
    return fetchAccessList(this.parts.upstream, block, signal);
  }

  async logs(query: LogQuery, call: ChainCall = {}): Promise<readonly FoundLog[]> {
    const { logsOfQuery } = await import('./log-range.js');
    return logsOfQuery({ ...this.source, contents: await this.contents() }, query, call);
  }

  /** Those that this node sent in the last 60 seconds. */
  async pendingTransactions(): Promise<readonly SignedTransaction[]> {
    return this.sent.recent();
  }

  /** One that this node sent, or from the pool of an endpoint, with the hash that was asked for. */
  async pendingTransaction(hash: Uint8Array, { signal }: ChainCall = {}): Promise<PendingTransaction | undefined> {
    const own = this.sent.recent().find((one) => equalBytes(one.hash, hash));
    if (own !== undefined) return { transaction: own };
    const { fetchAnnounced } = await import('./unmined.js');
    const transaction = await fetchAnnounced(this.parts.upstream, hash, this.network.chainId, signal);
    return transaction && { transaction, announced: true };
  }

  /** The answer of an endpoint, which cannot be verified. */
  async exclusion(hash: Uint8Array, { signal }: ChainCall = {}): Promise<Exclusion | undefined> {
    const { fetchExclusion } = await import('./unmined.js');
    return fetchExclusion(this.parts.upstream, hash, signal);
  }

  async forward(method: string, params: readonly unknown[], { signal }: ChainCall = {}): Promise<unknown> {
    const { forwardRequest } = await import('./submit.js');
    return forwardRequest(this.parts.upstream, method, params, signal);
  }

  async prepare({ block, tag, ...rest }: CallPlan, call: ChainCall = {}): Promise<PreparedState> {
    const plan = { ...rest, signal: call.signal, gas: call.gas };
    const found = await this.preparedFor(block, tag, plan);
    notePrepared(found, call.note);
    return found;
  }

  private async preparedFor(block: Block | undefined, tag: CallPlan['tag'], plan: PlannedCall): Promise<PreparedState> {
    const prepared = this.states.prepare(plan);
    if (block === undefined) {
      const found = await prepared.atHead();
      this.require('latest', found.block);
      if (tag === 'pending') this.require(tag, found.block);
      return found;
    }
    const on = lightBlock(block);
    return this.stateOf(on, tag, {
      at: () => prepared.at(on),
      zk: (source, above) => this.states.zkForCall(source, above, plan),
    });
  }

  async prepareSimulation({ block, tag, ...rest }: SimulationPlan, call: ChainCall = {}): Promise<PreparedSimulation> {
    const { note, ...limits } = call;
    const plan = { ...rest, ...limits };
    const on = lightBlock(block);
    const states = await this.states.simulations();
    const found = await this.stateOf(on, tag, {
      at: () => states.at(on, plan),
      zk: (source, above) => states.zk(source, above, plan),
    });
    notePrepared(found, note);
    return { ...found, ...found.state, stateRoot: notedRoots(found.state.stateRoot, note) };
  }

  /** The state after a block; of one that layer-1 consensus settles, as `SettledReads.prepare`. */
  private async stateOf<State>(block: LightBlock, tag: CallPlan['tag'], states: StatesForCall<State>) {
    if (this.settled === undefined || this.heads.headers.levelOf(block) !== 'settled')
      return { block, state: await states.at() };
    const found = await (await this.settled()).prepare(block, tag, states);
    if (tag !== undefined) this.require(tag, lightBlock(found.block));
    return found;
  }

  async stateAt(block: Block, { signal }: ChainCall = {}): Promise<StateReader> {
    return this.states.at(block, signal);
  }

  stateBefore(block: Block, parent: Block, { signal }: ChainCall = {}): Promise<StateReader> {
    return this.states.before(block, parent, signal);
  }

  /** As `fetchWithNodes`. */
  fetchState(fetched: FetchedState): Promise<void> {
    return this.states.fetch(fetched);
  }

  /** At a block that layer-1 consensus settles, from its ordinary state or from the zk state. @throws as `block` */
  async accountsAt(reference: BlockReference, call: ChainCall = {}): Promise<StateReader | undefined> {
    const settled = isHead(reference) ? undefined : await (await this.settled?.())?.accountsAt(reference, call);
    if (settled !== undefined) return settled;
    const block = await this.block(reference, call);
    return block && this.stateAt(block, call);
  }

  contextOf(block: Block): BlockContext {
    return contextOfHeader(block.header, this.hashesAt(block), this.network);
  }

  async pendingContext(parent?: Block, call: ChainCall = {}): Promise<BlockContext> {
    if (parent !== undefined) call.note?.block(parent);
    return this.contextAfter(parent ?? (await this.head(call)));
  }

  async trust(block: Block): Promise<TrustLevel> {
    const { headers, heads } = this.heads;
    const level = headers.levelOf(block);
    if (level !== undefined) return level;
    const reason = `block ${block.header.number} has not been accepted as part of the chain`;
    throw notReached(heads.rules.level, undefined, reason);
  }

  async restsOn(level: 'settled' | 'attested'): Promise<LayerOneEvidence | undefined> {
    return level === 'attested' ? this.parts.consensus?.attested() : this.parts.consensus?.finalized();
  }

  takenBack(): TakenBack | undefined {
    return this.heads.headers.takenBack();
  }

  async prices(block?: Block, call: ChainCall = {}): Promise<CurrentPrices> {
    const on = block === undefined ? await this.head(call) : lightBlock(block);
    if (isLayerOne(this.network)) return this.pricesOfLayerOne(on, call);
    return pricesAt(on, this.network, this.heads.finder, call.signal);
  }

  /** The tip that was paid lately, above the next base fee. */
  private async pricesOfLayerOne(on: LightBlock, call: ChainCall): Promise<CurrentPrices> {
    const { suggestedTip } = await import('./suggested-tip.js');
    if (this.tip === undefined || !equalBytes(this.tip.at, on.hash)) {
      const read = async (number: number) =>
        this.withBody(await this.heads.finder.ancestorOf(on, number, call.signal), call);
      this.tip = { at: on.hash, wei: await suggestedTip(on.header.number, read) };
    }
    const minGasPriceWei = this.contextAfter(on).baseFeePerGas + this.tip.wei;
    return { prices: { fixedCostWei: 0n, variableCostWei: 0n, minGasPriceWei }, sourceBlock: undefined };
  }

  proof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    block: Block,
    { signal }: ChainCall = {},
  ): Promise<TrieProof> {
    return this.states.proof(lightBlock(block), { address, storageKeys }, signal);
  }

  async zkProof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    reference: BlockReference,
    { signal, note }: ChainCall = {},
  ): Promise<LineaProofJson> {
    const { proof, at, age } = await (await this.settlement()).prove({ address, storageKeys }, reference, signal);
    note?.zk(at.number, this.parts.consensus === undefined ? 'finalized' : 'settled', age);
    return proof;
  }

  async submit(raw: Uint8Array, { signal }: ChainCall = {}): Promise<Uint8Array> {
    const { submitChecked } = await import('./submit.js');
    const transaction = await submitChecked(raw, this, this.parts, { signal });
    this.sent.add(transaction);
    return transaction.hash;
  }

  subscribe({ pending, ...ofBlocks }: ChainListener): () => void {
    const isOfBlocks = ofBlocks.head ?? ofBlocks.removed;
    return endAll(isOfBlocks && this.heads.follower.subscribe(ofBlocks), pending && this.sent.onSent(pending));
  }

  /** Where ranges of blocks come from. */
  private get source() {
    return { ...this.heads, group: this.parts.upstream, network: this.network };
  }

  async close(): Promise<void> {
    this.heads.follower.close();
    const { upstream, layerOne, maru, store, cache } = this.parts;
    for (const group of [upstream, layerOne, maru, this.parts.consensus]) group?.close();
    await cache?.flush();
    await store?.close();
  }

  /** @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` */
  private require(tag: BlockTag, block: LightBlock): LightBlock {
    const required = this.parts.required[tag];
    const reached = this.heads.headers.levelOf(block);
    if (required === undefined || (reached !== undefined && TRUST_RANK[reached] >= TRUST_RANK[required])) return block;
    throw notReached(required, reached, `block ${block.header.number} is at level ${reached ?? 'none'}`);
  }

  private contextAfter(block: Block): BlockContext {
    return pendingContext(block.header, this.network, { blockHash: this.hashesAt(block) });
  }

  /** Hashes of `block` and of the blocks before it. */
  private hashesAt(block: Block): BlockContext['blockHash'] {
    return (number) => this.heads.finder.hashAt(lightBlock(block), number);
  }
}

/** How long a transaction counts as pending after it was sent, milliseconds. Dropped transactions are not reported. */
const PENDING_FOR_MS = 60_000;
/** Most sent transactions that are remembered; the oldest are dropped first. */
const MAX_SENT = 256;

/** Transactions that this node sent. The pools of other nodes are not known. */
class SentTransactions {
  private readonly listeners = new Listeners<SignedTransaction>();
  /** Oldest first. */
  private sent: { readonly transaction: SignedTransaction; readonly at: number }[] = [];

  constructor(private readonly clock: Clock) {}

  add(transaction: SignedTransaction): void {
    this.sent = [...this.sent, { transaction, at: this.clock.now() }].slice(-MAX_SENT);
    this.listeners.notify(transaction);
  }

  /** Those of the last 60 seconds, ascending by nonce. Some may be in a block already. */
  recent(): readonly SignedTransaction[] {
    const now = this.clock.now();
    // A negative age means that the clock was set back and the real age is unknown.
    this.sent = this.sent.filter(({ at }) => now >= at && now - at <= PENDING_FOR_MS);
    const byNonce = (a: SignedTransaction, b: SignedTransaction) =>
      a.nonce < b.nonce ? -1 : a.nonce > b.nonce ? 1 : 0;
    return this.sent.map(({ transaction }) => transaction).sort(byNonce);
  }

  /** @returns a function that removes the listener */
  onSent(listener: (transaction: SignedTransaction) => void): () => void {
    return this.listeners.add(listener);
  }
}
