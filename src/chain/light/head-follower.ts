import { equalBytes } from '../../primitives/bytes.js';
import type { Clock } from '../../upstream/clock.js';
import type { Call } from '../../upstream/fault.js';
import type { HeadListener } from '../chain.js';
import type { Activity } from './activity.js';
import type { HeaderChain } from './header-chain.js';
import type { HeadReading, Heads } from './heads.js';
import type { LightBlock } from './light-block.js';
import { Poller } from './poller.js';

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

/** Keeps the head: read when it is asked for and no longer fresh, and in the background while somebody listens. */
export class HeadFollower {
  private readAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<HeadReading> | undefined;
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
    return this.options.clock.now() - this.readAt <= this.options.maxAgeMs ? this.headers.head : undefined;
  }

  /** The head that was read last, however long ago. */
  get last(): LightBlock | undefined {
    return this.headers.head;
  }

  /** The newest head, read if need be. @throws as `Heads.read` and `HeaderChain.adopt` */
  async current(): Promise<LightBlock> {
    return this.fresh ?? (await this.refresh()).head;
  }

  /**
   * Reads the head, and `also` at the first endpoint with it. Whoever comes while it is read gets the same head, and nothing
   * beside it.
   */
  async refresh(also: readonly Call[] = []): Promise<{ head: LightBlock; beside: HeadReading['beside'] }> {
    if (this.reading !== undefined) {
      await this.reading;
      return { head: this.headers.head!, beside: undefined };
    }
    const startedAt = this.options.clock.now();
    this.reading = this.take(also);
    try {
      const { beside } = await this.reading;
      this.readAt = startedAt;
      return { head: this.headers.head!, beside };
    } finally {
      this.reading = undefined;
    }
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

  private async take(also: readonly Call[]): Promise<HeadReading> {
    const reading = await this.heads.read(also, this.lowest);
    await this.headers.adopt(reading);
    if (this.listeners.size > 0) {
      this.telling = this.telling.then(() => this.tell()).catch(() => {});
    }
    return reading;
  }

  /** Height below which no head is taken: endpoints that fall far behind do not take the node back with them. */
  private get lowest(): number {
    const { head } = this.headers;
    const isKnown = head !== undefined && this.options.clock.now() - this.readAt <= MAX_MEMORY_MS;
    return isKnown ? Math.max(0, head.header.number - this.heads.rules.maxLagBlocks) : 0;
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
