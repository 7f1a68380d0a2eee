import { isPlumblineError } from '../../../errors.js';
import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import type { Activity } from '../../../scheduling/activity.js';
import type { Clock } from '../../../scheduling/clock.js';
import { SharedWork } from '../../../scheduling/shared-work.js';
import type { Call } from '../../../upstream/failure.js';
import type { ChainListener } from '../../chain.js';
import type { LightSettings } from '../light-options.js';
import type { HeaderChain } from './header-chain.js';
import type { HeadReading, Heads } from './heads.js';
import type { LightBlock } from './light-block.js';

/** How often the head is read: when it is older than `headMaxAgeMs`, and while there are listeners once a slot. */
export interface FollowerOptions extends Pick<LightSettings, 'headMaxAgeMs'> {
  readonly network: Pick<Network, 'slotSeconds'>;
  readonly activity: Activity;
  readonly clock: Clock;
}

/** How long heads far below the last one are refused. Not for ever: at level `plain` the last head may have been false. */
const MAX_MEMORY_MS = 5 * 60_000;
/** Most blocks passed to listeners at once. After a longer gap they get only the newest. */
const MAX_NOTIFIED = 128;

/** Keeps the head up to date: reads it on request when it is too old, and in the background while there are listeners. */
export class HeadFollower {
  private readAt = Number.NEGATIVE_INFINITY;
  /** The head as it was read. `HeaderChain` has another one if headers fetched since then contradict it. */
  private readHead: LightBlock | undefined;
  private reading: SharedWork<HeadReading> | undefined;
  private readonly listeners = new Set<ChainListener>();
  private readonly poller: Poller;
  /** Blocks that listeners have received and that have not left the chain since, by height. */
  private readonly notified = new Map<number, LightBlock>();
  private notifying: Promise<void> = Promise.resolve();

  constructor(
    private readonly heads: Heads,
    private readonly headers: HeaderChain,
    private readonly options: FollowerOptions,
  ) {
    const { network, activity, clock } = options;
    const paceMs = Math.max(1, network.slotSeconds) * 1000;
    const look = async () => {
      const before = this.headers.head;
      await this.refresh();
      return this.headers.head !== before;
    };
    this.poller = new Poller(look, paceMs, activity, clock);
  }

  /** The head, unless the last read is too old. */
  get fresh(): LightBlock | undefined {
    const age = this.options.clock.now() - this.readAt;
    // A negative age means that the clock was set back and the real age is unknown.
    const isFresh = age >= 0 && age <= this.options.headMaxAgeMs;
    return isFresh && this.readHead === this.headers.head ? this.readHead : undefined;
  }

  /** The head that was read last, however long ago. */
  get last(): LightBlock | undefined {
    return this.headers.head;
  }

  /** The newest head, read if the last read is too old. @throws as `refresh` */
  async current(signal?: AbortSignal): Promise<LightBlock> {
    return this.fresh ?? (await this.refresh([], signal)).head;
  }

  /**
   * Reads the head. Callers during a read share it.
   *
   * @param extraCalls - sent to the first endpoint in the same batch; ignored when a read is shared
   * @param signal - of this caller alone: the read goes on for others that wait for it
   * @throws as `Heads.read` and `HeaderChain.adopt`; the reason of the signal
   */
  async refresh(
    extraCalls: readonly Call[] = [],
    signal?: AbortSignal,
  ): Promise<{ head: LightBlock; batched: HeadReading['batched'] }> {
    signal?.throwIfAborted();
    const shared = this.reading?.isOver === false ? this.reading : undefined;
    const { batched } = await (shared ?? this.read(extraCalls)).wait(signal);
    return { head: this.headers.head!, batched: shared === undefined ? batched : undefined };
  }

  private read(extraCalls: readonly Call[]): SharedWork<HeadReading> {
    const startedAt = this.options.clock.now();
    this.reading = new SharedWork(async (signal) => {
      const taken = await this.take(extraCalls, signal);
      this.readAt = startedAt;
      return taken;
    });
    return this.reading;
  }

  /** Blocks that leave the chain are told if they were passed to listeners before. @returns a function that ends the subscription */
  subscribe(listener: ChainListener): () => void {
    // A copy, so that a listener that is added twice is called twice.
    const own = { ...listener };
    this.listeners.add(own);
    const { head } = this.headers;
    if (this.listeners.size === 1) {
      this.notified.clear();
      if (head !== undefined) this.notified.set(head.header.number, head);
    }
    this.poller.start();
    return () => {
      this.listeners.delete(own);
      if (this.listeners.size === 0) this.poller.stop();
    };
  }

  close(): void {
    this.listeners.clear();
    this.poller.stop();
  }

  private async take(extraCalls: readonly Call[], signal: AbortSignal): Promise<HeadReading> {
    const reading = await this.readHeads(extraCalls, signal);
    signal.throwIfAborted();
    await this.headers.adopt(reading, extraCalls.length > 0, signal);
    this.readHead = this.headers.head;
    if (this.listeners.size > 0) {
      this.notifying = this.notifying.then(() => this.notify()).catch(() => {});
    }
    return reading;
  }

  /** The newest head; one that is far below the last one only if all endpoints have lost that. */
  private async readHeads(extraCalls: readonly Call[], signal: AbortSignal): Promise<HeadReading> {
    const { lowest } = this;
    try {
      return await this.heads.read(extraCalls, lowest, signal);
    } catch (error) {
      const { head } = this.headers;
      const { level } = this.heads.rules;
      const mayBeLost = lowest > 0 && head !== undefined && level !== 'sealed' && level !== 'attested';
      if (!mayBeLost || !isPlumblineError(error, 'TRUST_LEVEL_NOT_REACHED')) throw error;
      const reading = await this.heads.read(extraCalls, 0, signal);
      if (reading.block.header.number >= lowest || (await this.headers.isLost(head, reading, signal))) return reading;
      throw error;
    }
  }

  /** Height below which heads are refused, so that endpoints that fall far behind do not take the node back. */
  private get lowest(): number {
    const { head } = this.headers;
    const { level, maxLagBlocks } = this.heads.rules;
    const isRecent = this.options.clock.now() - this.readAt <= MAX_MEMORY_MS;
    return head !== undefined && (level === 'sealed' || isRecent) ? Math.max(0, head.header.number - maxLagBlocks) : 0;
  }

  /** Passes the blocks that have left the chain to listeners, and those between the last notified one and the head. */
  private async notify(): Promise<void> {
    const { head } = this.headers;
    if (head === undefined) return;
    const blocks: LightBlock[] = [];
    const lowest = Math.min(...this.notified.keys());
    for (let block = head; !this.wasNotified(block); ) {
      if (blocks.length === MAX_NOTIFIED) {
        blocks.length = 1;
        break;
      }
      blocks.push(block);
      const { number } = block.header;
      if (number <= lowest) break;
      block = await this.headers.ancestor(number - 1);
    }
    const kept = (blocks.at(-1)?.header.number ?? head.header.number + 1) - 1;
    const left = [...this.notified.values()].filter(({ header }) => header.number > kept);
    for (const block of left.sort((a, b) => b.header.number - a.header.number)) {
      this.notified.delete(block.header.number);
      this.tell('removed', block);
    }
    for (const block of blocks.reverse()) {
      this.notified.set(block.header.number, block);
      if (this.notified.size > MAX_NOTIFIED) this.notified.delete(Math.min(...this.notified.keys()));
      this.tell('head', block);
    }
  }

  private wasNotified({ header, hash }: LightBlock): boolean {
    const notified = this.notified.get(header.number);
    return notified !== undefined && equalBytes(notified.hash, hash);
  }

  private tell(event: 'head' | 'removed', block: LightBlock): void {
    for (const listener of this.listeners) {
      try {
        listener[event]?.(block);
      } catch {
        // The other listeners still have to get the block.
      }
    }
  }
}

/** Longest wait while nothing changes, and while reads fail, milliseconds. */
const MAX_IDLE_MS = 30_000;
const MAX_FAILING_MS = 60_000;
/** Each poll that finds nothing new multiplies the wait by this factor. */
const SLOWER = 1.5;

/**
 * Polls repeatedly: at the pace of the chain while there is something new, less often while there is not or polls fail, and
 * not at all while the page is inactive.
 */
export class Poller {
  private timer: unknown;
  private running = false;
  private polling = false;
  private waitMs: number;
  private stopListening: (() => void) | undefined;

  /**
   * @param poll - returns whether it found something new
   * @param paceMs - wait after a poll that found something new
   */
  constructor(
    private readonly poll: () => Promise<boolean>,
    private readonly paceMs: number,
    private readonly activity: Activity,
    private readonly clock: Clock,
  ) {
    this.waitMs = paceMs;
  }

  start(): void {
    if (this.running) return;
    this.running = true;
    this.stopListening = this.activity.onChange(() => this.changed());
    this.wait(this.paceMs);
  }

  stop(): void {
    this.running = false;
    this.stopListening?.();
    this.clock.clearTimer(this.timer);
    this.timer = undefined;
  }

  private changed(): void {
    this.clock.clearTimer(this.timer);
    this.timer = undefined;
    this.waitMs = this.paceMs;
    if (this.activity.isActive) void this.turn();
  }

  private wait(delayMs: number): void {
    if (!this.running || !this.activity.isActive) return;
    this.clock.clearTimer(this.timer);
    this.timer = this.clock.setTimer(() => void this.turn(), delayMs);
  }

  private async turn(): Promise<void> {
    if (this.polling || !this.running) return;
    this.polling = true;
    try {
      this.waitMs = (await this.poll()) ? this.paceMs : Math.min(MAX_IDLE_MS, this.waitMs * SLOWER);
    } catch {
      // The next caller of `poll` gets the error. Here it only makes the wait longer.
      this.waitMs = Math.min(MAX_FAILING_MS, this.waitMs * 2);
    }
    this.polling = false;
    this.wait(this.waitMs);
  }
}
