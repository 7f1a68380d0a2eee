import { PlumblineError } from '../errors.js';

/** Runs asynchronous work one piece at a time, in the order it was handed in. A failure stays with its own piece. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;
  private isHeld = false;
  /** Done when no work is under way beside what holds the queue. */
  private beside: Promise<unknown> = Promise.resolve();
  private failure: Error | undefined;

  /** @throws PlumblineError `NODE_CLOSED` for work whose turn comes after the queue was closed */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.enqueue(() => {
      if (this.failure !== undefined) throw this.failure;
      return work();
    });
  }

  /** As `run`, for work that changes nothing and that others wait for. */
  hold(work: () => Promise<void>): Promise<void> {
    this.isHeld = true;
    return this.run(async () => {
      try {
        await work();
      } finally {
        this.isHeld = false;
      }
    });
  }

  /**
   * Closes the queue with a last piece of work, which takes its turn after a failure as well. Where it throws, the queue
   * goes on.
   *
   * @param pastHold - does not wait for `hold` to end; the piece after that waits for both
   * @throws PlumblineError `NODE_CLOSED`, and what `work` throws
   */
  runLast(work: () => Promise<void>, pastHold = false): Promise<void> {
    const last = async () => {
      await work();
      this.closed = true;
    };
    if (!pastHold || !this.isHeld) return this.enqueue(last);
    const done = this.beside.then(this.opened(last));
    this.beside = done.catch(() => {});
    return done;
  }

  private enqueue<Value>(work: () => Promise<Value>): Promise<Value> {
    const open = async () => {
      await this.beside;
      return this.opened(work)();
    };
    const result = this.last.then(open, open);
    this.last = result.catch(() => {});
    return result;
  }

  /** Work that is not begun once the queue was closed. */
  private opened<Value>(work: () => Promise<Value>): () => Promise<Value> {
    return async () => {
      if (this.closed) throw new PlumblineError('NODE_CLOSED', 'the devnet was closed', {});
      return work();
    };
  }

  /** Refuses the work that comes after the piece that runs: what it builds on is not there. */
  fail(error: Error): void {
    this.failure = error;
  }

  /** Lets the piece that runs come to its end, and no other begin. */
  async close(): Promise<void> {
    this.closed = true;
    await this.beside;
    await this.last;
  }
}
