import type { PageStore } from '../../store/page-store.js';
import type { NodeOptions } from '../options/options.js';

/** What of `BroadcastChannel` is used. */
export interface Channel {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
  close(): void;
}

/** What of `navigator.locks` is used. */
export interface Locks {
  request(name: string, options: LockOptions, work: () => Promise<unknown>): Promise<unknown>;
  query(): Promise<LockManagerSnapshot>;
}

/** What nodes that share a store need of the browser; tests hand in their own. */
export interface SharingEnvironment {
  /** Undefined where there are none: a lease in the store stands in. */
  readonly locks: Locks | undefined;
  readonly channel: (name: string) => Channel;
  /** @throws PlumblineError of the store */
  readonly openStore: (name: string, options: NodeOptions) => Promise<PageStore>;
}

/** The browser, unless told otherwise; undefined where nodes cannot reach each other. */
export function environmentOf(given: Partial<SharingEnvironment> = {}): SharingEnvironment | undefined {
  if (typeof BroadcastChannel === 'undefined' || (given.openStore === undefined && typeof indexedDB === 'undefined')) {
    return undefined;
  }
  return {
    locks: (globalThis.navigator as { locks?: Locks } | undefined)?.locks,
    channel: (name) => new BroadcastChannel(name),
    openStore: async (name, { storage }) => {
      const { openIdbStore } = await import('../../store/idb-store.js');
      return openIdbStore(name, { durability: storage?.durability });
    },
    ...given,
  };
}
