import type { Activity } from '../../src/scheduling/activity.js';

/** An activity that a test switches. Active at first. */
export class SwitchedActivity implements Activity {
  private active = true;
  private readonly listeners = new Set<() => void>();

  get isActive(): boolean {
    return this.active;
  }

  set(isActive: boolean): void {
    if (isActive === this.active) return;
    this.active = isActive;
    for (const listener of this.listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
