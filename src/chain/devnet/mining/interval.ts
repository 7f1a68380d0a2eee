/** Runs work again and again, each time so long after the one before has ended. Keeps no Node process alive. */
export class Interval {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private period: number | undefined;

  /** @param work - whatever it rejects with is its own affair: the next turn comes all the same */
  constructor(private readonly work: () => Promise<unknown>) {}

  /** Seconds between two turns; undefined while nothing runs. */
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
    // Node's timers are objects, a browser's are numbers.
    (timer as { unref?: () => void }).unref?.();
  }
}
