import type { Call, Outcome } from './transport/fault.js';

interface Waiter {
  settle(outcomes: readonly Outcome[]): void;
  fail(reason: unknown): void;
}

/** Calls that go together in one request, and everybody who waits for them. */
export class Flight {
  private readonly waiters = new Set<Waiter>();
  private parts: readonly Flight[] = [];

  /** @param onEnd - called when it is settled, has failed, or the last one waiting has given up */
  constructor(
    readonly calls: readonly Call[],
    private readonly onEnd: (flight: Flight) => void,
  ) {}

  get isWanted(): boolean {
    return this.waiters.size > 0;
  }

  /** Outcomes of the calls, in their order. @throws the reason of `signal`, what `fail` was given, nothing else */
  wait(signal?: AbortSignal): Promise<readonly Outcome[]> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.waiters.delete(waiter);
        signal?.removeEventListener('abort', stop);
      };
      const waiter: Waiter = {
        settle(outcomes) {
          leave();
          resolve(outcomes);
        },
        fail(reason) {
          leave();
          reject(reason);
        },
      };
      const stop = () => {
        waiter.fail(signal?.reason);
        if (!this.isWanted) this.abandon();
      };
      this.waiters.add(waiter);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  settle(outcomes: readonly Outcome[]): void {
    for (const waiter of [...this.waiters]) waiter.settle(outcomes);
    this.onEnd(this);
  }

  fail(reason: unknown): void {
    for (const waiter of [...this.waiters]) waiter.fail(reason);
    this.onEnd(this);
  }

  /** Flights of at most `limit` calls in its place; it settles when all of them have. */
  split(limit: number): readonly Flight[] {
    const parts: Flight[] = [];
    for (let at = 0; at < this.calls.length; at += limit)
      parts.push(new Flight(this.calls.slice(at, at + limit), this.onEnd));
    this.parts = parts;
    Promise.all(parts.map((part) => part.wait())).then(
      (outcomes) => this.settle(outcomes.flat()),
      (reason: unknown) => this.fail(reason),
    );
    return parts;
  }

  private abandon(): void {
    this.waiters.clear();
    for (const part of this.parts) part.abandon();
    this.onEnd(this);
  }
}
