import { Listeners } from './listeners.js';

/** Whether polling is useful: the page is visible and the device is online. Hosts provide it. */
export interface Activity {
  readonly isActive: boolean;
  /** Calls the listener on each change. @returns a function that ends the subscription */
  onChange(listener: () => void): () => void;
}

/** Never active, as for a worker that no page uses. */
export const NEVER_ACTIVE: Activity = { isActive: false, onChange: () => () => {} };

/** The globals of a page, a worker or a program, as far as they exist. */
interface Surroundings {
  readonly navigator?: { readonly onLine?: boolean };
  readonly document?: {
    readonly visibilityState?: string;
    addEventListener(type: 'visibilitychange', listener: () => void): void;
    removeEventListener(type: 'visibilitychange', listener: () => void): void;
  };
  addEventListener?(type: 'online' | 'offline', listener: () => void): void;
  removeEventListener?(type: 'online' | 'offline', listener: () => void): void;
}

/** Active while the page is visible and the device is online, as far as this thread knows. A Node program is always active. */
export function surroundingActivity(surroundings: Surroundings = globalThis as unknown as Surroundings): Activity {
  const { document, navigator } = surroundings;
  return {
    get isActive() {
      return document?.visibilityState !== 'hidden' && navigator?.onLine !== false;
    },
    onChange(listener) {
      document?.addEventListener('visibilitychange', listener);
      surroundings.addEventListener?.('online', listener);
      surroundings.addEventListener?.('offline', listener);
      return () => {
        document?.removeEventListener('visibilitychange', listener);
        surroundings.removeEventListener?.('online', listener);
        surroundings.removeEventListener?.('offline', listener);
      };
    },
  };
}

/** The activity of several nodes together: active while at least one of them is. */
export class CombinedActivity implements Activity {
  private readonly activeIds = new Set<string | symbol>();
  private readonly listeners = new Listeners<void>();
  private readonly unwatch: () => void;
  private wasActive: boolean;

  /** @param own - of the node in this thread; the others are set by their ids */
  constructor(private readonly own: Activity) {
    this.wasActive = this.isActive;
    this.unwatch = own.onChange(() => this.notify());
  }

  get isActive(): boolean {
    return this.own.isActive || this.activeIds.size > 0;
  }

  /** Sets whether the node with this id is active. */
  set(id: string | symbol, isActive: boolean): void {
    if (isActive) this.activeIds.add(id);
    else this.activeIds.delete(id);
    this.notify();
  }

  onChange(listener: () => void): () => void {
    return this.listeners.add(listener);
  }

  /** Stops listening to the node in this thread. */
  close(): void {
    this.unwatch();
  }

  private notify(): void {
    if (this.wasActive === this.isActive) return;
    this.wasActive = this.isActive;
    this.listeners.notify();
  }
}
