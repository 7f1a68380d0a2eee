import type { LineaProofJson } from '../accumulator/proof-shape.js';
import type { BlockHeader } from '../ethereum/header.js';
import type { Log } from '../ethereum/receipt.js';
import type { TrieProof } from '../ethereum/state-trie.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import type { Withdrawal } from '../ethereum/withdrawal.js';
import type { BlockContext } from '../evm/block-context.js';
import type { AccountChange } from '../evm/state/state-overlay.js';
import type { StateReader } from '../evm/state/state-reader.js';
import type { Prices } from '../fees/prices.js';
import type { Network } from '../networks/network.js';
import type { CallRequest } from '../primitives/call-request.js';
import type { StateOverrides } from '../primitives/state-overrides.js';
import type { BlockReference } from './block-reference.js';
import type { LogFilter } from './log-filter.js';

/** A sealed block. */
export interface Block {
  readonly header: BlockHeader;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly transactions: readonly SignedTransaction[];
  /** Hashes of its uncles, 32 bytes each; left out for none. */
  readonly uncles?: readonly Uint8Array[];
  /** From Shanghai on; left out for none. */
  readonly withdrawals?: readonly Withdrawal[];
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
  /** Always true for a block before Byzantium, whose receipts hold `stateRoot` instead. */
  readonly succeeded: boolean;
  /** State root after the transaction, 32 bytes: only before Byzantium. */
  readonly stateRoot?: Uint8Array;
  /** After refunds. */
  readonly gasUsed: bigint;
  readonly cumulativeGasUsed: bigint;
  /** Wei per gas really paid. */
  readonly effectiveGasPrice: bigint;
  /** Of a transaction with blobs: gas of its blobs, and wei per blob gas that it paid. */
  readonly blobGasUsed?: bigint;
  readonly blobGasPrice?: bigint;
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

/** A range of blocks, both ends included, and the logs of them that are wanted. */
export interface LogQuery {
  readonly from: number;
  readonly to: number;
  readonly filter: LogFilter;
  /** Told of the blocks at both ends: what an answer without logs rests on. */
  readonly onEnd?: ((block: Block) => void) | undefined;
  /** Ends the search; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** A log and where it stands. */
export interface FoundLog {
  readonly log: Log;
  readonly transaction: IncludedTransaction;
  /** Within the block. */
  readonly logIndex: number;
}

/** Why a transaction is in no block (docs/spec/json-rpc.md 2.4). */
export interface Exclusion {
  readonly transaction: Pick<SignedTransaction, 'hash' | 'from' | 'nonce'>;
  /** Who refused it: the node it was sent to, or the sequencer when it made a block. */
  readonly stage: 'SEQUENCER' | 'RPC' | 'P2P';
  readonly reason: string;
  /** Of the block it was left out of. */
  readonly blockNumber: number | undefined;
  /** Seconds. */
  readonly timestamp: number;
}

/**
 * How far what is read of a block can be trusted: `held` was executed here; the others are those of a light node
 * (docs/spec/json-rpc.md 7).
 */
export type TrustLevel = 'held' | 'finalized' | 'sealed' | 'linked' | 'plain';

/** Gives the state root, 32 bytes, after the changes of one more block; each call goes on from the one before. */
export type ImaginedRoots = (changes: readonly AccountChange[]) => Promise<Uint8Array>;

/** Told of each new head, in order. After the chain went back, numbers come again. */
export type HeadListener = (block: Block) => void;

/** Told of each transaction that is taken into the pool, before the block that carries it. */
export type PendingTransactionListener = (transaction: SignedTransaction) => void;

/** A call that is about to be executed after `block`, the head when left out. */
export interface CallPlan {
  readonly call: CallRequest;
  readonly overrides?: StateOverrides | undefined;
  readonly block?: Block | undefined;
  /** By which name the head is meant where `block` is left out: the pending one stands on it. `latest` when left out. */
  readonly tag?: 'latest' | 'pending' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One chain as the JSON-RPC methods see it, whatever stands behind: devnet, light node or replica. */
export interface Chain {
  readonly kind: 'devnet' | 'light' | 'replica';
  readonly network: Network;

  head(): Promise<Block>;
  /** @returns undefined for a block that is not held, or a tag that names none yet */
  block(reference: BlockReference): Promise<Block | undefined>;
  /**
   * The blocks from one number to another, both ends included, the lowest first. Both are on the chain, `last` is not above
   * the head. Left out by a chain that holds its blocks.
   */
  blocks?(first: number, last: number, signal?: AbortSignal): Promise<readonly Block[]>;
  /** @param hash - 32 bytes */
  transaction(hash: Uint8Array): Promise<IncludedTransaction | undefined>;
  /** @param hash - 32 bytes, of the transaction */
  receipt(hash: Uint8Array): Promise<TransactionReceipt | undefined>;
  /**
   * Receipts of a block this chain gave, in the order of its transactions.
   *
   * @throws PlumblineError `BLOCK_NOT_FOUND` for a block that has left the chain since
   */
  receipts(block: Block): Promise<readonly TransactionReceipt[]>;
  /** Logs in the order of the chain. The range has been checked: both ends are held, `from` is not above `to`. */
  logs(query: LogQuery): Promise<readonly FoundLog[]>;
  /**
   * What waits in the pool, a sender's transactions in the order of their nonces; where no pool is kept, what was sent from
   * here lately.
   */
  pendingTransactions(): Promise<readonly SignedTransaction[]>;
  /** @param hash - 32 bytes. @returns undefined when nothing is known of it, or no more */
  exclusion(hash: Uint8Array): Promise<Exclusion | undefined>;

  /** State after `block`. @param signal - ends what is being fetched for it. @throws PlumblineError `STATE_NOT_HELD` */
  stateAt(block: Block, signal?: AbortSignal): Promise<StateReader>;
  /**
   * As `head` and `stateAt`, for a call whose execution comes next. A chain that fetches state gets what the call reads
   * together; left out by one that holds its state.
   *
   * @throws PlumblineError `STATE_NOT_HELD`, and whatever fetching throws
   */
  prepare?(plan: CallPlan): Promise<{ readonly block: Block; readonly state: StateReader }>;
  /** A block this chain gave, with its transactions; left out by a chain whose blocks always have them. */
  withBody?(block: Block): Promise<Block>;
  /** Context of `block`'s own execution, for calls on its state. */
  contextOf(block: Block): BlockContext;
  /** The simulated next block on top of `parent`, the head when left out (docs/spec/fees.md 5.5). */
  pendingContext(parent?: Block): Promise<BlockContext>;
  /** Trust in the header and the state of `block`; `held` where a chain does not say. */
  trust?(block: Block): Promise<TrustLevel>;
  /** Prices after `block`, the head when left out. */
  prices(block?: Block): Promise<CurrentPrices>;

  /**
   * Proofs against the state root of the header of `block` (EIP-1186).
   *
   * @param address - 20 bytes
   * @param storageKeys - 32 bytes each
   * @throws PlumblineError `STATE_NOT_HELD`
   */
  proof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    block: Block,
    signal?: AbortSignal,
  ): Promise<TrieProof>;

  /**
   * State roots of blocks that are imagined on top of `block`; nothing of them is kept. Left out by a chain that does not
   * hold the trie.
   */
  imaginedRoots?(block: Block): Promise<ImaginedRoots>;

  /**
   * Proofs against the zk state root that layer 1 holds.
   *
   * @param address - 20 bytes
   * @param storageKeys - 32 bytes each
   * @param onBlock - told the number of the block that the proof is of, which a tag leaves open
   * @throws PlumblineError `BLOCK_NOT_PROVABLE` unless the block is one that layer 1 has a root of
   */
  zkProof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    reference: BlockReference,
    onBlock?: (number: number) => void,
  ): Promise<LineaProofJson>;

  /** Sends a raw signed transaction. @returns its hash. @throws PlumblineError `TRANSACTION_REJECTED`, `INSUFFICIENT_FUNDS` */
  submit(raw: Uint8Array): Promise<Uint8Array>;

  /** @returns a function that ends the subscription */
  onHead(listener: HeadListener): () => void;
  /** @returns a function that ends the subscription */
  onPendingTransaction(listener: PendingTransactionListener): () => void;
  close(): Promise<void>;
}
