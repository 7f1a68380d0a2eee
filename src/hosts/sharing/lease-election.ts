import { isPlumblineError, type PlumblineError } from '../../errors.js';
import { claimLater, claimStore, type FencedStore, type Lease, leaseOf } from '../../store/fence.js';
import type { PageStore } from '../../store/page-store.js';
import type { HoldOptions, Mandate, Office } from './writer-election.js';

/** How often a node that does not write looks whether it may, ms. */
const POLL_MS = 500;
/** Whoever writes is heard of within this, if it has given its lease back or never had one, ms. */
const SILENCE_MS = 1_000;
/** How often a lease is renewed while it lasts. */
const RENEWALS = 5;

/** The error of a store that has no room for a claim. */
type Full = PlumblineError<'STORE_QUOTA_EXCEEDED'>;

/**
 * By a lease in the store, where there are no Web Locks: the writer renews it, and when it has run out another may write.
 * A writer that hangs does not renew it, so there is nothing to steal.
 *
 * On a full disk no lease is renewed, and none taken: whoever writes goes on, in memory. It is taken over from when it has
 * given its lease back, does not answer, or is not heard of for as long as a lease.
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

  async hold(work: (mandate: Mandate) => Promise<void>, options: HoldOptions): Promise<void> {
    // The store tells of a loss by itself.
    const lost = new AbortController().signal;
    let claimed: FencedStore | undefined;
    try {
      claimed = await this.claimed(options);
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
  private async claimed({ signal, steal, isAlone }: HoldOptions): Promise<FencedStore | undefined> {
    const store = await this.openStore();
    let full: Full | undefined;
    let aloneMs = 0;
    try {
      while (!signal.aborted) {
        const lease = full === undefined ? 'held' : await leaseOf(store, this.lease);
        // Somebody who is heard of may have no more than not been able to renew it.
        const patienceMs = lease === 'none' ? SILENCE_MS : this.lease.leaseMs;
        if (lease === 'held') {
          const outcome = await this.claim(store);
          if (outcome.claimed !== undefined) return outcome.claimed;
          full = outcome.full;
        } else if (steal || aloneMs >= patienceMs) {
          return await claimLater(store, full!, this.lease);
        }
        await passing(POLL_MS, signal);
        aloneMs = isAlone() ? aloneMs + POLL_MS : 0;
      }
    } catch (error) {
      await store.close();
      throw error;
    }
    await store.close();
    return undefined;
  }

  /** @returns nothing where somebody else has the lease */
  private async claim(store: PageStore): Promise<{ claimed?: FencedStore; full?: Full }> {
    try {
      const claimed = await claimStore(store, this.lease);
      return claimed === undefined ? {} : { claimed };
    } catch (full) {
      if (isPlumblineError(full, 'STORE_QUOTA_EXCEEDED')) return { full };
      throw full;
    }
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
