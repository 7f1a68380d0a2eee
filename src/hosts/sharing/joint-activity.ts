import type { Activity } from '../../scheduling/activity.js';

/** Active while any of several nodes is. */
export class JointActivity implements Activity {
  private readonly others = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private readonly unwatch: () => void;
  private was: boolean;

  constructor(private readonly own: Activity) {
    this.was = this.isActive;
    this.unwatch = own.onChange(() => this.look());
  }

  get isActive(): boolean {
    return this.own.isActive || this.others.size > 0;
  }

  set(id: string, isActive: boolean): void {
    if (isActive) this.others.add(id);
    else this.others.delete(id);
    this.look();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.unwatch();
  }

  private look(): void {
    if (this.was === this.isActive) return;
    this.was = this.isActive;
    for (const listener of this.listeners) listener();
  }
}
