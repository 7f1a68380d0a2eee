import { invalidParameter } from '../../../errors.js';
import type { RunLimits } from '../../../evm/run-budget.js';
import type { SerialQueue } from '../../../scheduling/serial-queue.js';
import type { MiningMode } from '../options.js';
import type { BlockMaker } from './block-maker.js';

/** Timers do not support much longer delays. */
const MAX_INTERVAL_SECONDS = 2_000_000;

/** @throws PlumblineError `INVALID_PARAMETER` */
export function requireInterval(mode: MiningMode): void {
  if (typeof mode !== 'object' || (mode.intervalSeconds > 0 && mode.intervalSeconds <= MAX_INTERVAL_SECONDS)) return;
  throw invalidParameter('mining.intervalSeconds', `must be above 0 and at most ${MAX_INTERVAL_SECONDS}`);
}

/** Decides when blocks are sealed, by mining mode. */
export class Mining {
  private readonly interval: Interval;
  private current: MiningMode = 'manual';
  /** The mode before the present interval. */
  private before: Exclude<MiningMode, object> = 'manual';

  constructor(
    private readonly maker: BlockMaker,
    queue: SerialQueue,
  ) {
    this.interval = new Interval(() => queue.run(() => maker.seal()));
  }

  get mode(): MiningMode {
    return this.current;
  }

  /** Changes the mode. Mode `auto` seals a block at once if transactions are ready. */
  async set(mode: MiningMode): Promise<void> {
    this.interval.stop();
    if (typeof this.current !== 'object') this.before = this.current;
    this.current = mode;
    if (typeof mode === 'object') this.interval.start(mode.intervalSeconds);
    else await this.transactionAdded();
  }

  /** Ends mining by interval: the mode is again the one before it. */
  async endInterval(): Promise<void> {
    if (typeof this.current === 'object') await this.set(this.before);
  }

  /** Runs work during which added transactions do not have a block sealed. */
  async withhold<Result>(work: () => Promise<Result>): Promise<Result> {
    const { current } = this;
    this.current = 'manual';
    try {
      return await work();
    } finally {
      this.current = current;
    }
  }

  /** Called after a transaction was added to the pool. @throws PlumblineError as `BlockMaker.seal` */
  async transactionAdded(limits?: RunLimits): Promise<void> {
    if (this.current !== 'auto') return;
    const ready = await this.maker.pool.ready(this.maker.nonceOf);
    if (ready.length > 0) await this.maker.seal(limits);
  }

  stop(): void {
    this.interval.stop();
  }
}

/**
 * Repeats work, with a pause between the end of one run and the start of the next. It does not keep a Node process
 * alive.
 */
export class Interval {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private period: number | undefined;

  /** @param work - a rejection is ignored; the next run starts as planned */
  constructor(private readonly work: () => Promise<unknown>) {}

  /** Seconds between two runs; undefined if stopped. */
  get seconds(): number | undefined {
    return this.period;
  }

  start(seconds: number): void {
    this.stop();
    this.period = seconds;
    this.schedule(seconds);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.period = undefined;
  }

  private schedule(seconds: number): void {
    const timer = setTimeout(async () => {
      await this.work().catch(() => {});
      if (this.timer === timer) this.schedule(seconds);
    }, seconds * 1000);
    this.timer = timer;
    // Timers are objects in Node and numbers in a browser.
    (timer as { unref?: () => void }).unref?.();
  }
}
