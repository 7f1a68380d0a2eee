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
