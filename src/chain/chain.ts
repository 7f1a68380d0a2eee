import type { LineaProofJson } from '../accumulator/proof-shape.js';
import type { BlockAccessList } from '../ethereum/block-access-list.js';
import type { TrieProof } from '../ethereum/state-trie.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import type { BlockContext } from '../evm/block-context.js';
import type { RunLimits } from '../evm/run-budget.js';
import type { BlockRequest, SimulationOptions, SpeculativeRun } from '../evm/simulation.js';
import type { AccountChange } from '../evm/state-overlay.js';
import type { StateReader } from '../evm/state-reader.js';
import type { Prices } from '../fees/prices.js';
import type { Hardfork, Network } from '../networks/network.js';
import type { CallRequest, StateOverrides } from '../primitives/call-request.js';
import type { Block, BlockReference, BlockTag, IncludedTransaction, TransactionReceipt, TrustLevel } from './block.js';
import type { FoundLog, LogQuery } from './log-filter.js';

/** Prices for the next transaction, and the block whose header set them. */
export interface CurrentPrices {
  readonly prices: Prices;
  /** Undefined if no header has prices and the profile's defaults are used. */
  readonly sourceBlock: number | undefined;
}

/** Why a transaction is in no block (docs/spec/json-rpc.md 2.4). */
export interface Exclusion {
  readonly transaction: Pick<SignedTransaction, 'hash' | 'from' | 'nonce'>;
  /** Where it was refused: by the node it was sent to, or by the sequencer when it built a block. */
  readonly stage: 'SEQUENCER' | 'RPC' | 'P2P';
  readonly reason: string;
  /** Number of the block that does not include it. */
  readonly blockNumber: number | undefined;
  /** Seconds since 1970. */
  readonly timestamp: number;
}

/** The layer-1 block that settled or attested blocks depend on, and the trusted beacon block behind it. */
export interface LayerOneEvidence {
  /**
   * Where the first trusted beacon block came from: the options (`checkpoint`), the store of an earlier session (`stored`), the
   * profile of the network (`builtin`), or servers that agree (`servers`).
   */
  readonly level: 'checkpoint' | 'stored' | 'builtin' | 'servers';
  /** Root of the first trusted beacon block, 32 bytes. */
  readonly checkpoint: Uint8Array;
  /** Slot of the finalized or attested beacon block. */
  readonly slot: number;
  /** Hash of the execution block that it carries, 32 bytes. */
  readonly blockHash: Uint8Array;
  /** Unix time of the slot, in seconds. */
  readonly timestamp: number;
  /** Only in the 30 days before the last layer-1 fork that the profile knows: name of the fork, and its Unix time in seconds. */
  readonly lastFork?: { readonly name: string; readonly timestamp: number };
  /** Only for an attested block: how many slots it is behind the present one. */
  readonly behind?: number;
}

/**
 * Returns the state root, 32 bytes, after the changes of one more simulated block. Each call continues from the one before.
 * Undefined if the root is not known, then and after that: what is known of the state does not suffice.
 */
export type ImaginedRoots = (changes: readonly AccountChange[]) => Promise<Uint8Array | undefined>;

/** A head that the chain took back, in a reorg or because all endpoints have lost it, and the one in its place. */
export interface TakenBack {
  readonly from: Pick<Block, 'header' | 'hash'>;
  readonly to: Pick<Block, 'header' | 'hash'>;
}

/** How far a proved block is behind the newest finalized one. */
export interface ProofAge {
  readonly finalizations: number;
  readonly blocks: number;
}

/** Called with each new head, in order. After a reorg, block numbers repeat. */
export type HeadListener = (block: Block) => void;

/** Called with each block that leaves the chain in a reorg, the newest one first, before `HeadListener`. */
export type RemovalListener = (block: Pick<Block, 'header' | 'hash'>) => void;

/** Called with each transaction that enters the pool, before the block that includes it. */
export type PendingTransactionListener = (transaction: SignedTransaction) => void;

/** What someone who follows a chain is called with. Nothing is followed for a member that is left out. */
export interface ChainListener {
  readonly head?: HeadListener;
  /** A light chain tells only of blocks that it has told as heads. */
  readonly removed?: RemovalListener;
  /**
   * Called with the number of the newest block when a developer has made a chain shorter, also where `removed` tells of no block. The
   * same blocks may be made again.
   */
  readonly shortened?: (head: number) => void;
  readonly pending?: PendingTransactionListener;
}

/** A call that is about to be executed on the state after `block`; the head by default. */
export interface CallPlan {
  readonly call: CallRequest;
  readonly overrides?: StateOverrides | undefined;
  readonly block?: Block | undefined;
  /**
   * The tag that was used: `latest` or `pending` without `block`, and both are executed on the head. With `finalized` or `safe` it
   * may be executed on the block above `block`, where the state after `block` is not held. Default: `latest`, or none.
   */
  readonly tag?: Exclude<BlockTag, 'earliest'> | undefined;
  /** False: endpoints are not sent the call, whatever the options say. */
  readonly accessLists?: boolean | undefined;
  readonly runs?: PlannedRuns | undefined;
}

/** What an endpoint is asked for: accounts with slots, 32 bytes each, and code; and whether it is sent the call itself. */
export interface AskedForState {
  readonly accounts: Iterable<{
    readonly address: Uint8Array;
    readonly slots: ReadonlyMap<string, Uint8Array>;
    readonly code: boolean;
  }>;
  readonly call: boolean;
}

/** A question that runs several calls, so that what it reads can be fetched together. */
export interface PlannedRuns {
  /** In order. The call of the plan is the first. */
  readonly calls: readonly CallRequest[];
  /** Of the block that the calls are in, 20 bytes. */
  readonly coinbase: Uint8Array;
  /** Runs the whole question for what it reads of `state`, some of which are guesses. Its result does not count. */
  readonly run: (state: StateReader, limits: RunLimits, speculativeRun: SpeculativeRun) => Promise<unknown>;
  /** Called before an endpoint is asked, each time. */
  readonly onAsk: (endpoint: string, asked: AskedForState) => void;
}

/** The state for a call. */
export interface PreparedState {
  /** The block whose state it is. */
  readonly block: Block;
  readonly state: StateReader;
  /** The zk state after the block is used; its level, which may be above that of the header. */
  readonly zkLevel?: TrustLevel | undefined;
}

/** Blocks that are about to be simulated on the state after `block`. */
export interface SimulationPlan extends Omit<SimulationOptions, keyof RunLimits> {
  readonly block: Block;
  /** As in `CallPlan`. */
  readonly tag?: CallPlan['tag'];
  readonly requests: readonly BlockRequest[];
}

/** The state for a simulation. */
export interface PreparedSimulation extends PreparedState {
  readonly stateRoot: ImaginedRoots;
}

/** Gas limits of one call shortly before a fork that changes prices. */
export interface GasLimits {
  readonly fork: Hardfork;
  /** When it begins, seconds. */
  readonly timestamp: number;
  /** By the rules in force. */
  readonly before: bigint;
  /** By those of the fork; undefined if no limit is found by them. */
  readonly after: bigint | undefined;
}

/** Where the members of a chain note what the answer to one request rests on. */
export interface AnswerNote {
  readonly block: (block: Block) => void;
  /** The zk state after the block of this number. */
  zk(number: number, level: TrustLevel, age?: ProofAge): void;
  /** Layer 1 itself has what is answered. */
  level(level: TrustLevel): void;
  /** Nothing was found by a hash, which no proof shows. */
  unproved(): void;
  /** The state root of a simulated block is not known. */
  rootUnknown(): void;
  /** A gas limit was searched by the rules of two forks. */
  gasLimits(limits: GasLimits): void;
}

/** What a request gives to each member of a chain that works for it: its limits, and where to note. `{}` for work of the chain's own. */
export interface ChainCall extends RunLimits {
  readonly note?: AnswerNote | undefined;
}

/**
 * The chain behind the JSON-RPC methods: a devnet, a light node or a replica. Every member that may fetch takes what the request gives
 * as its last argument: its signal ends what is fetched for it alone.
 */
export interface Chain {
  readonly kind: 'devnet' | 'light' | 'replica';
  readonly network: Network;

  head(call?: ChainCall): Promise<Block>;
  /** @returns undefined for a block that is not known, or a tag without a block */
  block(reference: BlockReference, call?: ChainCall): Promise<Block | undefined>;
  /** The blocks from `first` to `last`, the lowest first. `last` must not be above the head. */
  blocks(first: number, last: number, call?: ChainCall): Promise<readonly Block[]>;
  /** The block with its transactions, which that of a light chain may not have yet. */
  withBody(block: Block, call?: ChainCall): Promise<Block>;
  /** @param hash - 32 bytes */
  transaction(hash: Uint8Array, call?: ChainCall): Promise<IncludedTransaction | undefined>;
  /**
   * Receipts of a block that this chain returned, in the order of its transactions.
   *
   * @throws PlumblineError `BLOCK_NOT_FOUND` if the block has left the chain since
   */
  receipts(block: Block, call?: ChainCall): Promise<readonly TransactionReceipt[]>;
  /**
   * What a block accessed and changed (EIP-7928). The caller has checked that its header has the hash of a list.
   *
   * @throws PlumblineError `STATE_NOT_HELD`; `ANSWER_REFUSED`, of the endpoints
   */
  accessList(block: Block, call?: ChainCall): Promise<BlockAccessList>;
  /** Logs in the order of the chain. The caller has checked that both ends exist and `from` is not above `to`. */
  logs(query: LogQuery, call?: ChainCall): Promise<readonly FoundLog[]>;
  /**
   * Transactions in the pool, those of a sender in the order of their nonces. A chain without a pool returns those that this
   * node sent recently.
   */
  pendingTransactions(): Promise<readonly SignedTransaction[]>;
  /**
   * A transaction of the pool by its hash. A light chain asks an endpoint, and checks the hash: that it is pending is the word of the
   * endpoint then.
   *
   * @param hash - 32 bytes
   */
  pendingTransaction(hash: Uint8Array, call?: ChainCall): Promise<PendingTransaction | undefined>;
  /** @param hash - 32 bytes. @returns undefined if nothing is known about it, or no longer */
  exclusion(hash: Uint8Array, call?: ChainCall): Promise<Exclusion | undefined>;
  /**
   * The answer of an endpoint to a request of this name, unchecked.
   *
   * @returns undefined for a chain without endpoints
   * @throws PlumblineError of the endpoints
   */
  forward(method: string, params: readonly unknown[], call?: ChainCall): Promise<unknown>;

  /** State after `block`. @throws PlumblineError `STATE_NOT_HELD` */
  stateAt(block: Block, call?: ChainCall): Promise<StateReader>;
  /**
   * The state after the parent of a block, to execute the block again. A chain that fetches state fetches what the access list of the
   * block names together, where lists are complete.
   *
   * @throws as `stateAt`
   */
  stateBefore(block: Block, parent: Block, call?: ChainCall): Promise<StateReader>;
  /**
   * As `block` and `stateAt`, for methods that read accounts and do not execute. A light chain may have the state after a finalized block
   * whose header is not known.
   *
   * @returns undefined if there is no such block
   */
  accountsAt(reference: BlockReference, call?: ChainCall): Promise<StateReader | undefined>;
  /**
   * As `head` and `stateAt`, for a call that is executed next. A chain that fetches state fetches what the call will read
   * together.
   *
   * @throws PlumblineError `STATE_NOT_HELD`; errors of fetching
   */
  prepare(plan: CallPlan, call?: ChainCall): Promise<PreparedState>;
  /**
   * As `prepare`, for blocks that are simulated next. Nothing of them is stored.
   *
   * @throws PlumblineError `STATE_NOT_HELD`; errors of fetching
   */
  prepareSimulation(plan: SimulationPlan, call?: ChainCall): Promise<PreparedSimulation>;
  /** Context of `block`'s own execution, for calls on its state. */
  contextOf(block: Block): BlockContext;
  /** Context of the simulated next block on top of `parent`; the head by default (docs/spec/fees.md 5.5). */
  pendingContext(parent?: Block, call?: ChainCall): Promise<BlockContext>;
  /** Trust level of the header and state of `block`. A devnet has `held`. */
  trust(block: Block): Promise<TrustLevel>;

  /**
   * The layer-1 block that blocks of a level rest on; undefined unless a light node follows layer-1 consensus.
   *
   * @throws PlumblineError as `LayerOneFollower.finalized`, `LayerOneFollower.attested`
   */
  restsOn(level: 'settled' | 'attested'): Promise<LayerOneEvidence | undefined>;
  /** Prices after `block`; the head by default. */
  prices(block?: Block, call?: ChainCall): Promise<CurrentPrices>;

  /**
   * Proofs against the state root of the header of `block` (EIP-1186).
   *
   * @param address - 20 bytes
   * @param storageKeys - 32 bytes each
   * @throws PlumblineError `STATE_NOT_HELD`
   */
  proof(address: Uint8Array, storageKeys: readonly Uint8Array[], block: Block, call?: ChainCall): Promise<TrieProof>;
  /**
   * Proofs against the zk state root on layer 1. The note has the proved block, which a tag does not determine.
   *
   * @param address - 20 bytes
   * @param storageKeys - 32 bytes each
   * @throws PlumblineError `BLOCK_NOT_PROVABLE` unless layer 1 has a root of the block
   */
  zkProof(
    address: Uint8Array,
    storageKeys: readonly Uint8Array[],
    reference: BlockReference,
    call?: ChainCall,
  ): Promise<LineaProofJson>;

  /**
   * Sends a raw signed transaction. A chain that executes it at once does so within the limits of the request; a transaction that does
   * not end within them is not kept.
   *
   * @returns its hash
   * @throws PlumblineError `TRANSACTION_REJECTED`, `INSUFFICIENT_FUNDS`; `GAS_BUDGET_EXCEEDED`, `ABORTED`
   */
  submit(raw: Uint8Array, call?: ChainCall): Promise<Uint8Array>;

  /** Blocks that were taken back since the last call, if there are any. */
  takenBack(): TakenBack | undefined;

  /** @returns a function that ends the subscription */
  subscribe(listener: ChainListener): () => void;
  close(): Promise<void>;
}

/** A transaction of a pool. */
export interface PendingTransaction {
  readonly transaction: SignedTransaction;
  /** That it is pending is the word of an endpoint. */
  readonly announced?: true;
}

type Members<Type> = {
  readonly [Name in keyof Type as Type[Name] extends (...args: never) => unknown ? Name : never]: true;
};

/** The members that are functions. A new one that is missing here does not compile. */
export const CHAIN_MEMBERS: Members<Chain> = {
  head: true,
  block: true,
  blocks: true,
  withBody: true,
  transaction: true,
  receipts: true,
  accessList: true,
  logs: true,
  pendingTransactions: true,
  pendingTransaction: true,
  exclusion: true,
  forward: true,
  stateAt: true,
  stateBefore: true,
  accountsAt: true,
  prepare: true,
  prepareSimulation: true,
  contextOf: true,
  pendingContext: true,
  trust: true,
  restsOn: true,
  prices: true,
  proof: true,
  zkProof: true,
  submit: true,
  takenBack: true,
  subscribe: true,
  close: true,
};

/**
 * A chain whose members call those of `current()`: for a devnet that may be replaced, and for a replica on its light chain.
 *
 * @param current - called for each use. Its kind and its network must not change
 */
export function forwardingChain(current: () => Chain): Chain {
  const { kind, network } = current();
  const members = Object.keys(CHAIN_MEMBERS).map((name) => [
    name,
    (...args: unknown[]) => (current() as unknown as Record<string, (...args: unknown[]) => unknown>)[name]!(...args),
  ]);
  return { ...Object.fromEntries(members), kind, network } as Chain;
}

/** The receipt of a transaction that is in a block. @param hash - 32 bytes, of the transaction */
export async function findReceipt(
  chain: Pick<Chain, 'transaction' | 'receipts'>,
  hash: Uint8Array,
  call: ChainCall,
): Promise<TransactionReceipt | undefined> {
  const included = await chain.transaction(hash, call);
  return included && (await chain.receipts(included.block, call))[included.index];
}

/** Ends several subscriptions as one. */
export function endAll(...ends: readonly ((() => void) | false | undefined)[]): () => void {
  return () => {
    for (const end of ends) if (end) end();
  };
}

/** Notes what a prepared state rests on. */
export function notePrepared({ block, zkLevel }: Omit<PreparedState, 'state'>, note: AnswerNote | undefined): void {
  note?.block(block);
  if (zkLevel !== undefined) note?.zk(block.header.number, zkLevel);
}

/** Notes where a root is not known. */
export function notedRoots(roots: ImaginedRoots, note: AnswerNote | undefined): ImaginedRoots {
  return async (changes) => {
    const root = await roots(changes);
    if (root === undefined) note?.rootUnknown();
    return root;
  };
}

/** Notes what was found of a block that a request names. */
export function noteFound(
  reference: BlockReference,
  found: Block | undefined,
  head: Block | undefined,
  note: AnswerNote | undefined,
): void {
  if (note === undefined) return;
  if (found !== undefined) note.block(found);
  else if ('hash' in reference) note.unproved();
  // A number above the head: the head shows that there is no such block.
  else if ('number' in reference && head !== undefined) note.block(head);
}
