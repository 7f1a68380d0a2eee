import type { Call, Outcome } from './transport/fault.js';

interface Waiter {
  settle(outcomes: readonly Outcome[]): void;
  fail(reason: unknown): void;
}

/** Calls that are sent together in one request, and the callers that wait for them. */
export class PendingCalls {
  private readonly waiters = new Set<Waiter>();
  private parts: readonly PendingCalls[] = [];

  /** @param onEnd - called when the calls are settled, have failed, or the last waiting caller has aborted */
  constructor(
    readonly calls: readonly Call[],
    private readonly onEnd: (pending: PendingCalls) => void,
  ) {}

  get isWanted(): boolean {
    return this.waiters.size > 0;
  }

  /** Outcomes of the calls, in their order. @throws only the reason of `signal`, or the reason given to `fail` */
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

  /** Splits it into parts of at most `limit` calls. It settles when all of them have settled. */
  split(limit: number): readonly PendingCalls[] {
    const parts: PendingCalls[] = [];
    for (let at = 0; at < this.calls.length; at += limit)
      parts.push(new PendingCalls(this.calls.slice(at, at + limit), this.onEnd));
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
