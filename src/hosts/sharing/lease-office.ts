import { claimStore, type FencedStore, type Lease } from '../../store/fence.js';
import type { PageStore } from '../../store/page-store.js';
import type { Mandate, Office } from './office.js';

/** How often a node that does not write looks whether it may, ms. */
const POLL_MS = 500;
/** How often a lease is renewed while it lasts. */
const RENEWALS = 5;

/**
 * By a lease in the store, where there are no Web Locks: the writer renews it, and when it has run out another may write.
 * A writer that hangs does not renew it, so there is nothing to steal.
 */
export class LeaseOffice implements Office {
  readonly seesEnds = false;
  private readonly lease: Lease;

  constructor(
    leaseMs: number,
    private readonly openStore: () => Promise<PageStore>,
  ) {
    this.lease = { leaseMs, now: () => Date.now() };
  }

  async hold(work: (mandate: Mandate) => Promise<void>, { signal }: { signal: AbortSignal }): Promise<void> {
    // The store tells of a loss by itself.
    const lost = new AbortController().signal;
    let claimed: FencedStore | undefined;
    try {
      claimed = await this.claimed(signal);
    } catch (error) {
      return work({ lost, store: () => Promise.reject(error) });
    }
    if (claimed === undefined) return;
    const renewing = setInterval(() => void claimed?.renew().catch(() => {}), this.lease.leaseMs / RENEWALS);
    try {
      await work({ lost, store: async () => claimed });
    } finally {
      clearInterval(renewing);
    }
  }

  /** @returns undefined when nobody waits for it any more */
  private async claimed(signal: AbortSignal): Promise<FencedStore | undefined> {
    const store = await this.openStore();
    try {
      while (!signal.aborted) {
        const claimed = await claimStore(store, this.lease);
        if (claimed !== undefined) return claimed;
        await passing(POLL_MS, signal);
      }
    } catch (error) {
      await store.close();
      throw error;
    }
    await store.close();
    return undefined;
  }

  async appear(): Promise<() => void> {
    return () => {};
  }

  watch(): () => void {
    return () => {};
  }

  async hasPages(): Promise<boolean> {
    return false;
  }
}

/** Waits, or less long when the signal fires. */
function passing(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
