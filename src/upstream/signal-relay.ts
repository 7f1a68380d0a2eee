/** Adds one listener per signal for any number of controllers: Node reports many listeners on one signal as a leak. */
export class SignalRelay {
  private readonly listened = new Map<AbortSignal, Set<AbortController>>();

  /** Aborts `controller` with the reason of `signal` when that is aborted. @returns a function that ends that */
  pass(signal: AbortSignal, controller: AbortController): () => void {
    if (signal.aborted) controller.abort(signal.reason);
    const controllers = this.listened.get(signal) ?? this.listen(signal);
    controllers.add(controller);
    return () => {
      if (controllers.delete(controller) && controllers.size === 0) this.leave(signal);
    };
  }

  private listen(signal: AbortSignal): Set<AbortController> {
    const controllers = new Set<AbortController>();
    this.listened.set(signal, controllers);
    signal.addEventListener('abort', this.abort, { once: true });
    return controllers;
  }

  private leave(signal: AbortSignal): void {
    this.listened.delete(signal);
    signal.removeEventListener('abort', this.abort);
  }

  private readonly abort = ({ target }: Event): void => {
    const signal = target as AbortSignal;
    const controllers = this.listened.get(signal)!;
    this.listened.delete(signal);
    for (const controller of controllers) controller.abort(signal.reason);
  };
}
