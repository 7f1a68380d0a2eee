import { invalidParameter } from '../../errors.js';
import type { BlockAccessList } from '../../ethereum/block-access-list.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import { type BlockContext, contextOfHeader } from '../../evm/block-context.js';
import type { StateReader } from '../../evm/state-reader.js';
import { isLayerOne, type Network } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { hexToBytes } from '../../primitives/hex.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { SerialQueue } from '../../scheduling/serial-queue.js';
import type { PageStore } from '../../store/page-store.js';
import { StoreHealth } from '../../store/store-status.js';
import type { Block, BlockReference, IncludedTransaction, TransactionReceipt, TrustLevel } from '../block.js';
import {
  type CallPlan,
  type Chain,
  type ChainCall,
  type ChainListener,
  type CurrentPrices,
  type Exclusion,
  endAll,
  noteFound,
  type PendingTransaction,
  type PreparedState,
} from '../chain.js';
import type { FoundLog, LogQuery } from '../log-filter.js';
import { searchLogs } from '../log-search.js';
import { DevnetProofs } from './devnet-proofs.js';
import type { ImportResult } from './import-blocks.js';
import { DevnetFinality, NO_LAYER_ONE } from './layer-one/finality.js';
import type { SimulatedBeacon } from './layer-one/simulated-beacon.js';
import { type LayerOneChain, SimulatedL1 } from './layer-one/simulated-l1.js';
import { accessListOf } from './mining/block-execution.js';
import { BlockMaker } from './mining/block-maker.js';
import { DevnetControl } from './mining/control.js';
import { Mining, requireInterval } from './mining/mining.js';
import { contextAfter, currentPrices } from './mining/sealing.js';
import { TransactionSubmission } from './mining/transaction-submission.js';
import type { BlockRecord } from './records/block-record.js';
import { Ledger } from './records/ledger.js';
import type { DevnetSettings } from './settings.js';
import { DevnetState } from './state/devnet-state.js';
import { type GenesisAlloc, sealGenesis } from './state/genesis.js';
import type { ChainWriter } from './storage/chain-writer.js';
import type { StoredDevnet } from './storage/find-stored.js';
import { StoredChain } from './storage/stored-chain.js';
import { StoreRecovery } from './store-recovery.js';

/**
 * A local chain. It executes transactions itself, keeps a zk state beside the ordinary state, and finalizes its blocks
 * on a simulated layer 1.
 */
export class Devnet implements Chain {
  readonly kind = 'devnet';
  readonly network: Network;
  /** Developer controls, which other chains do not have. */
  readonly control: DevnetControl;
  /** The devnet's data in its store. */
  readonly storedChain: StoredChain;
  /** The beacon chain of the simulated layer 1, which must be settled. Its code is loaded with the first call. */
  readonly beacon: () => Promise<SimulatedBeacon>;
  private readonly queue = new SerialQueue();
  private readonly writer: ChainWriter | undefined;
  private readonly maker: BlockMaker;
  private readonly proofs: DevnetProofs;
  private readonly mining: Mining;
  private readonly submission: TransactionSubmission;
  private readonly recovery: StoreRecovery;

  private constructor(
    private readonly settings: DevnetSettings,
    private readonly ledger: Ledger,
    private readonly state: DevnetState,
    private readonly finality: DevnetFinality,
    /** Undefined for a devnet that is a layer 1. */
    readonly layerOne: SimulatedL1<Devnet> | undefined,
    private readonly stored: StoredDevnet | undefined,
  ) {
    this.network = settings.network;
    const { now } = settings;
    const openedAt = stored && now();
    this.beacon = loadOnce(async () => {
      const { SimulatedBeacon, simulatedBeaconOf } = await import('./layer-one/simulated-beacon.js');
      const view = {
        get head() {
          return layerOne!.opened!.head;
        },
        blockAt: (number: number) => layerOne!.opened!.blockAt(number),
      };
      return new SimulatedBeacon(simulatedBeaconOf(settings.network), view, now, openedAt);
    });
    const { queue } = this;
    const { health = new StoreHealth('durable'), storing } = settings;
    const turn = (work: () => Promise<void>) => queue.run(work);
    const own = { head: stored?.head ?? 0, hashOf: (number: number) => ledger.hashOf(number) };
    this.writer = stored?.openWriter(own, health, turn, storing);
    this.storedChain = new StoredChain({ queue, ledger, stored, writer: this.writer, end: () => this.end() });
    const pruning = stored?.openPruning(settings, { ledger, state });
    const maker = new BlockMaker(settings, ledger, state, finality, this.writer, stored?.checkpoints, pruning);
    const mining = new Mining(maker, queue);
    const submission = new TransactionSubmission(settings, ledger, maker, mining);
    this.maker = maker;
    this.recovery = new StoreRecovery({ settings, ledger, state, finality, maker, queue });
    this.proofs = new DevnetProofs({ ledger, state, finality, maker, stored }, this.recovery);
    this.mining = mining;
    this.submission = submission;
    this.control = new DevnetControl({ settings, maker, mining, submission, ledger, state, queue });
    maker.shortenings.add(() => {
      if (layerOne?.opened !== undefined) this.anchorMessages('next').catch(() => {});
    });
  }

  /**
   * Opens a devnet: from its store if the store holds one, else from genesis.
   *
   * @throws PlumblineError `STORE_CORRUPT` when the stored data is inconsistent or belongs to another genesis
   */
  static async open(given: DevnetSettings): Promise<Devnet> {
    requireInterval(given.mining);
    requireBlockHashes(given);
    const state = await DevnetState.create(given.zk, given.store !== undefined);
    const found = given.store && (await findIn(given, given.store));
    const settings = found === undefined ? given : { ...given, alloc: found.alloc };
    const genesis = found?.checkpoint === undefined ? await sealGenesis(settings, state) : found.genesis!;
    const ledger = new Ledger(settings.network.chainId);
    ledger.append(genesis.block, []);
    const { network } = settings;
    // Its changes are not kept.
    const begin = {
      block: genesis.block,
      get zkRoot() {
        return state.genesisRoot;
      },
    };
    const layerOne = isLayerOne(network)
      ? undefined
      : new SimulatedL1<Devnet>(
          {
            genesis: begin,
            open: (onSent) => devnet.openLayerOne(begin, onSent),
            onSent: () => devnet.anchorMessages('now').catch(() => {}),
          },
          found?.layerOne,
        );
    const service = network.messageService === undefined ? undefined : hexToBytes(network.messageService, 20);
    const finality = new DevnetFinality(layerOne ?? NO_LAYER_ONE, ledger, state, settings.finality, service);
    const devnet: Devnet = new Devnet(settings, ledger, state, finality, layerOne, found);
    if (found?.checkpoint !== undefined) await devnet.recovery.openAtCheckpoint(found, genesis);
    else if (found !== undefined) await devnet.recovery.replay(found, genesis);
    layerOne?.recovered();
    await devnet.mining.set(settings.mining);
    return devnet;
  }

  private async openLayerOne(
    genesis: Pick<BlockRecord, 'block' | 'zkRoot'>,
    onSent: (block: Block) => void,
  ): Promise<LayerOneChain<Devnet>> {
    const { layerOneSettings, contentsOf } = await import('./layer-one/layer-one-chain.js');
    const { network, now, coinbase, finality, accounts } = this.settings;
    const own = { now, coinbase, accounts };
    const opened = await Devnet.open({ ...layerOneSettings(network, genesis, finality, accounts), ...own });
    const { ledger, maker, queue, submission } = opened;
    let isGiven = false;
    opened.subscribe({ head: (block) => isGiven || onSent(block) });
    return {
      chain: opened,
      get head() {
        return ledger.head;
      },
      blockAt: (number) => ledger.blockByNumber(number),
      seal: (number, entry) =>
        queue.run(async () => {
          if (ledger.head.header.number + 1 !== number) return;
          const { timestamp: before } = ledger.head.header;
          const { timestamp, transactions } = contentsOf(network, entry, maker.context().baseFeePerGas);
          const parsed = await submission.parse(transactions, maker.headState);
          maker.clock.setNext(Math.max(timestamp, before + 1), before);
          isGiven = true;
          try {
            await maker.seal(undefined, undefined, parsed);
          } finally {
            isGiven = false;
            maker.clock.reset(now());
          }
        }),
      rollback: (depth) => opened.control.rollback(depth),
      holdFrom: (number) => opened.finality.holdFrom(number),
      end: () => opened.end(),
    };
  }

  private async anchorMessages(when: 'now' | 'next'): Promise<void> {
    const { anchorMessages } = await import('./anchoring.js');
    const { queue, maker, mining, submission, network } = this;
    await anchorMessages({ queue, maker, mining, submission, network, layerOne: this.layerOne! }, when);
  }

  /** Accounts of its genesis. */
  get alloc(): GenesisAlloc {
    return this.settings.alloc;
  }

  async head({ note }: ChainCall = {}): Promise<Block> {
    note?.block(this.ledger.head);
    return this.ledger.head;
  }

  async block(reference: BlockReference, { note }: ChainCall = {}): Promise<Block | undefined> {
    const found = this.found(reference);
    // A devnet holds all its blocks, and knows that no other has a hash.
    if (found !== undefined || !('hash' in reference)) noteFound(reference, found, this.ledger.head, note);
    return found;
  }

  private found(reference: BlockReference): Block | undefined {
    if ('number' in reference) return this.ledger.blockByNumber(reference.number);
    if ('hash' in reference) return this.ledger.blockByHash(reference.hash);
    switch (reference.tag) {
      case 'latest':
      case 'pending':
        return this.ledger.head;
      case 'earliest':
        return this.ledger.blockByNumber(0);
      case 'safe':
      case 'finalized':
        return this.finality.finalized;
    }
  }

  async blocks(first: number, last: number, { note }: ChainCall = {}): Promise<readonly Block[]> {
    const blocks = Array.from({ length: last + 1 - first }, (_, i) => this.ledger.blockByNumber(first + i)!);
    for (const block of blocks) note?.block(block);
    return blocks;
  }

  async withBody(block: Block): Promise<Block> {
    return block;
  }

  async transaction(hash: Uint8Array, { note }: ChainCall = {}): Promise<IncludedTransaction | undefined> {
    const found = this.ledger.transaction(hash);
    if (found !== undefined) note?.block(found.block);
    return found;
  }

  async receipts(block: Block, { note }: ChainCall = {}): Promise<readonly TransactionReceipt[]> {
    note?.block(block);
    return this.ledger.receiptsOf(block);
  }

  async accessList(block: Block, { note, ...limits }: ChainCall = {}): Promise<BlockAccessList> {
    note?.block(block);
    await this.recovery.stateLoaded();
    return accessListOf(this.network, this.state, block, this.contextOf(block), limits);
  }

  logs(query: LogQuery, call: ChainCall = {}): Promise<readonly FoundLog[]> {
    const { ledger } = this;
    const source = {
      bloom: (number: number) => ledger.bloomOf(number),
      block: (reference: BlockReference) => this.block(reference),
      receipts: (block: Block) => this.receipts(block),
    };
    return searchLogs(source, query, call);
  }

  async pendingTransactions(): Promise<readonly SignedTransaction[]> {
    return this.maker.pool.transactions;
  }

  async pendingTransaction(hash: Uint8Array): Promise<PendingTransaction | undefined> {
    const transaction = this.maker.pool.transactions.find((one) => equalBytes(one.hash, hash));
    return transaction && { transaction };
  }

  async forward(): Promise<undefined> {}

  async exclusion(hash: Uint8Array): Promise<Exclusion | undefined> {
    return this.maker.exclusions.find(hash);
  }

  async stateAt(block: Block): Promise<StateReader> {
    await this.recovery.stateLoaded();
    const isHead = block === this.ledger.head;
    return isHead ? this.maker.headState : this.state.flat.at(block.header.number);
  }

  stateBefore(_: Block, parent: Block): Promise<StateReader> {
    return this.stateAt(parent);
  }

  async accountsAt(reference: BlockReference, call: ChainCall = {}): Promise<StateReader | undefined> {
    const block = await this.block(reference, call);
    return block && this.stateAt(block);
  }

  async prepare({ block }: CallPlan, call: ChainCall = {}): Promise<PreparedState> {
    const on = block ?? this.ledger.head;
    call.note?.block(on);
    return { block: on, state: await this.stateAt(on) };
  }

  async trust(): Promise<TrustLevel> {
    return 'held';
  }

  async restsOn(): Promise<undefined> {}

  takenBack(): undefined {}

  contextOf(block: Block): BlockContext {
    return contextOfHeader(block.header, this.ledger.blockHash, this.network);
  }

  async pendingContext(parent: Block = this.ledger.head, { note }: ChainCall = {}): Promise<BlockContext> {
    note?.block(parent);
    if (parent === this.ledger.head) return this.maker.context();
    const { network, coinbase } = this.settings;
    return contextAfter(parent, network, { coinbase, blockHash: this.ledger.blockHash });
  }

  async prices(block: Block = this.ledger.head): Promise<CurrentPrices> {
    return currentPrices(this.network, block.header);
  }

  readonly proof: Chain['proof'] = (address, keys, block) => this.proofs.ordinary(address, keys, block);

  readonly prepareSimulation: Chain['prepareSimulation'] = async ({ block }, { note } = {}) => {
    note?.block(block);
    const stateRoot = await this.proofs.imagined(block);
    return { block, state: await this.stateAt(block), stateRoot };
  };

  readonly zkProof: Chain['zkProof'] = async (address, keys, reference, { note } = {}) => {
    const block = this.provable(reference);
    const proof = await this.proofs.zk(address, keys, block);
    note?.zk(block!, 'held');
    return proof;
  };

  /** Number of the block whose zk state the reference means; undefined if there is none. */
  private provable(reference: BlockReference): number | undefined {
    if ('number' in reference) return reference.number;
    if ('hash' in reference) return this.ledger.numberOf(reference.hash);
    return reference.tag === 'earliest' ? 0 : this.finality.newest;
  }

  submit(raw: Uint8Array, limits?: ChainCall): Promise<Uint8Array> {
    return this.queue.run(() => {
      limits?.signal?.throwIfAborted();
      return this.submission.broadcast(raw, limits);
    });
  }

  /**
   * Imports concatenated RLP blocks. Each block is checked, executed, stored and finalized at once. The import ends at
   * the first invalid block; the blocks before it stay.
   *
   * @param onProgress - called with the share of the bytes that is done, 0 to 1
   * @throws PlumblineError `BLOCK_INVALID` with the block, what differs, and the head
   */
  importChain(bytes: Uint8Array, onProgress?: (fraction: number) => void): Promise<ImportResult> {
    const { network, ledger, state, maker } = this;
    const append = (record: BlockRecord) => maker.appendImported(record);
    return this.queue.run(async () => {
      const { importChain } = await import('./import-blocks.js');
      return importChain({ network, ledger, state }, bytes, append, onProgress);
    });
  }

  subscribe({ head, removed, shortened, pending }: ChainListener): () => void {
    const { maker, submission } = this;
    return endAll(
      head && maker.heads.add(head),
      removed && maker.removals.add(removed),
      shortened && maker.shortenings.add(shortened),
      pending && submission.pending.add(pending),
    );
  }

  /** Its layer 1, with the blocks of all finalizations. The first call loads its code. */
  async settleLayerOne(): Promise<LayerOneChain<Devnet>> {
    return this.layerOne!.settle();
  }

  /**
   * Resolves when the state of a stored devnet is loaded.
   *
   * @throws PlumblineError `STORE_CORRUPT` when it cannot be loaded
   */
  stateLoaded(): Promise<void> {
    return this.recovery.stateLoaded();
  }

  /** Stops the devnet. Its store stays open. */
  async end(): Promise<void> {
    this.mining.stop();
    this.recovery.abort();
    await this.layerOne?.end();
    await this.queue.close();
    await this.writer?.close();
    await this.stored?.checkpoints.settled();
  }

  async close(): Promise<void> {
    try {
      await this.end();
      const { finality, stored, writer } = this;
      const isWhole = this.recovery.isComplete && writer?.isComplete && !writer.isAbandoned;
      // Of a devnet that was opened with a greater delay, the state before that of the checkpoint is not held.
      if (isWhole && finality.newest >= stored!.checkpoints.block)
        await stored!.checkpoints.finish(finality.finalized, this.state);
    } finally {
      await this.stored?.blocks.close();
    }
  }
}

async function findIn(settings: DevnetSettings, store: PageStore): Promise<StoredDevnet> {
  const { findStored } = await import('./storage/find-stored.js');
  return findStored(settings, store);
}

/** @throws PlumblineError `INVALID_PARAMETER` if finalizations are to store block hashes, and the rollup contract has no place for them */
function requireBlockHashes({ finality, network }: Pick<DevnetSettings, 'finality' | 'network'>): void {
  if (finality?.blockHashesFrom === undefined || network.rollup?.blockHashesSlot !== undefined) return;
  throw invalidParameter('finality.blockHashesFrom', 'needs rollup.blockHashesSlot in the profile of the network');
}
