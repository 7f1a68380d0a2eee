import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import { PlumblineError } from '../../errors.js';
import { parseSignedTransaction } from '../../ethereum/transaction.js';
import { type BlockContext, contextOfHeader, pendingContext } from '../../evm/block-context.js';
import type { StateReader } from '../../evm/state-reader.js';
import type { Network } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import type { BlockReference } from '../block-reference.js';
import type { Block, Chain, CurrentPrices, HeadListener, IncludedTransaction, TransactionReceipt } from '../chain.js';
import { checkAdmission } from './admission.js';
import type { BlockRecord } from './block-record.js';
import { DevnetState } from './devnet-state.js';
import { Finality } from './finality.js';
import { sealGenesis } from './genesis-block.js';
import { SimulatedL1 } from './layer-one/simulated-l1.js';
import { Ledger } from './ledger.js';
import type { DevnetSettings } from './options.js';
import { DevnetStore } from './persistence.js';
import { Pool } from './pool.js';
import { currentPrices } from './prices.js';
import { sealBlock } from './sealing.js';
import { SerialQueue } from './serial-queue.js';

/** What only a devnet can be told to do. */
export interface DevnetControl {
  /** Seals blocks, with whatever waits in the pool in the first of them. @param timestamp - of the first, seconds */
  mine(count: number, timestamp?: number): Promise<Block[]>;
  readonly layerOne: SimulatedL1;
}

/**
 * The embedded chain: executes transactions itself, keeps a zk state beside the ordinary one, and finalizes its blocks
 * on a simulated layer 1.
 */
export class Devnet implements Chain, DevnetControl {
  readonly kind = 'devnet';
  readonly network: Network;
  private readonly pool = new Pool();
  private readonly queue = new SerialQueue();
  private readonly listeners = new Set<HeadListener>();
  private closed = false;

  private constructor(
    private readonly settings: DevnetSettings,
    private readonly ledger: Ledger,
    private readonly state: DevnetState,
    private readonly finality: Finality,
    readonly layerOne: SimulatedL1,
    private readonly store: DevnetStore | undefined,
  ) {
    this.network = settings.network;
  }

  /**
   * Opens a devnet: from its store when that holds one, from genesis otherwise.
   *
   * @throws PlumblineError `STORE_CORRUPT` when what is stored does not fit together or belongs to another genesis
   */
  static async open(settings: DevnetSettings): Promise<Devnet> {
    const state = await DevnetState.create(settings.zkState);
    const ledger = new Ledger();
    const genesis = await sealGenesis(settings, state);
    ledger.append(genesis.block, []);
    const layerOne = await SimulatedL1.create(settings.network.rollup, genesis.zkRoot, genesis.block.header.timestamp);
    const finality = new Finality(layerOne, ledger, state.zk, settings.finality);
    const store = settings.store === undefined ? undefined : new DevnetStore(settings.store, settings.network.chainId);
    const devnet = new Devnet(settings, ledger, state, finality, layerOne, store);
    const loaded =
      (await store?.restore(
        genesis,
        (record) => devnet.replay(record),
        (fraction) => settings.onProgress?.('blocks', fraction),
      )) ?? false;
    if (!loaded) await store?.save(genesis);
    return devnet;
  }

  async head(): Promise<Block> {
    return this.ledger.head;
  }

  async block(reference: BlockReference): Promise<Block | undefined> {
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

  async transaction(hash: Uint8Array): Promise<IncludedTransaction | undefined> {
    return this.ledger.transaction(hash);
  }

  async receipt(hash: Uint8Array): Promise<TransactionReceipt | undefined> {
    return this.ledger.receipt(hash);
  }

  async stateAt(block: Block): Promise<StateReader> {
    return this.state.flat.at(block.header.number);
  }

  contextOf(block: Block): BlockContext {
    return contextOfHeader(block.header, this.ledger.blockHash);
  }

  async pendingContext(parent: Block = this.ledger.head): Promise<BlockContext> {
    const { network, coinbase } = this.settings;
    return pendingContext(parent.header, network, { coinbase, blockHash: this.ledger.blockHash });
  }

  async prices(block: Block = this.ledger.head): Promise<CurrentPrices> {
    return currentPrices(this.network, block.header);
  }

  async zkProof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    reference: BlockReference,
  ): Promise<LineaProofJson> {
    const named =
      'tag' in reference && reference.tag !== 'earliest' ? this.finality.finalized : await this.block(reference);
    if (named === undefined || !this.finality.isProvable(named.header.number)) {
      const text = 'number' in reference ? String(reference.number) : 'tag' in reference ? reference.tag : 'hash';
      throw new PlumblineError('BLOCK_NOT_PROVABLE', `layer 1 holds no root of block ${text}`, { block: text });
    }
    return this.state.zk.prove(named.header.number, address, storageKeys);
  }

  submit(raw: Uint8Array): Promise<Uint8Array> {
    return this.queue.run(async () => {
      this.ensureOpen();
      const transaction = parseSignedTransaction(raw, this.network.chainId);
      await checkAdmission(transaction, {
        network: this.network,
        state: this.state.flat.at(this.ledger.head.header.number),
        context: await this.pendingContext(),
        pool: this.pool,
        isKnown: (hash) => this.ledger.transaction(hash) !== undefined,
      });
      this.pool.add(transaction);
      if (this.settings.mining === 'auto') await this.seal();
      return transaction.hash;
    });
  }

  mine(count: number, timestamp?: number): Promise<Block[]> {
    return this.queue.run(async () => {
      this.ensureOpen();
      const blocks: Block[] = [];
      for (let i = 0; i < count; i++) blocks.push(await this.seal(i === 0 ? timestamp : undefined));
      return blocks;
    });
  }

  onHead(listener: HeadListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.queue.idle();
    await this.store?.close();
  }

  private async seal(timestamp?: number): Promise<Block> {
    const record = await this.sealAndStore(timestamp);
    await this.append(record);
    for (const listener of this.listeners) listener(record.block);
    return record.block;
  }

  /** When the block cannot be made or stored, everything is as it was, and its transactions wait again. */
  private async sealAndStore(timestamp: number | undefined): Promise<BlockRecord> {
    const transactions = this.pool.drain();
    const parent = this.ledger.head.header;
    try {
      const record = await sealBlock(this.settings, this.ledger, this.state, transactions, timestamp);
      await this.store?.save(record);
      return record;
    } catch (error) {
      this.state.revertTo(parent.number, parent.stateRoot);
      if (this.settings.mining === 'manual') for (const transaction of transactions) this.pool.add(transaction);
      throw error;
    }
  }

  /** Takes in a block that was stored: its changes are applied, and have to lead to the roots it had. */
  private async replay(record: BlockRecord): Promise<void> {
    const { header } = record.block;
    const parent = this.ledger.head;
    const linked = header.number === parent.header.number + 1 && equalBytes(header.parentHash, parent.hash);
    const roots = linked ? await this.state.apply(header.number, record.changes) : undefined;
    if (
      roots === undefined ||
      !equalBytes(roots.zkRoot, record.zkRoot) ||
      !equalBytes(roots.stateRoot, header.stateRoot)
    ) {
      const reason = `block ${header.number} does not follow from the one before it`;
      throw new PlumblineError('STORE_CORRUPT', `the stored devnet is damaged: ${reason}`, { table: 'blocks', reason });
    }
    await this.append(record);
  }

  private async append(record: BlockRecord): Promise<void> {
    this.ledger.append(record.block, record.receipts);
    await this.finality.advance();
  }

  private ensureOpen(): void {
    if (this.closed) throw new PlumblineError('NODE_CLOSED', 'the devnet was closed', {});
  }
}
