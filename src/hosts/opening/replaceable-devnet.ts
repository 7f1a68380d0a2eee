import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import type { BlockReference } from '../../chain/block-reference.js';
import type {
  Block,
  Chain,
  CurrentPrices,
  Exclusion,
  FoundLog,
  HeadListener,
  ImaginedRoots,
  IncludedTransaction,
  LogQuery,
  PendingTransactionListener,
  TransactionReceipt,
} from '../../chain/chain.js';
import type { Devnet } from '../../chain/devnet/devnet.js';
import type { TrieProof } from '../../ethereum/state-trie.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import type { BlockContext } from '../../evm/block-context.js';
import type { StateReader } from '../../evm/state/state-reader.js';
import type { Network } from '../../networks/network.js';

/** Subscribes to a devnet. @returns a function that ends the subscription */
type Subscribe = (devnet: Devnet) => () => void;

/** The members of `Chain` that a devnet has, so that none is forgotten below. */
type DevnetChain = Pick<Devnet, keyof Devnet & keyof Chain>;

/**
 * The chain of a devnet node. Another devnet takes its place when what is stored is cleared or replaced; subscriptions go on
 * with the blocks of the new one.
 */
export class ReplaceableDevnet implements Chain, DevnetChain {
  readonly kind = 'devnet';
  readonly network: Network;
  private readonly subscriptions = new Map<Subscribe, () => void>();
  private replacing: Promise<void> = Promise.resolve();
  /** The devnet has ended, and the one after it did not open. */
  private isVacant = false;

  constructor(private devnet: Devnet) {
    this.network = devnet.network;
  }

  /** The devnet that the node runs now. */
  get current(): Devnet {
    return this.devnet;
  }

  /** Waits for a replacement that is under way. */
  replaced(): Promise<void> {
    return this.replacing;
  }

  /** As `replaced`; also waits until the layer 1 of a stored devnet has its blocks again. */
  async layerOneSettled(): Promise<void> {
    await this.replacing;
    await this.devnet.layerOneSettled;
  }

  /**
   * Puts another devnet in the place of this one. Requests that are under way may fail as those of a closed node.
   *
   * @param change - makes the store that of the other one. Where it throws, the present one goes on as it was
   * @param open - called when the present one has ended, its store still open. Where it throws, this node has ended, until
   *   another replacement
   * @param condition - as that of `StoredChain.giveWay`
   */
  replace(change: () => Promise<void>, open: () => Promise<Devnet>, condition?: 'whole'): Promise<void> {
    const replaced = this.replacing.then(async () => {
      await (this.isVacant ? change() : this.devnet.storedChain.giveWay(change, condition));
      this.isVacant = true;
      this.devnet = await open();
      this.isVacant = false;
      for (const subscribe of this.subscriptions.keys()) this.subscriptions.set(subscribe, subscribe(this.devnet));
    });
    this.replacing = replaced.catch(() => {});
    return replaced;
  }

  head(): Promise<Block> {
    return this.devnet.head();
  }

  block(reference: BlockReference): Promise<Block | undefined> {
    return this.devnet.block(reference);
  }

  transaction(hash: Uint8Array): Promise<IncludedTransaction | undefined> {
    return this.devnet.transaction(hash);
  }

  receipt(hash: Uint8Array): Promise<TransactionReceipt | undefined> {
    return this.devnet.receipt(hash);
  }

  receipts(block: Block): Promise<readonly TransactionReceipt[]> {
    return this.devnet.receipts(block);
  }

  logs(query: LogQuery): Promise<readonly FoundLog[]> {
    return this.devnet.logs(query);
  }

  pendingTransactions(): Promise<readonly SignedTransaction[]> {
    return this.devnet.pendingTransactions();
  }

  exclusion(hash: Uint8Array): Promise<Exclusion | undefined> {
    return this.devnet.exclusion(hash);
  }

  stateAt(block: Block): Promise<StateReader> {
    return this.devnet.stateAt(block);
  }

  contextOf(block: Block): BlockContext {
    return this.devnet.contextOf(block);
  }

  pendingContext(parent?: Block): Promise<BlockContext> {
    return this.devnet.pendingContext(parent);
  }

  prices(block?: Block): Promise<CurrentPrices> {
    return this.devnet.prices(block);
  }

  proof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    block: Block,
    signal?: AbortSignal,
  ): Promise<TrieProof> {
    return this.devnet.proof(address, storageKeys, block, signal);
  }

  imaginedRoots(block: Block): Promise<ImaginedRoots> {
    return this.devnet.imaginedRoots(block);
  }

  zkProof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    reference: BlockReference,
    onBlock?: (number: number) => void,
  ): Promise<LineaProofJson> {
    return this.devnet.zkProof(address, storageKeys, reference, onBlock);
  }

  submit(raw: Uint8Array): Promise<Uint8Array> {
    return this.devnet.submit(raw);
  }

  onHead(listener: HeadListener): () => void {
    return this.subscribe((devnet) => devnet.onHead(listener));
  }

  onPendingTransaction(listener: PendingTransactionListener): () => void {
    return this.subscribe((devnet) => devnet.onPendingTransaction(listener));
  }

  close(): Promise<void> {
    return this.devnet.close();
  }

  private subscribe(subscribe: Subscribe): () => void {
    this.subscriptions.set(subscribe, subscribe(this.devnet));
    return () => {
      this.subscriptions.get(subscribe)?.();
      this.subscriptions.delete(subscribe);
    };
  }
}
