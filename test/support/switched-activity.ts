import type { Activity } from '../../src/scheduling/activity.js';

/** Active or not as a test says; active until it says so. */
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
