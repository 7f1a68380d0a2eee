import { PlumblineError } from '../../errors.js';

/** Runs asynchronous work one piece at a time, in the order it was handed in. A failure stays with its own piece. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;
  private failure: Error | undefined;

  /** @throws PlumblineError `NODE_CLOSED` for work whose turn comes after the queue was closed */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.enqueue(() => {
      if (this.failure !== undefined) throw this.failure;
      return work();
    });
  }

  /**
   * Closes the queue with a last piece of work, which takes its turn after a failure as well. Where it throws, the queue
   * goes on.
   *
   * @throws PlumblineError `NODE_CLOSED`, and what `work` throws
   */
  runLast(work: () => Promise<void>): Promise<void> {
    return this.enqueue(async () => {
      await work();
      this.closed = true;
    });
  }

  private enqueue<Value>(work: () => Promise<Value>): Promise<Value> {
    const open = () => {
      if (this.closed) throw new PlumblineError('NODE_CLOSED', 'the devnet was closed', {});
      return work();
    };
    const result = this.last.then(open, open);
    this.last = result.catch(() => {});
    return result;
  }

  /** Refuses the work that comes after the piece that runs: what it builds on is not there. */
  fail(error: Error): void {
    this.failure = error;
  }

  /** Lets the piece that runs come to its end, and no other begin. */
  async close(): Promise<void> {
    this.closed = true;
    await this.last;
  }
}
