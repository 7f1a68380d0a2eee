import { equalBytes } from '../../../primitives/bytes.js';
import type { Activity } from '../../../scheduling/activity.js';
import type { Clock } from '../../../scheduling/clock.js';
import type { Call } from '../../../upstream/transport/fault.js';
import type { HeadListener } from '../../chain.js';
import type { HeaderChain } from './header-chain.js';
import type { HeadReading, Heads } from './heads.js';
import type { LightBlock } from './light-block.js';
import { Poller } from './poller.js';

/** How often the head is looked for. */
export interface FollowerOptions {
  /** For how long a head is taken for the newest without a look, milliseconds. */
  readonly maxAgeMs: number;
  /** Between two looks while somebody listens, milliseconds. */
  readonly paceMs: number;
  readonly activity: Activity;
  readonly clock: Clock;
}

/** For how long nobody is believed who is far behind the last head: it may itself have been a lie of level `plain`. */
const MAX_MEMORY_MS = 5 * 60_000;
/** Blocks handed to listeners at once; after a longer gap they hear of the newest alone. */
const MAX_TOLD = 128;

/** One reading of the head, which ends when nobody waits for it any more. */
interface Reading {
  readonly promise: Promise<HeadReading>;
  readonly ending: AbortController;
  waiting: number;
}

/** Keeps the head: read when it is asked for and no longer fresh, and in the background while somebody listens. */
export class HeadFollower {
  private readAt = Number.NEGATIVE_INFINITY;
  /** The head as it was read; the chain has another when headers fetched since then have contradicted it. */
  private readHead: LightBlock | undefined;
  private reading: Reading | undefined;
  private readonly listeners = new Set<HeadListener>();
  private readonly poller: Poller;
  /** Hashes of the blocks that listeners were told of, by height. */
  private readonly told = new Map<number, Uint8Array>();
  private telling: Promise<void> = Promise.resolve();

  constructor(
    private readonly heads: Heads,
    private readonly headers: HeaderChain,
    private readonly options: FollowerOptions,
  ) {
    const { paceMs, activity, clock } = options;
    const look = async () => {
      const before = this.headers.head;
      await this.refresh();
      return this.headers.head !== before;
    };
    this.poller = new Poller(look, paceMs, activity, clock);
  }

  /** The head, unless it was read too long ago. */
  get fresh(): LightBlock | undefined {
    const age = this.options.clock.now() - this.readAt;
    // Below zero the clock was set back, and nobody knows how old it is.
    const isFresh = age >= 0 && age <= this.options.maxAgeMs;
    return isFresh && this.readHead === this.headers.head ? this.readHead : undefined;
  }

  /** The head that was read last, however long ago. */
  get last(): LightBlock | undefined {
    return this.headers.head;
  }

  /** The newest head, read if need be. @throws as `refresh` */
  async current(signal?: AbortSignal): Promise<LightBlock> {
    return this.fresh ?? (await this.refresh([], signal)).head;
  }

  /**
   * Reads the head, and `also` at the first endpoint with it. Whoever comes while it is read gets the same head, and nothing
   * beside it.
   *
   * @param signal - of this caller alone: the reading goes on for others who wait for it
   * @throws as `Heads.read` and `HeaderChain.adopt`; the reason of the signal
   */
  async refresh(
    also: readonly Call[] = [],
    signal?: AbortSignal,
  ): Promise<{ head: LightBlock; beside: HeadReading['beside'] }> {
    signal?.throwIfAborted();
    const shared = this.reading;
    const { beside } = await this.wait(shared ?? this.read(also), signal);
    return { head: this.headers.head!, beside: shared === undefined ? beside : undefined };
  }

  private read(also: readonly Call[]): Reading {
    const startedAt = this.options.clock.now();
    const ending = new AbortController();
    const promise = this.take(also, ending.signal).then((taken) => {
      this.readAt = startedAt;
      return taken;
    });
    const reading: Reading = { promise, ending, waiting: 0 };
    const over = () => {
      if (this.reading === reading) this.reading = undefined;
    };
    promise.then(over, over);
    this.reading = reading;
    return reading;
  }

  private wait(reading: Reading, signal: AbortSignal | undefined): Promise<HeadReading> {
    reading.waiting++;
    if (signal === undefined) return reading.promise;
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(signal.reason);
        if (--reading.waiting > 0) return;
        if (this.reading === reading) this.reading = undefined;
        reading.ending.abort(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      const stay = () => signal.removeEventListener('abort', leave);
      reading.promise.then(resolve, reject).then(stay, stay);
    });
  }

  /** Tells of each new head from now on, in order. @returns a function that ends it */
  onHead(listener: HeadListener): () => void {
    // A listener of its own, so that one that is given twice is told twice.
    const own: HeadListener = (block) => listener(block);
    this.listeners.add(own);
    const { head } = this.headers;
    if (this.listeners.size === 1) {
      this.told.clear();
      if (head !== undefined) this.told.set(head.header.number, head.hash);
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

  private async take(also: readonly Call[], signal: AbortSignal): Promise<HeadReading> {
    const reading = await this.heads.read(also, this.lowest, signal);
    signal.throwIfAborted();
    await this.headers.adopt(reading, also.length > 0, signal);
    this.readHead = this.headers.head;
    if (this.listeners.size > 0) {
      this.telling = this.telling.then(() => this.tell()).catch(() => {});
    }
    return reading;
  }

  /** Height below which no head is taken: endpoints that fall far behind do not take the node back with them. */
  private get lowest(): number {
    const { head } = this.headers;
    const { level, maxLagBlocks } = this.heads.rules;
    const isRecent = this.options.clock.now() - this.readAt <= MAX_MEMORY_MS;
    return head !== undefined && (level === 'sealed' || isRecent) ? Math.max(0, head.header.number - maxLagBlocks) : 0;
  }

  /** Tells of the blocks between what was told last and the head. */
  private async tell(): Promise<void> {
    const { head } = this.headers;
    if (head === undefined || this.wasTold(head)) return;
    const lowest = Math.min(...this.told.keys());
    const blocks = [head];
    for (let number = head.header.number - 1; number >= lowest; number--) {
      if (blocks.length === MAX_TOLD) {
        blocks.length = 1;
        break;
      }
      const block = await this.headers.ancestor(number);
      if (this.wasTold(block)) break;
      blocks.push(block);
    }
    for (const block of blocks.reverse()) {
      this.told.set(block.header.number, block.hash);
      if (this.told.size > MAX_TOLD) this.told.delete(Math.min(...this.told.keys()));
      for (const listener of this.listeners) {
        try {
          listener(block);
        } catch {
          // A listener that throws must not cost the others their block.
        }
      }
    }
  }

  private wasTold({ header, hash }: LightBlock): boolean {
    const told = this.told.get(header.number);
    return told !== undefined && equalBytes(told, hash);
  }
}
