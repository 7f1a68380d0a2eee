import { isPlumblineError, type PlumblineError } from '../../../errors.js';
import type { Commit } from '../../../store/page-store.js';
import type { StoreFailure, StoreHealth } from '../../../store/store-status.js';
import { type BlockRecord, encodeBlockRecord } from '../records/block-record.js';
import type { StateEdit } from '../records/edits.js';
import type { DevnetStore } from './devnet-store.js';

/** What a devnet does when its store fails. */
export interface StoringOptions {
  /** Bytes of blocks that wait for the store. Later ones are not kept, and nothing after them is stored. Default 64 MiB. */
  readonly maxWaitingBytes?: number | undefined;
  /** Milliseconds to the first attempt to store what waits; each failure doubles it, up to 60 times as much. Default 1000. */
  readonly retryMs?: number | undefined;
}

const MAX_RETRY = 60;
/** Blocks that waited are stored in commits of about this many bytes, or of one block. */
const BATCH_BYTES = 2 ** 20;

interface Waiting {
  readonly number: number;
  readonly value: Uint8Array;
  /** Edits that wait after it. */
  readonly edits: readonly StateEdit[];
}

/** What the store lacks. */
interface Backlog {
  /** Newest block that is both stored and of the chain. */
  readonly stored: number;
  /** Blocks after that one, without a gap. */
  readonly waiting: readonly Waiting[];
  /** First block after those, where more waited than may: it cannot be stored any more. */
  readonly gap: number | undefined;
  /** Edits that wait after the last of `waiting`, or after `stored`. */
  readonly edits: readonly StateEdit[];
  /** To be deleted with the next commit. */
  readonly deletes: NonNullable<Commit['deletes']>;
  /** Edits or head of the store are not those of the chain. */
  readonly isBehind: boolean;
}

/**
 * Stores the blocks of a devnet, each in one commit with the head pointer. While the store cannot be used, the blocks wait
 * in memory, and the chain goes on: what is stored always is a chain without a gap, up to the block before those that wait.
 * They are stored in order as soon as that succeeds. Its methods run one at a time; the caller sees to that.
 */
export class ChainWriter {
  private backlog: Backlog;
  /** Newest block that may be in the store; a commit whose end was not seen may have been carried out. */
  private mayHold: number;
  private failed = false;
  /** What another writer of the same chain left of this one. */
  private ended: unknown;
  private delayMs: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private readonly maxWaitingBytes: number;
  private readonly retryMs: number;

  /**
   * @param chain - its newest stored block, and the hashes of its blocks
   * @param turn - runs a piece of work after those before it
   */
  constructor(
    private readonly store: DevnetStore,
    private readonly chain: { readonly head: number; hashOf(number: number): Uint8Array | undefined },
    private readonly health: StoreHealth,
    private readonly turn: (work: () => Promise<void>) => Promise<void>,
    { maxWaitingBytes = 64 * 2 ** 20, retryMs = 1000 }: StoringOptions = {},
  ) {
    const { head } = chain;
    this.backlog = { stored: head, waiting: [], gap: undefined, edits: [], deletes: [], isBehind: false };
    this.mayHold = head;
    this.maxWaitingBytes = maxWaitingBytes;
    this.retryMs = retryMs;
    this.delayMs = retryMs;
  }

  /** Length of the newest record that was written or read. */
  get lastBytes(): number {
    return this.store.lastBytes;
  }

  /** Newest block that is stored; those before it are, too. */
  get stored(): number {
    return this.backlog.stored;
  }

  /** Whether the store holds all there is to the chain. */
  get isWhole(): boolean {
    const { waiting, gap, isBehind } = this.backlog;
    return waiting.length === 0 && gap === undefined && !isBehind;
  }

  /** Takes up the edits that were stored. */
  resume(edits: readonly StateEdit[]): void {
    this.backlog = { ...this.backlog, edits, isBehind: this.store.isDamaged };
  }

  /** Keeps a block. @param edits - that wait after it */
  async save(record: BlockRecord, edits: readonly StateEdit[] = []): Promise<void> {
    const value = encodeBlockRecord(record);
    this.store.lastBytes = value.length;
    const { number } = record.block.header;
    const { waiting, gap } = this.backlog;
    const held = waiting.reduce((sum, block) => sum + block.value.length, 0);
    const isGap = gap !== undefined || (waiting.length > 0 && held + value.length > this.maxWaitingBytes);
    const next = isGap
      ? { ...this.backlog, gap: gap ?? number }
      : { ...this.backlog, waiting: [...waiting, { number, value, edits }], edits };
    await this.become(next);
  }

  /** Keeps the edits that wait for the next block. */
  async saveEdits(edits: readonly StateEdit[]): Promise<void> {
    const { waiting, gap } = this.backlog;
    if (gap !== undefined) return;
    const last = waiting.at(-1);
    const edited = last === undefined ? waiting : [...waiting.slice(0, -1), { ...last, edits }];
    await this.become({ ...this.backlog, waiting: edited, edits, isBehind: true });
  }

  /** Goes back to an earlier block, with the edits that waited then, in one commit with other deletions. */
  async truncate(
    number: number,
    edits: readonly StateEdit[],
    alsoDelete: NonNullable<Commit['deletes']> = [],
  ): Promise<void> {
    const { stored, waiting, gap, deletes } = this.backlog;
    await this.become({
      stored: Math.min(stored, number),
      waiting: waiting.filter((block) => block.number <= number),
      gap: gap !== undefined && gap <= number ? gap : undefined,
      edits,
      deletes: [...deletes, ...alsoDelete],
      isBehind: true,
    });
  }

  /** Stores what waits, as far as that can be done now. @returns `isWhole` */
  async settle(): Promise<boolean> {
    await this.tryAgain();
    return this.isWhole;
  }

  /** Writes nothing more: something else is in the place of what was stored. */
  abandon(): void {
    this.closed = true;
    clearTimeout(this.timer);
    const { stored } = this;
    this.backlog = { stored, waiting: [], gap: undefined, edits: [], deletes: [], isBehind: false };
  }

  /** Something else may be in the place of what was stored: looks before anything more is written. Never rejects. */
  async doubt(error: unknown): Promise<void> {
    // A store that is full has said so before it changed anything.
    if (!isPlumblineError(error, 'STORE_UNAVAILABLE')) return;
    this.failed = true;
    await this.tryAgain();
  }

  /** Stores what waits, as far as that can be done, for the last time. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    if (!this.isWhole) await this.tryAgain();
  }

  /** @throws what a commit throws that is no failure of the store itself; the backlog is as it was then */
  private async become(next: Backlog): Promise<void> {
    if (this.ended !== undefined) throw this.ended;
    const before = this.backlog;
    this.backlog = next;
    // After a failure the timer tries again: blocks do not wait for a store that does not answer.
    if (this.failed) return this.tell();
    try {
      await this.flush();
      this.tell();
    } catch (error) {
      if (!passes(error)) {
        this.backlog = before;
        throw error;
      }
      this.fail(error);
    }
  }

  private async tryAgain(): Promise<void> {
    if (this.isWhole && !this.failed) return;
    try {
      // The database may have been deleted, and another chain may have begun in its place.
      if (this.failed) await this.expectOwn();
      await this.flush();
      this.failed = false;
      this.delayMs = this.retryMs;
    } catch (error) {
      if (passes(error)) this.fail(error);
      else this.ended = error;
    }
    this.tell();
  }

  private async expectOwn(): Promise<void> {
    const { stored } = this.backlog;
    await this.store.expectChain(stored, this.chain.hashOf(stored), this.mayHold);
  }

  private async flush(): Promise<void> {
    while (this.backlog.waiting.length > 0 || this.backlog.isBehind) {
      const { stored, waiting, deletes } = this.backlog;
      const batch = firstBatch(waiting);
      const head = batch.at(-1)?.number ?? stored;
      const beyond = this.mayHold;
      this.mayHold = Math.max(beyond, head);
      await this.store.write({
        blocks: batch,
        head,
        edits: batch.at(-1)?.edits ?? this.backlog.edits,
        deleteFrom: stored + 1,
        deleteTo: beyond,
        alsoDelete: deletes,
      });
      this.mayHold = head;
      const left = waiting.slice(batch.length);
      this.backlog = { ...this.backlog, stored: head, waiting: left, deletes: [], isBehind: false };
    }
  }

  private fail(error: PlumblineError<StoreFailure>): void {
    this.failed = true;
    this.health.memory(error, this.stored + 1);
    if (this.closed) return;
    clearTimeout(this.timer);
    const timer = setTimeout(() => {
      this.turn(() => this.tryAgain()).catch(() => {});
    }, this.delayMs);
    // Node's timers are objects, a browser's are numbers.
    (timer as { unref?: () => void }).unref?.();
    this.timer = timer;
    this.delayMs = Math.min(2 * this.delayMs, MAX_RETRY * this.retryMs);
  }

  private tell(): void {
    if (this.isWhole) this.health.durable();
    else this.health.since(this.stored + 1);
  }
}

/** Whether a node can go on without its store: another writer of the same chain is no such failure. */
function passes(error: unknown): error is PlumblineError<'STORE_QUOTA_EXCEEDED' | 'STORE_UNAVAILABLE'> {
  return isPlumblineError(error, 'STORE_QUOTA_EXCEEDED') || isPlumblineError(error, 'STORE_UNAVAILABLE');
}

function firstBatch(waiting: readonly Waiting[]): readonly Waiting[] {
  let bytes = 0;
  const end = waiting.findIndex(({ value }, index) => {
    bytes += value.length;
    return index > 0 && bytes > BATCH_BYTES;
  });
  return end < 0 ? waiting : waiting.slice(0, end);
}
