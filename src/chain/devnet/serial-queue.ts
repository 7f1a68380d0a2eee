import { PlumblineError } from '../../errors.js';

/** Runs asynchronous work one piece at a time, in the order it was handed in. A failure stays with its own piece. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;
  private failure: Error | undefined;

  /** @throws PlumblineError `NODE_CLOSED` for work whose turn comes after the queue was closed */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    const open = () => {
      if (this.closed) throw new PlumblineError('NODE_CLOSED', 'the devnet was closed', {});
      if (this.failure !== undefined) throw this.failure;
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
