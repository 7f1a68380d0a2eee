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
