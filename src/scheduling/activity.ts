/** Whether anybody is there to be kept up to date: a page is visible, a device is online. Hosts wire it. */
export interface Activity {
  readonly isActive: boolean;
  /** Told of each change. @returns a function that ends the subscription */
  onChange(listener: () => void): () => void;
}

/** Of a worker by itself, which nobody looks at. */
export const NEVER_ACTIVE: Activity = { isActive: false, onChange: () => () => {} };

/** What a page, a worker or a program offers of these. */
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

/** Active while the page is visible and the device online, as far as this thread can tell; a program always is. */
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
