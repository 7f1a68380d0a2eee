/** Runs asynchronous work one piece at a time, in the order it was handed in. A failure stays with its own piece. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  run<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.last.then(work, work);
    this.last = result.catch(() => {});
    return result;
  }

  /** Resolves when everything handed in so far is done. */
  async idle(): Promise<void> {
    await this.last;
  }
}
