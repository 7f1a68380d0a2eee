import type { RunLimits } from '../../../evm/interpreter/run-budget.js';
import type { SerialQueue } from '../../../scheduling/serial-queue.js';
import type { MiningMode } from '../options.js';
import type { BlockMaker } from './block-maker.js';
import { Interval } from './interval.js';

/** Decides when blocks are sealed, by mining mode. */
export class Mining {
  private readonly interval: Interval;
  private current: MiningMode = 'manual';

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
    this.current = mode;
    if (typeof mode === 'object') this.interval.start(mode.intervalSeconds);
    else await this.transactionAdded();
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
