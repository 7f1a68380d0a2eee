import { PlumblineError } from '../errors.js';

/** Runs asynchronous tasks one at a time, in order. A task that fails does not affect the others. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;
  private isHeld = false;
  /** Resolves when no task runs beside the one that holds the queue. */
  private beside: Promise<unknown> = Promise.resolve();
  private failure: Error | undefined;

  /** Runs `work` in its turn. @throws PlumblineError `NODE_CLOSED` if the queue was closed before */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.enqueue(() => {
      if (this.failure !== undefined) throw this.failure;
      return work();
    });
  }

  /** As `run`, for a task that changes nothing but that later tasks must wait for. */
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
   * Runs a last task in its turn, also after `fail`, and closes the queue. If the task throws, the queue stays open.
   *
   * @param pastHold - do not wait for a task of `hold`; the next task waits for both
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

  /** `work`, unless the queue is closed by then. */
  private opened<Value>(work: () => Promise<Value>): () => Promise<Value> {
    return async () => {
      if (this.closed) throw new PlumblineError('NODE_CLOSED', 'the devnet was closed', {});
      return work();
    };
  }

  /** Refuses all later tasks with `error`, because they depend on a task that failed. */
  fail(error: Error): void {
    this.failure = error;
  }

  /** Closes the queue and waits for the running task. No other task begins. */
  async close(): Promise<void> {
    this.closed = true;
    await this.beside;
    await this.last;
  }
}
