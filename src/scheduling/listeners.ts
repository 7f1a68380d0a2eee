/** The listeners of one kind of event. */
export class Listeners<Event> {
  private readonly listeners = new Set<(event: Event) => void>();

  /** @returns a function that removes the listener */
  add(listener: (event: Event) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  get size(): number {
    return this.listeners.size;
  }

  notify(event: Event): void {
    for (const listener of this.listeners) listener(event);
  }
}
