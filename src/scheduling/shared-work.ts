/** Work that several callers wait for. It is aborted when all of them have aborted; a caller without a signal waits to its end. */
export class SharedWork<Result> {
  private readonly controller = new AbortController();
  private readonly promise: Promise<Result>;
  private waiting = 0;
  /** It has ended, or nobody waits for it any more. */
  isOver = false;

  constructor(work: (signal: AbortSignal) => Promise<Result>) {
    const over = () => {
      this.isOver = true;
    };
    this.promise = work(this.controller.signal);
    this.promise.then(over, over);
  }

  /** @throws what the work throws; the reason of the signal */
  wait(signal?: AbortSignal): Promise<Result> {
    this.waiting++;
    if (signal === undefined) return this.promise;
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(signal.reason);
        if (--this.waiting > 0) return;
        this.isOver = true;
        this.controller.abort(signal.reason);
      };
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      const stay = () => signal.removeEventListener('abort', leave);
      this.promise.then(resolve, reject).then(stay, stay);
    });
  }
}
