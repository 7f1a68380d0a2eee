/** Listens to a signal once for all who want to be told of it: many listeners on one signal are taken for a leak by Node. */
export class SignalRelay {
  private readonly heard = new Map<AbortSignal, Set<AbortController>>();

  /** Aborts `controller` with the reason of `signal` when that is aborted. @returns a function that ends it */
  pass(signal: AbortSignal, controller: AbortController): () => void {
    if (signal.aborted) controller.abort(signal.reason);
    if (signal.aborted) return () => {};
    const told = this.heard.get(signal) ?? this.listen(signal);
    told.add(controller);
    return () => {
      if (told.delete(controller) && told.size === 0) this.leave(signal);
    };
  }

  private listen(signal: AbortSignal): Set<AbortController> {
    const told = new Set<AbortController>();
    this.heard.set(signal, told);
    signal.addEventListener('abort', this.abort, { once: true });
    return told;
  }

  private leave(signal: AbortSignal): void {
    this.heard.delete(signal);
    signal.removeEventListener('abort', this.abort);
  }

  private readonly abort = ({ target }: Event): void => {
    const signal = target as AbortSignal;
    const told = this.heard.get(signal) ?? [];
    this.heard.delete(signal);
    for (const controller of told) controller.abort(signal.reason);
  };
}
