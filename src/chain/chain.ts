import type { LineaProofJson } from '../accumulator/proof-shape.js';
import type { BlockHeader } from '../ethereum/header.js';
import type { Log } from '../ethereum/receipt.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import type { BlockContext } from '../evm/block-context.js';
import type { StateReader } from '../evm/state-reader.js';
import type { Prices } from '../fees/prices.js';
import type { Network } from '../networks/network.js';
import type { BlockReference } from './block-reference.js';

/** A sealed block. */
export interface Block {
  readonly header: BlockHeader;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly transactions: readonly SignedTransaction[];
  /** Bytes of its RLP. */
  readonly size: number;
}

/** A transaction and where it stands. */
export interface IncludedTransaction {
  readonly transaction: SignedTransaction;
  readonly block: Block;
  readonly index: number;
}

/** What an included transaction did. */
export interface TransactionReceipt extends IncludedTransaction {
  readonly succeeded: boolean;
  /** After refunds. */
  readonly gasUsed: bigint;
  readonly cumulativeGasUsed: bigint;
  /** Wei per gas really paid. */
  readonly effectiveGasPrice: bigint;
  /** Of a contract creation. */
  readonly contractAddress: Uint8Array | undefined;
  readonly logs: readonly Log[];
  /** Index within the block of the first of `logs`. */
  readonly firstLogIndex: number;
}

/** Prices that hold for the next transaction, and the block whose header set them. */
export interface CurrentPrices {
  readonly prices: Prices;
  /** Undefined while the profile's defaults hold, because no header has brought prices. */
  readonly sourceBlock: number | undefined;
}

/** Told of each new head, in order. */
export type HeadListener = (block: Block) => void;

/** One chain as the JSON-RPC methods see it, whatever stands behind: devnet, light node or replica. */
export interface Chain {
  readonly kind: 'devnet' | 'light' | 'replica';
  readonly network: Network;

  head(): Promise<Block>;
  /** @returns undefined for a block that is not held, or a tag that names none yet */
  block(reference: BlockReference): Promise<Block | undefined>;
  /** @param hash - 32 bytes */
  transaction(hash: Uint8Array): Promise<IncludedTransaction | undefined>;
  /** @param hash - 32 bytes, of the transaction */
  receipt(hash: Uint8Array): Promise<TransactionReceipt | undefined>;

  /** State after `block`. @throws PlumblineError `STATE_NOT_HELD` */
  stateAt(block: Block): Promise<StateReader>;
  /** Context of `block`'s own execution, for calls on its state. */
  contextOf(block: Block): BlockContext;
  /** The simulated next block on top of `parent`, the head when left out (spec/fees.md 5.5). */
  pendingContext(parent?: Block): Promise<BlockContext>;
  /** Prices after `block`, the head when left out. */
  prices(block?: Block): Promise<CurrentPrices>;

  /**
   * Proofs against the zk state root that layer 1 holds.
   *
   * @param address - 20 bytes
   * @param storageKeys - 32 bytes each
   * @throws PlumblineError `BLOCK_NOT_PROVABLE` unless the block is one that layer 1 has a root of
   */
  zkProof(address: Uint8Array, storageKeys: readonly Uint8Array[], reference: BlockReference): Promise<LineaProofJson>;

  /** Sends a raw signed transaction. @returns its hash. @throws PlumblineError `TRANSACTION_REJECTED`, `INSUFFICIENT_FUNDS` */
  submit(raw: Uint8Array): Promise<Uint8Array>;

  /** @returns a function that ends the subscription */
  onHead(listener: HeadListener): () => void;
  close(): Promise<void>;
}
