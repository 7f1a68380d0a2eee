import { isPlumblineError, type PlumblineError } from '../../errors.js';
import { sleep, systemClock } from '../../scheduling/clock.js';
import { claimLater, claimStore, type FencedStore, type Lease, leaseOf } from '../../store/fence.js';
import type { PageStore } from '../../store/page-store.js';
import type { LeadOptions, WriterElection, WriterLease } from './writer-election.js';

/** How often a node tries to take the lease, ms. */
const POLL_MS = 500;
/** A writer that has given its lease back, or never had one, announces itself within this time, ms. */
const ANNOUNCEMENT_MS = 1_000;
/** How many times a lease is renewed during its length. */
const RENEWALS = 5;

/**
 * Leader election by a lease in the store, where there are no Web Locks. The writer renews the lease; when it has expired, another
 * node may write. A writer that hangs does not renew it, so nothing has to be stolen.
 *
 * On a full disk no lease is renewed and none is taken, and the writer goes on in memory. Another node takes over when the
 * writer has given its lease back, does not answer, or has not been heard of for the length of a lease.
 */
export class LeaseElection implements WriterElection {
  readonly detectsEnds = false;
  private readonly lease: Lease;

  constructor(
    leaseMs: number,
    private readonly openStore: () => Promise<PageStore>,
  ) {
    this.lease = { leaseMs, now: () => Date.now() };
  }

  async lead(run: (lease: WriterLease) => Promise<void>, options: LeadOptions): Promise<void> {
    // Never fires: the store itself reports that another node has taken it over.
    const lost = new AbortController().signal;
    let claimed: FencedStore | undefined;
    try {
      claimed = await this.claimed(options);
    } catch (error) {
      // No lease keeps the other nodes from running without the store, too: one of them is enough.
      if (!(await untilNoWriter(options))) return;
      return run({ lost, store: () => Promise.reject(error) });
    }
    if (claimed === undefined) return;
    const renewing = setInterval(() => void claimed?.renew().catch(() => {}), this.lease.leaseMs / RENEWALS);
    try {
      await run({ lost, store: async () => claimed });
    } finally {
      clearInterval(renewing);
    }
  }

  /** @returns undefined if the signal has fired */
  private async claimed({ signal, steal, noWriterKnown }: LeadOptions): Promise<FencedStore | undefined> {
    const store = await this.openStore();
    let full: PlumblineError<'STORE_QUOTA_EXCEEDED'> | undefined;
    let noWriterMs = 0;
    try {
      while (!signal.aborted) {
        const lease = full === undefined ? 'held' : await leaseOf(store, this.lease);
        // The lease of a writer that still announces itself may have expired only because the disk is full.
        const waitMs = lease === 'none' ? ANNOUNCEMENT_MS : this.lease.leaseMs;
        if (lease === 'held') {
          const outcome = await this.claim(store);
          if (outcome.claimed !== undefined) return outcome.claimed;
          full = outcome.full;
        } else if (steal || noWriterMs >= waitMs) {
          return await claimLater(store, full!, this.lease);
        }
        await sleep(systemClock, POLL_MS, signal).catch(() => {});
        noWriterMs = noWriterKnown() ? noWriterMs + POLL_MS : 0;
      }
    } catch (error) {
      await store.close();
      throw error;
    }
    await store.close();
    return undefined;
  }

  /** @returns an empty object when another node holds the lease; `full` when the disk has no space for a claim */
  private async claim(
    store: PageStore,
  ): Promise<{ claimed?: FencedStore; full?: PlumblineError<'STORE_QUOTA_EXCEEDED'> }> {
    try {
      const claimed = await claimStore(store, this.lease);
      return claimed === undefined ? {} : { claimed };
    } catch (full) {
      if (isPlumblineError(full, 'STORE_QUOTA_EXCEEDED')) return { full };
      throw full;
    }
  }

  async announcePresence(): Promise<() => void> {
    return () => {};
  }

  watch(): () => void {
    return () => {};
  }

  async hasPages(): Promise<boolean> {
    return false;
  }
}

/** Waits until no writer has announced itself for a while. @returns false if the signal has fired */
async function untilNoWriter({ signal, steal, noWriterKnown }: LeadOptions): Promise<boolean> {
  for (let noWriterMs = 0; !signal.aborted && !steal && noWriterMs < ANNOUNCEMENT_MS; ) {
    await sleep(systemClock, POLL_MS, signal).catch(() => {});
    noWriterMs = noWriterKnown() ? noWriterMs + POLL_MS : 0;
  }
  return !signal.aborted;
}
