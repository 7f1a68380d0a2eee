import { isPlumblineError, type PlumblineError } from '../../../errors.js';
import type { Commit } from '../../../store/page-store.js';
import type { StoreFailure, StoreHealth } from '../../../store/store-status.js';
import type { StateEdit } from '../../state-edits.js';
import { type BlockRecord, encodeBlockRecord } from '../records/block-record.js';
import type { DevnetStore } from './devnet-store.js';

/** Behaviour of a devnet when its store fails. */
export interface StoringOptions {
  /**
   * Maximum size of the blocks that are queued for the store, in bytes. Blocks beyond it are not stored, nor is any
   * later block. Default 64 MiB.
   */
  readonly maxWaitingBytes?: number | undefined;
  /** Milliseconds to the first retry. Each failure doubles it, up to 60 times. Default 1000. */
  readonly retryMs?: number | undefined;
}

const MAX_RETRY = 60;
/** Size of one commit of queued blocks, in bytes; at least one block. */
const BATCH_BYTES = 2 ** 20;

interface QueuedBlock {
  readonly number: number;
  readonly value: Uint8Array;
  /** Edits pending after this block. */
  readonly edits: readonly StateEdit[];
}

/** What is not yet stored. */
interface Backlog {
  /** Newest block that is both stored and on the chain. */
  readonly stored: number;
  /** Blocks after `stored`, without a gap. */
  readonly queued: readonly QueuedBlock[];
  /** First block that was not queued because the queue was full. It cannot be stored any more. */
  readonly gap: number | undefined;
  /** Edits pending after the last queued block, or after `stored`. */
  readonly edits: readonly StateEdit[];
  /** Entries to delete with the next commit. */
  readonly deletes: NonNullable<Commit['deletes']>;
  /** The stored edits or the stored head differ from the chain's. */
  readonly isBehind: boolean;
}

/**
 * Stores the blocks of a devnet, each in one commit with the head pointer. While the store fails, blocks are queued in
 * memory and the chain continues. The stored chain never has a gap. Queued blocks are stored in order once the store
 * works again. The caller runs its methods one at a time.
 */
export class ChainWriter {
  private backlog: Backlog;
  /** Other entries that are not yet stored, by key; those without a value are to be deleted. */
  private entries: ReadonlyMap<string, Uint8Array | undefined> = new Map();
  /** Newest block that may be in the store: a commit may have succeeded although its result was not seen. */
  private newestPossible: number;
  private failed = false;
  /** Error of a store that belongs to another writer now. */
  private fatalError: unknown;
  private delayMs: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  /** The stored chain is another one now. */
  isAbandoned = false;
  private readonly maxWaitingBytes: number;
  private readonly retryMs: number;

  /**
   * @param chain - its newest stored block, and the hashes of its blocks
   * @param enqueue - runs work after the work that is queued before it
   */
  constructor(
    private readonly store: DevnetStore,
    private readonly chain: { readonly head: number; hashOf(number: number): Uint8Array | undefined },
    private readonly health: StoreHealth,
    private readonly enqueue: (work: () => Promise<void>) => Promise<void>,
    { maxWaitingBytes = 64 * 2 ** 20, retryMs = 1000 }: StoringOptions = {},
  ) {
    const { head } = chain;
    this.backlog = { stored: head, queued: [], gap: undefined, edits: [], deletes: [], isBehind: false };
    this.newestPossible = head;
    this.maxWaitingBytes = maxWaitingBytes;
    this.retryMs = retryMs;
    this.delayMs = retryMs;
  }

  /** Length in bytes of the newest record that was written or read. */
  get lastBytes(): number {
    return this.store.lastBytes;
  }

  /** Newest stored block; all earlier ones are stored too. */
  get stored(): number {
    return this.backlog.stored;
  }

  /** Whether the store holds the whole chain, its pending edits and other entries. */
  get isComplete(): boolean {
    const { queued, gap, isBehind } = this.backlog;
    return queued.length === 0 && gap === undefined && !isBehind && this.entries.size === 0;
  }

  /** Starts with the edits that were stored. */
  resume(edits: readonly StateEdit[]): void {
    this.backlog = { ...this.backlog, edits, isBehind: this.store.needsRepair };
  }

  /** Stores a block. @param edits - pending after it */
  async save(record: BlockRecord, edits: readonly StateEdit[] = []): Promise<void> {
    const value = encodeBlockRecord(record);
    this.store.lastBytes = value.length;
    const { number } = record.block.header;
    const { queued, gap } = this.backlog;
    const held = queued.reduce((sum, block) => sum + block.value.length, 0);
    const isGap = gap !== undefined || (queued.length > 0 && held + value.length > this.maxWaitingBytes);
    const next = isGap
      ? { ...this.backlog, gap: gap ?? number }
      : { ...this.backlog, queued: [...queued, { number, value, edits }], edits };
    await this.update(next);
  }

  /** Stores the edits that are pending for the next block. */
  async saveEdits(edits: readonly StateEdit[]): Promise<void> {
    const { queued, gap } = this.backlog;
    if (gap !== undefined) return;
    const last = queued.at(-1);
    const edited = last === undefined ? queued : [...queued.slice(0, -1), { ...last, edits }];
    await this.update({ ...this.backlog, queued: edited, edits, isBehind: true });
  }

  /** Stores another entry of the table `blocks` with the next commit, at the latest in the next turn. @param value - undefined deletes it */
  put(key: string, value: Uint8Array | undefined): void {
    if (this.isAbandoned) return;
    const isFirst = this.entries.size === 0;
    this.entries = new Map([...this.entries, [key, value]]);
    if (isFirst && !this.failed) this.enqueue(() => this.saveEntries()).catch(() => {});
  }

  /** Stores the entries that wait. */
  async saveEntries(): Promise<void> {
    if (this.entries.size > 0) await this.update(this.backlog);
  }

  /**
   * Reverts to an earlier block and its pending edits, in one commit with other deletions.
   *
   * @param entries - keys of other entries to delete
   */
  async truncate(
    number: number,
    edits: readonly StateEdit[],
    alsoDelete: NonNullable<Commit['deletes']> = [],
    entries: readonly string[] = [],
  ): Promise<void> {
    const { stored, queued, gap, deletes } = this.backlog;
    const removed = entries.map((key) => [key, undefined] as const);
    await this.update(
      {
        stored: Math.min(stored, number),
        queued: queued.filter((block) => block.number <= number),
        gap: gap !== undefined && gap <= number ? gap : undefined,
        edits,
        deletes: [...deletes, ...alsoDelete],
        isBehind: true,
      },
      new Map([...this.entries, ...removed]),
    );
  }

  /** Stores the queued blocks if the store works. @returns `isComplete` */
  async settle(): Promise<boolean> {
    await this.retry();
    return this.isComplete;
  }

  /** Stops writing, because the stored chain was replaced. */
  abandon(): void {
    this.closed = true;
    this.isAbandoned = true;
    clearTimeout(this.timer);
    const { stored } = this;
    this.backlog = { stored, queued: [], gap: undefined, edits: [], deletes: [], isBehind: false };
    this.entries = new Map();
  }

  /** After an error that may have replaced the stored chain: checks the store before the next write. Never rejects. */
  async checkAfterError(error: unknown): Promise<void> {
    // A full store refuses before it changes anything.
    if (!isPlumblineError(error, 'STORE_UNAVAILABLE')) return;
    this.failed = true;
    await this.retry();
  }

  /** Stores the queued blocks if the store works, for the last time. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    if (!this.isComplete) await this.retry();
  }

  /** @throws errors of a commit that are not store failures; the backlog is then unchanged */
  private async update(next: Backlog, entries = this.entries): Promise<void> {
    if (this.fatalError !== undefined) throw this.fatalError;
    const before = [this.backlog, this.entries] as const;
    this.backlog = next;
    this.entries = entries;
    // After a failure only the timer retries, so blocks do not wait for the store.
    if (this.failed) return this.reportHealth();
    try {
      await this.flush();
      this.reportHealth();
    } catch (error) {
      if (!isStoreFailure(error)) {
        [this.backlog, this.entries] = before;
        throw error;
      }
      this.fail(error);
    }
  }

  private async retry(): Promise<void> {
    if (this.isComplete && !this.failed) return;
    try {
      // The database may have been deleted, and another chain may have been stored in its place.
      if (this.failed) await this.requireOwnChain();
      await this.flush();
      this.failed = false;
      this.delayMs = this.retryMs;
    } catch (error) {
      if (isStoreFailure(error)) this.fail(error);
      else this.fatalError = error;
    }
    this.reportHealth();
  }

  private async requireOwnChain(): Promise<void> {
    const { stored } = this.backlog;
    await this.store.requireChain(stored, this.chain.hashOf(stored), this.newestPossible);
  }

  private async flush(): Promise<void> {
    while (this.backlog.queued.length > 0 || this.backlog.isBehind || this.entries.size > 0) {
      const { entries } = this;
      const { stored, queued, deletes } = this.backlog;
      const batch = firstBatch(queued);
      const head = batch.at(-1)?.number ?? stored;
      const deleteTo = this.newestPossible;
      this.newestPossible = Math.max(deleteTo, head);
      await this.store.write({
        blocks: batch,
        head,
        edits: batch.at(-1)?.edits ?? this.backlog.edits,
        deleteFrom: stored + 1,
        deleteTo: deleteTo,
        alsoDelete: deletes,
        entries,
      });
      // Others may have come meanwhile.
      const later = [...this.entries].filter(([key, value]) => !entries.has(key) || entries.get(key) !== value);
      this.entries = new Map(later);
      this.newestPossible = head;
      const remaining = queued.slice(batch.length);
      this.backlog = { ...this.backlog, stored: head, queued: remaining, deletes: [], isBehind: false };
    }
  }

  private fail(error: PlumblineError<StoreFailure>): void {
    this.failed = true;
    this.health.memory(error, this.stored + 1);
    if (this.closed) return;
    clearTimeout(this.timer);
    const timer = setTimeout(() => {
      this.enqueue(() => this.retry()).catch(() => {});
    }, this.delayMs);
    // Timers are objects in Node and numbers in a browser.
    (timer as { unref?: () => void }).unref?.();
    this.timer = timer;
    this.delayMs = Math.min(2 * this.delayMs, MAX_RETRY * this.retryMs);
  }

  private reportHealth(): void {
    if (this.isComplete) this.health.durable();
    else this.health.since(this.stored + 1);
  }
}

/**
 * Whether the error is a failure of the store, so that the node continues in memory. Another writer of the same chain
 * is not.
 */
function isStoreFailure(error: unknown): error is PlumblineError<'STORE_QUOTA_EXCEEDED' | 'STORE_UNAVAILABLE'> {
  return isPlumblineError(error, 'STORE_QUOTA_EXCEEDED') || isPlumblineError(error, 'STORE_UNAVAILABLE');
}

function firstBatch(queued: readonly QueuedBlock[]): readonly QueuedBlock[] {
  let bytes = 0;
  const end = queued.findIndex(({ value }, index) => {
    bytes += value.length;
    return index > 0 && bytes > BATCH_BYTES;
  });
  return end < 0 ? queued : queued.slice(0, end);
}
