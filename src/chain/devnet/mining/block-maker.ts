import { invalidParameter, PlumblineError } from '../../../errors.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { BlockContext } from '../../../evm/block-context.js';
import type { RunLimits } from '../../../evm/run-budget.js';
import { type AccountChange, StateOverlay } from '../../../evm/state-overlay.js';
import type { StateReader } from '../../../evm/state-reader.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { Listeners } from '../../../scheduling/listeners.js';
import { nextTurn } from '../../../scheduling/turns.js';
import type { Block } from '../../block.js';
import type { Exclusion, RemovalListener } from '../../chain.js';
import { applyEdits, type StateEdit } from '../../state-edits.js';
import type { DevnetFinality, FinalitySnapshot } from '../layer-one/finality.js';
import type { BlockRecord } from '../records/block-record.js';
import type { Ledger } from '../records/ledger.js';
import type { StoredBlock } from '../records/stored-block.js';
import type { MakingSettings, NextBlock } from '../settings.js';
import type { BlockState } from '../state/devnet-state.js';
import type { FlatState } from '../state/flat-state.js';
import type { ChainWriter } from '../storage/chain-writer.js';
import type { Checkpoints } from '../storage/checkpoints.js';
import type { Pruning } from '../storage/pruning.js';
import { applyStored, brokenLink, type Executed } from './block-execution.js';
import { Pool, type PoolSnapshot } from './pool.js';
import { contextAfter, sealBlock } from './sealing.js';

/** Blocks that are reverted in a few milliseconds. */
const REVERTED_AT_ONCE = 128;

/** What is stored of states. A method, so that it may know more of a state than is known here. */
type StateCheckpoints = Pick<Checkpoints, 'beforeRevert' | 'block' | 'newestPossible' | 'settled'> & {
  afterBlock(block: Block, state: BlockState, finalized: number, bytes: number): Promise<void>;
};

/**
 * Makes the blocks of a devnet and reverts them. It holds the input of the next block: pool, clock and state edits. The
 * caller runs its methods one at a time.
 */
export class BlockMaker {
  readonly pool = new Pool();
  readonly clock: BlockClock;
  readonly exclusions: Exclusions;
  readonly heads = new Listeners<Block>();
  /** Of blocks that leave the chain. */
  readonly removals = new Listeners<Parameters<RemovalListener>[0]>();
  /** Of the number of the newest block, after a revert or a rollback. */
  readonly shortenings = new Listeners<number>();
  next: NextBlock;
  private readonly snapshots = new Snapshots();
  private readonly edits = new PendingEdits(
    () => this.ledger.head.header.number,
    () => this.state.flat,
  );

  constructor(
    private readonly settings: MakingSettings,
    private readonly ledger: Ledger,
    private readonly state: BlockState,
    private readonly finality: DevnetFinality,
    private readonly store: ChainWriter | undefined,
    private readonly checkpoints: StateCheckpoints | undefined,
    private readonly pruning?: Pruning | undefined,
  ) {
    this.clock = new BlockClock(settings.now);
    this.exclusions = new Exclusions(settings.now);
    this.next = { coinbase: settings.coinbase, baseFeePerGas: undefined, gasLimit: undefined };
  }

  /** State after the head, with the pending edits, which the next block will include. */
  get headState(): StateReader {
    return this.edits.state;
  }

  /** What the next block will change before its transactions. */
  get pendingEdits(): readonly StateEdit[] {
    return this.edits.list;
  }

  /** Reads an account of the newest block, so that it is at hand where it has to be fetched. @param signal - ends that */
  async fetch(address: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    await this.state.flat.at(this.ledger.head.header.number, { signal }).account(address);
  }

  /** Changes that the pending edits have made so far. */
  pendingChanges(): Promise<readonly AccountChange[]> {
    return this.edits.changes();
  }

  readonly nonceOf = async (sender: Uint8Array): Promise<bigint> => (await this.headState.account(sender))?.nonce ?? 0n;

  /**
   * Context of the next block.
   *
   * @param timestamp - seconds; if left out, what the clock gives a block that is made now
   */
  context(timestamp = this.clock.next(this.ledger.head.header.timestamp)): BlockContext {
    const { head, blockHash } = this.ledger;
    const { coinbase, baseFeePerGas, gasLimit, prevRandao } = this.next;
    const slotNumber = this.settings.slotAt?.(timestamp);
    const options = { coinbase, baseFeePerGas, gasLimit, prevRandao, blockHash, timestamp, slotNumber };
    return contextAfter(head, this.settings.network, options);
  }

  /**
   * Seals the next block from the pending edits and the transactions that can run. Other transactions stay in the pool. If
   * it fails, there is no block, and pool and state are as before.
   *
   * @param limits - of the request that asks for the block
   * @param onExecuted - called with what its transactions did, before listeners
   * @param given - in place of the transactions of the pool
   * @throws PlumblineError `GAS_BUDGET_EXCEEDED`, `ABORTED`, errors of the store
   */
  async seal(
    limits?: RunLimits,
    onExecuted?: (executed: readonly Executed[]) => void,
    given?: readonly SignedTransaction[],
  ): Promise<Block> {
    const parent = this.ledger.head.header;
    const context = this.context(this.clock.next(parent.timestamp));
    const transactions = given ?? (await this.pool.ready(this.nonceOf));
    const { record, executed, dropped } = await this.revertOnError(async () => {
      const sealed = await sealBlock(this.settings, this.ledger, this.state, {
        context,
        transactions,
        edits: this.edits.list,
        limits,
      });
      await this.store?.save(sealed.record);
      return sealed;
    });
    for (const { transaction, reason } of dropped) {
      this.pool.remove(transaction.hash);
      this.exclusions.record(transaction, reason, context.number);
    }
    this.clock.passed(context.timestamp);
    onExecuted?.(executed);
    await this.announce(record);
    return record.block;
  }

  /**
   * Appends a block that was made elsewhere. The state must already include its changes. Pending edits stay pending.
   */
  async appendImported(record: BlockRecord): Promise<void> {
    await this.revertOnError(async () => this.store?.save(record, this.edits.list));
    await this.announce(record);
  }

  /** Changes the state, in order: visible at once in the newest state, on the chain with the next block. */
  async edit(added: readonly StateEdit[]): Promise<void> {
    const edits = [...this.edits.list, ...added];
    await this.edits.replace(edits, async () => this.store?.saveEdits(edits));
    await this.pool.prune(this.nonceOf);
  }

  /** @returns the snapshot's id */
  snapshot(): number {
    const id = this.snapshots.add({
      block: this.ledger.head.header.number,
      finality: this.finality.snapshot(),
      pool: this.pool.snapshot(),
      clock: this.clock.snapshot(),
      edits: this.edits.list,
      next: this.next,
    });
    this.finality.holdFrom(this.snapshots.oldestProvable);
    return id;
  }

  /**
   * Reverts blocks, states, layer 1, pool and clock to a snapshot. The snapshot and all later ones are removed. Many blocks are
   * reverted in several steps, and the thread is yielded between them. A read meanwhile finds the head of a step.
   *
   * @returns false if there is no such snapshot
   */
  async revert(id: number): Promise<boolean> {
    const snapshot = this.snapshots.find(id);
    if (snapshot === undefined) return false;
    const { block, edits } = snapshot;
    await this.truncate(block, snapshot.finality, edits, await this.edits.over(block, edits));
    this.pool.restore(snapshot.pool);
    this.clock.restore(snapshot.clock);
    this.next = snapshot.next;
    this.snapshots.removeFrom(id);
    this.finality.holdFrom(this.snapshots.oldestProvable);
    return true;
  }

  /**
   * Removes the newest blocks, as a reorg does: their transactions are gone, pool and clock stay. The edits that the first
   * removed block began with were made on the state gone back to, so they are pending again, as with anvil. Later edits and the
   * snapshots of removed blocks are removed too.
   *
   * @param depth - number of blocks
   * @throws PlumblineError as `beforeLast`
   */
  async rollback(depth: number): Promise<void> {
    const { number } = this.ledger.head.header;
    const { to, finality, edits } = await this.beforeLast(depth);
    const edited = await this.edits.over(to, edits);
    for (let gone = number; gone > to && this.removals.size > 0; gone--) {
      const block = this.ledger.blockByNumber(gone)!;
      this.removals.notify(block);
    }
    await this.truncate(to, finality, edits, edited);
    this.snapshots.removeAbove(to);
    this.finality.holdFrom(this.snapshots.oldestProvable);
    await this.pool.prune(this.nonceOf);
  }

  /**
   * What the chain is without its newest blocks: the number of its head, finality, and the pending edits.
   *
   * @throws PlumblineError `INVALID_PARAMETER` above the height of the chain, or before the block of a fork; `STATE_NOT_HELD`
   */
  async beforeLast(depth: number): Promise<{ to: number; finality: FinalitySnapshot; edits: readonly StateEdit[] }> {
    await this.checkpoints?.settled();
    const { head, first } = this.ledger;
    const { number } = head.header;
    const own = first === 0 ? 'the height of the chain' : `the number of blocks since the fork at block ${first}`;
    if (depth > number - first) throw invalidParameter('depth', `must not exceed ${number - first}, ${own}`);
    const to = number - depth;
    // The store of a pruned devnet has no other state to begin with.
    const isStored = !this.isPruned || to >= this.checkpoints!.newestPossible;
    const finality = this.finality.at(to);
    if (finality === undefined || !this.state.holds(to) || !isStored) {
      const message = `the state of block ${to} is no longer held; go back less far`;
      throw new PlumblineError('STATE_NOT_HELD', message, { block: to });
    }
    const edits = depth === 0 ? this.edits.list : (this.ledger.blockByNumber(to + 1)!.edits ?? []);
    return { to, finality, edits };
  }

  /** Whether the state cannot be rebuilt from the stored blocks alone. */
  private get isPruned(): boolean {
    return this.pruning?.hasPruned === true;
  }

  /** The snapshots that can be reverted to. */
  get snapshotList(): readonly { readonly id: number; readonly block: number }[] {
    return this.snapshots.list;
  }

  /** @param edited - the state with the edits; what it needs is fetched before anything changes */
  private async truncate(
    block: number,
    finality: FinalitySnapshot,
    edits: readonly StateEdit[],
    edited: StateOverlay | undefined,
  ): Promise<void> {
    const kept = this.isPruned ? block : finality.last;
    const removedCheckpoints = (await this.checkpoints?.beforeRevert(kept)) ?? [];
    await this.store?.truncate(block, edits, removedCheckpoints, this.finality.storedSince(finality));
    this.finality.restore(finality);
    this.edits.clear();
    let { number } = this.ledger.headSummary;
    do {
      await nextTurn();
      number = Math.max(block, number - REVERTED_AT_ONCE);
      this.ledger.truncate(number);
      this.state.revertTo(number, this.ledger.head.header.stateRoot);
    } while (number > block);
    this.edits.put(edits, edited);
    this.shortenings.notify(block);
  }

  /**
   * Appends a stored block and applies its changes, which must give the roots of its record.
   *
   * @throws PlumblineError `STORE_CORRUPT`
   */
  async replay(record: BlockRecord): Promise<void> {
    const { number, parentHash } = record.block.header;
    this.checkLink(number, parentHash);
    await applyStored(this.state, record);
    await this.append(record);
  }

  /** Appends a stored block; its state is loaded later. @throws PlumblineError `STORE_CORRUPT` */
  async appendStored(stored: StoredBlock): Promise<void> {
    this.checkLink(stored.number, stored.parentHash);
    this.state.expectRoot(stored.number, stored.zkRoot);
    this.ledger.appendStored(stored);
    this.afterAppend(stored.imported);
  }

  /** Restores the edits that were pending when the devnet was last open. */
  async resume(edits: readonly StateEdit[]): Promise<void> {
    this.store?.resume(edits);
    await this.edits.replace(edits);
  }

  private async announce(record: BlockRecord): Promise<void> {
    for (const { hash } of record.block.transactions) this.pool.remove(hash);
    await this.append(record);
    await this.pool.prune(this.nonceOf);
    this.heads.notify(record.block);
  }

  /** @throws PlumblineError `STORE_CORRUPT` for a stored block that is not on top of the head */
  checkLink(number: number, parentHash: Uint8Array): void {
    const { headSummary } = this.ledger;
    if (number !== headSummary.number + 1 || !equalBytes(parentHash, headSummary.hash)) throw brokenLink(number);
  }

  private async append(record: BlockRecord): Promise<void> {
    this.ledger.append(record.block, record.receipts);
    this.afterAppend(record.imported === true);
    await this.edits.replace(this.edits.list);
    if (this.store === undefined) return;
    await this.store.saveEntries();
    // A checkpoint of a block that is not stored cannot be used.
    let written = Math.min(this.finality.newest, this.store.stored);
    // A revert removes later checkpoints, and a pruned devnet has no other way to an earlier state.
    if (this.pruning !== undefined) written = Math.min(written, this.snapshots.oldestFinalized);
    await this.checkpoints?.afterBlock(record.block, this.state, written, this.store.lastBytes);
    if (this.pruning === undefined || this.checkpoints === undefined || !this.store.isComplete) return;
    await this.pruning.keepWithin(Math.min(this.checkpoints.block, this.finality.oldestHeld));
  }

  /** Runs after a block was appended. @param imported - the block was made elsewhere, and was final on arrival */
  private afterAppend(imported: boolean): void {
    if (!imported) this.edits.clear();
    this.next = { ...this.next, baseFeePerGas: undefined, gasLimit: undefined, prevRandao: undefined };
    if (imported) this.finality.settle();
    else this.finality.advance();
  }

  /** If a block cannot be made or stored, the state is reverted; transactions stay in the pool. */
  private async revertOnError<Result>(work: () => Promise<Result>): Promise<Result> {
    const parent = this.ledger.head.header;
    try {
      return await work();
    } catch (error) {
      this.state.revertTo(parent.number, parent.stateRoot);
      throw error;
    }
  }
}

/** Retention of the reference service (docs/spec/json-rpc.md 2.4). */
const KEPT_SECONDS = 7 * 24 * 3600;
/** When there are more, the oldest are removed. */
const MAX_KEPT = 1024;

/** Reasons why transactions were refused or left out of a block. */
export class Exclusions {
  private readonly byHash = new Map<string, Exclusion>();

  /** @param now - seconds */
  constructor(private readonly now: () => number) {}

  /** @param blockNumber - of the block that left it out; undefined if the pool refused it */
  record(transaction: SignedTransaction, reason: string, blockNumber?: number): void {
    const stage = blockNumber === undefined ? 'RPC' : 'SEQUENCER';
    const key = bytesToHex(transaction.hash);
    this.byHash.delete(key);
    this.byHash.set(key, { transaction, stage, reason, blockNumber, timestamp: this.now() });
    if (this.byHash.size > MAX_KEPT) this.byHash.delete(this.byHash.keys().next().value!);
  }

  /** @param hash - 32 bytes */
  find(hash: Uint8Array): Exclusion | undefined {
    const found = this.byHash.get(bytesToHex(hash));
    return found === undefined || found.timestamp < this.now() - KEPT_SECONDS ? undefined : found;
  }
}

/** Edits of the state that the next block will begin with. The newest state has them at once. */
export class PendingEdits {
  private edits: readonly StateEdit[] = [];
  /** The newest state with the edits; undefined if there are none. */
  private edited: StateOverlay | undefined;

  /**
   * @param head - number of the newest block
   * @param states - after each block
   */
  constructor(
    private readonly head: () => number,
    private readonly states: () => Pick<FlatState, 'at' | 'usedSlots'>,
  ) {}

  get list(): readonly StateEdit[] {
    return this.edits;
  }

  /** The state after the newest block, with the edits. */
  get state(): StateReader {
    return this.edited ?? this.states().at(this.head());
  }

  /** What the edits have changed. */
  async changes(): Promise<readonly AccountChange[]> {
    return this.edited?.changes() ?? [];
  }

  clear(): void {
    this.edits = [];
    this.edited = undefined;
  }

  /**
   * Puts edits in the place of these, on the state as it is now.
   *
   * @param save - stores them. If it fails, nothing has changed
   */
  async replace(edits: readonly StateEdit[], save?: () => Promise<unknown>): Promise<void> {
    const edited = await this.over(this.head(), edits);
    await save?.();
    this.put(edits, edited);
  }

  /** The state after a block with these edits; undefined without edits. */
  async over(block: number, edits: readonly StateEdit[]): Promise<StateOverlay | undefined> {
    if (edits.length === 0) return undefined;
    const edited = new StateOverlay(this.states().at(block));
    await applyEdits(edited, edits, (address) => this.states().usedSlots(address, block));
    return edited;
  }

  /** @param edited - of `over`, on the state that is the newest now */
  put(edits: readonly StateEdit[], edited: StateOverlay | undefined): void {
    this.edits = edits;
    this.edited = edited;
  }
}

/** Everything that is needed to revert the devnet to an earlier moment. */
export interface Snapshot {
  readonly id: number;
  /** Newest block. */
  readonly block: number;
  readonly finality: FinalitySnapshot;
  readonly pool: PoolSnapshot;
  readonly clock: ClockSnapshot;
  readonly edits: readonly StateEdit[];
  readonly next: NextBlock;
}

/** Snapshots to revert to, oldest first. They last while the node is open. */
export class Snapshots {
  private readonly taken: Snapshot[] = [];
  private lastId = 0;

  /** @returns its id, from 1 upwards */
  add(snapshot: Omit<Snapshot, 'id'>): number {
    this.taken.push({ ...snapshot, id: ++this.lastId });
    return this.lastId;
  }

  find(id: number): Snapshot | undefined {
    return this.taken.find((snapshot) => snapshot.id === id);
  }

  /** Removes a snapshot and all later ones, whose blocks no longer exist. */
  removeFrom(id: number): void {
    const index = this.taken.findIndex((snapshot) => snapshot.id === id);
    if (index >= 0) this.taken.splice(index);
  }

  /** Removes the snapshots of blocks above this one. */
  removeAbove(block: number): void {
    const index = this.taken.findIndex((snapshot) => snapshot.block > block);
    if (index >= 0) this.taken.splice(index);
  }

  get list(): readonly Pick<Snapshot, 'id' | 'block'>[] {
    return this.taken;
  }

  /** Newest finalized block of the oldest snapshot; infinity if there is none. */
  get oldestFinalized(): number {
    return this.taken[0]?.finality.last ?? Number.POSITIVE_INFINITY;
  }

  /** Oldest block whose state a snapshot needs; undefined if there is none. */
  get oldestProvable(): number | undefined {
    return this.taken[0]?.finality.provable[0]?.number;
  }
}

/** State of a clock, for a snapshot. Times in seconds. */
interface ClockSnapshot {
  readonly offset: number;
  readonly exact: number | undefined;
  readonly step: number | undefined;
}

/** Chooses the time of the next block: the wall clock's, as adjusted by developers. Times in seconds. */
export class BlockClock {
  private offset = 0;
  private exact: number | undefined;
  private step: number | undefined;

  constructor(private readonly wall: () => number) {}

  /**
   * Time of the next block; always after `parent`, the time of its parent.
   *
   * @throws PlumblineError `INVALID_PARAMETER` above 2^53 - 1: no block can be made any more
   */
  next(parent: number): number {
    const wanted = this.exact ?? (this.step === undefined ? this.wall() + this.offset : parent + this.step);
    return checkedTime('timestamp', Math.max(wanted, parent + 1));
  }

  /** Called after a block was made. A time that was set applies once; the clock continues from it. */
  passed(timestamp: number): void {
    if (this.exact === undefined) return;
    this.exact = undefined;
    this.offset = timestamp - this.wall();
  }

  /**
   * Advances the clock from now or from the newest block, whichever is later.
   *
   * @param parent - time of the newest block
   * @returns seconds that the clock is now ahead of the wall clock
   * @throws PlumblineError `INVALID_PARAMETER` for a time above 2^53 - 1
   */
  increase(seconds: number, parent: number): number {
    const from = Math.max(this.wall() + this.offset, parent);
    this.offset = checkedTime('seconds', from + seconds) - this.wall();
    return this.offset;
  }

  /**
   * Sets the clock, which runs on from there.
   *
   * @returns seconds by which the clock went forward; 0 if it did not
   * @throws PlumblineError `INVALID_PARAMETER` for a time above 2^53 - 1
   */
  reset(timestamp: number): number {
    const before = this.wall() + this.offset;
    this.offset = checkedTime('timestamp', timestamp) - this.wall();
    this.exact = undefined;
    return Math.max(0, timestamp - before);
  }

  /** Sets the time of the next block. @throws PlumblineError `INVALID_PARAMETER` unless it is after `parent`, at most 2^53 - 1 */
  setNext(timestamp: number, parent: number): void {
    if (timestamp <= parent) {
      throw invalidParameter('timestamp', `${timestamp} must be after ${parent}, the time of the newest block`);
    }
    this.exact = checkedTime('timestamp', timestamp);
  }

  /** Sets the time between each block and the next; undefined returns to the clock. */
  setStep(seconds: number | undefined): void {
    this.step = seconds;
  }

  snapshot(): ClockSnapshot {
    return { offset: this.offset, exact: this.exact, step: this.step };
  }

  restore({ offset, exact, step }: ClockSnapshot): void {
    this.offset = offset;
    this.exact = exact;
    this.step = step;
  }
}

/** @throws PlumblineError `INVALID_PARAMETER` for a time that a number does not hold exactly */
function checkedTime(parameter: string, time: number): number {
  if (time <= Number.MAX_SAFE_INTEGER) return time;
  throw invalidParameter(
    parameter,
    'the next block would be later than 2^53 - 1 seconds; revert to an earlier snapshot',
  );
}
