import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import type { TrieProof } from '../../ethereum/state-trie.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import { type BlockContext, contextOfHeader, pendingContext } from '../../evm/block-context.js';
import { Interpreters } from '../../evm/interpreter/interpreters.js';
import type { StateReader } from '../../evm/state/state-reader.js';
import type { Network } from '../../networks/network.js';
import type { BlockReference, BlockTag } from '../block-reference.js';
import type {
  Block,
  CallPlan,
  Chain,
  CurrentPrices,
  Exclusion,
  FoundLog,
  HeadListener,
  IncludedTransaction,
  LogQuery,
  PendingTransactionListener,
  TransactionReceipt,
  TrustLevel,
} from '../chain.js';
import { TRUST_RANK } from '../trust-rank.js';
import { BlockContentsReader } from './contents/block-contents.js';
import { SentTransactions } from './contents/sent-transactions.js';
import { BlockFinder, LINKED_DEPTH } from './heads/block-finder.js';
import { HeadFollower } from './heads/head-follower.js';
import { HeaderChain, KEPT } from './heads/header-chain.js';
import { Heads } from './heads/heads.js';
import { type LightBlock, lightBlock } from './heads/light-block.js';
import { pricesAfter } from './heads/light-prices.js';
import { openSeals } from './heads/seals.js';
import type { LightChainParts } from './light-options.js';
import { notReached } from './refused.js';
import type { LayerOneFinality } from './settlement/finality.js';
import { openFinality } from './settlement/open-finality.js';
import { ProvableBlocks } from './settlement/provable-blocks.js';
import { ZkProofs } from './settlement/zk-proofs.js';
import { AccessLists } from './state/access-lists.js';
import { fetchAccountProof } from './state/account-proof.js';
import { blockState } from './state/block-state.js';
import { CodeCache } from './state/code-cache.js';
import { type CallGround, PreparedCall } from './state/prepared-call.js';
import { ProvedStates } from './state/proved-state.js';
import { WorkingSet } from './state/working-set.js';

/** A chain of which endpoints tell and nothing is believed: headers are vouched for, and all else is proved against them. */
export class LightChain implements Chain {
  readonly kind = 'light';
  readonly network: Network;
  private readonly headers: HeaderChain;
  private readonly heads: Heads;
  private readonly follower: HeadFollower;
  private readonly finder: BlockFinder;
  private readonly ground: CallGround;
  private readonly finality: LayerOneFinality | undefined;
  private readonly provable: ProvableBlocks;
  private readonly zkProofs: ZkProofs;
  private readonly contents: BlockContentsReader;
  private readonly sent: SentTransactions;

  constructor(private readonly parts: LightChainParts) {
    const { network, upstream, maru, level, clock, cache } = parts;
    this.network = network;
    const rules = {
      level,
      needed: level === 'linked' ? parts.agreeing : 1,
      maxLagBlocks: parts.maxLagBlocks,
      timeoutMs: parts.headTimeoutMs,
    };
    this.heads = new Heads(upstream, network, rules, openSeals(network, maru));
    this.headers = new HeaderChain(upstream, network, parts.maxReorgDepth, KEPT, cache?.headersOf(network));
    this.follower = new HeadFollower(this.heads, this.headers, {
      maxAgeMs: parts.headMaxAgeMs,
      paceMs: Math.max(1, network.slotSeconds) * 1000,
      activity: parts.activity,
      clock,
    });
    this.finder = new BlockFinder(this.follower, this.headers, this.heads);
    const now = () => clock.now();
    this.ground = {
      group: upstream,
      network,
      follower: this.follower,
      states: new ProvedStates(new CodeCache(cache?.codes)),
      workingSet: new WorkingSet(now),
      interpreters: new Interpreters(),
      accessLists: new AccessLists(parts.accessLists, now),
      contextAfter: (block) => this.contextAfter(block),
    };
    this.finality = openFinality(parts);
    this.provable = new ProvableBlocks(this.finality, this.finder);
    this.zkProofs = new ZkProofs({ network, upstream, table: cache?.proofs, loadHasher: parts.loadHasher });
    this.sent = new SentTransactions(clock);
    this.contents = new BlockContentsReader(upstream, network, parts.agreeing);
  }

  /** @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, of the endpoints */
  async head(): Promise<LightBlock> {
    return this.require('latest', await this.follower.current());
  }

  /** @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, of the endpoints */
  async block(reference: BlockReference): Promise<LightBlock | undefined> {
    if ('hash' in reference) return this.finder.byHash(reference.hash);
    if ('number' in reference) return this.finder.byNumber(reference.number);
    const block = await this.tagged(reference.tag);
    return block && this.require(reference.tag, block);
  }

  private async tagged(tag: BlockTag): Promise<LightBlock | undefined> {
    switch (tag) {
      case 'latest':
      case 'pending':
        return this.follower.current();
      case 'earliest':
        return this.finder.byNumber(0);
      case 'safe':
      case 'finalized':
        return this.finality === undefined ? undefined : this.finder.byNumber((await this.provable.newest()).number);
    }
  }

  async blocks(first: number, last: number, signal?: AbortSignal): Promise<readonly LightBlock[]> {
    const [top, { blocksOfRange }] = await Promise.all([this.finder.required(last), import('./heads/block-range.js')]);
    const { network, headers } = this;
    return blocksOfRange({ group: this.parts.upstream, network, headers }, top, first, signal);
  }

  /** The newest block with its transactions, or any other. @throws PlumblineError `ANSWER_REFUSED`, of the endpoints */
  withBody(block: Block): Promise<Block> {
    return this.contents.withBody(block);
  }

  async transaction(hash: Uint8Array): Promise<IncludedTransaction | undefined> {
    return this.contents.find(hash, (number) => this.finder.byNumber(number));
  }

  async receipt(hash: Uint8Array): Promise<TransactionReceipt | undefined> {
    const included = await this.transaction(hash);
    return included && (await this.contents.receipts(included.block))[included.index];
  }

  receipts(block: Block): Promise<readonly TransactionReceipt[]> {
    return this.contents.receipts(block);
  }

  async logs(query: LogQuery): Promise<readonly FoundLog[]> {
    const last = await this.finder.required(query.to);
    if (this.headers.head!.header.number - query.from <= LINKED_DEPTH) await this.headers.ancestor(query.from);
    const { logsOfRange } = await import('./contents/log-range.js');
    const { network, headers, contents } = this;
    return logsOfRange({ group: this.parts.upstream, network, headers, contents }, last, query);
  }

  async pendingTransactions(): Promise<readonly SignedTransaction[]> {
    return this.sent.waiting;
  }

  /** As an endpoint says: nothing of it can be checked. */
  async exclusion(hash: Uint8Array): Promise<Exclusion | undefined> {
    const { fetchExclusion } = await import('./contents/exclusion.js');
    return fetchExclusion(this.parts.upstream, hash);
  }

  async prepare({ call, overrides, block, tag, signal }: CallPlan): Promise<{ block: LightBlock; state: StateReader }> {
    const prepared = new PreparedCall(this.ground, { call, overrides, signal });
    if (block === undefined) {
      const found = await prepared.atHead();
      this.require('latest', found.block);
      if (tag === 'pending') this.require(tag, found.block);
      return found;
    }
    const on = lightBlock(block);
    return { block: on, state: await prepared.at(on) };
  }

  async stateAt(block: Block, signal?: AbortSignal): Promise<StateReader> {
    return blockState(this.parts.upstream, this.ground.states, block, signal);
  }

  contextOf(block: Block): BlockContext {
    return contextOfHeader(block.header, (number) => this.hashBelow(block, number), this.network);
  }

  async pendingContext(parent?: Block): Promise<BlockContext> {
    return this.contextAfter(parent ?? (await this.head()));
  }

  async trust(block: Block): Promise<TrustLevel> {
    const level = this.headers.levelOf(block);
    if (level !== undefined) return level;
    throw notReached(this.heads.rules.level, undefined, `nobody has vouched for block ${block.header.number}`);
  }

  async prices(block?: Block): Promise<CurrentPrices> {
    const on = block === undefined ? await this.head() : lightBlock(block);
    return pricesAfter(this.network, on, (number) => this.finder.ancestorOf(on, number));
  }

  proof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    block: Block,
    signal?: AbortSignal,
  ): Promise<TrieProof> {
    return fetchAccountProof(this.parts.upstream, lightBlock(block), { address, storageKeys }, signal);
  }

  async zkProof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    reference: BlockReference,
    onBlock?: (number: number) => void,
  ): Promise<LineaProofJson> {
    const isNewest = 'tag' in reference && reference.tag !== 'earliest';
    const newest = isNewest ? await this.provable.newest() : await this.provable.at(reference);
    const { prove, proveNewest } = await import('./settlement/settled-proofs.js');
    const question = { address, storageKeys };
    const { proof, at } = await (isNewest ? proveNewest : prove)(this.finality!, this.zkProofs, question, newest);
    onBlock?.(at.number);
    return proof;
  }

  async submit(raw: Uint8Array): Promise<Uint8Array> {
    const { submitChecked } = await import('./contents/submit.js');
    const head = await this.head();
    const { network, parts } = this;
    const [state, { prices }, sizer] = await Promise.all([this.stateAt(head), this.prices(head), parts.loadSizer?.()]);
    const against = { network, state, context: this.contextAfter(head), prices, sizer };
    const transaction = await submitChecked(raw, against, parts.upstream);
    this.sent.note(transaction);
    return transaction.hash;
  }

  onHead(listener: HeadListener): () => void {
    return this.follower.onHead(listener);
  }

  /** Nothing is known of the pools of others. */
  onPendingTransaction(_listener: PendingTransactionListener): () => void {
    return () => {};
  }

  async close(): Promise<void> {
    this.follower.close();
    const { upstream, layerOne, maru, store, cache } = this.parts;
    for (const group of [upstream, layerOne, maru]) group?.close();
    await cache?.flush();
    await store?.close();
  }

  /** @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` */
  private require(tag: BlockTag, block: LightBlock): LightBlock {
    const required = this.parts.required[tag];
    const reached = this.headers.levelOf(block);
    if (required === undefined || (reached !== undefined && TRUST_RANK[reached] >= TRUST_RANK[required])) return block;
    throw notReached(required, reached, `block ${block.header.number} is at level ${reached ?? 'none'}`);
  }

  private contextAfter(block: Block): BlockContext {
    return pendingContext(block.header, this.network, {
      blockHash: async (number) => (number === block.header.number ? block.hash : this.hashBelow(block, number)),
    });
  }

  private async hashBelow(block: Block, number: number): Promise<Uint8Array> {
    const { header } = block;
    return number === header.number - 1
      ? header.parentHash
      : (await this.finder.ancestorOf(lightBlock(block), number)).hash;
  }
}
