import { isPlumblineError } from '../../errors.js';
import { claimLater, claimStore, type FencedStore } from '../../store/fence.js';
import type { PageStore } from '../../store/page-store.js';
import type { Rank } from './peer-channels.js';

/** The right to write to the store, while it lasts. */
export interface WriterLease {
  /** Fires when another node has been granted it. */
  readonly lost: AbortSignal;
  /**
   * The store. Commits of earlier writers are refused from now on. Called at most once; the caller closes the store.
   *
   * @throws PlumblineError of the store
   */
  store(): Promise<FencedStore | undefined>;
}

/** How a node waits for the lease. */
export interface LeadOptions {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Takes the lease from a writer that exists but does not answer. */
  readonly steal: boolean;
  /** Whether this node knows of no writer at present. */
  readonly noWriterKnown: () => boolean;
}

/** How the one writer of a store is elected. */
export interface WriterElection {
  /**
   * Waits for the lease, runs as the writer, and gives the lease back.
   *
   * @param run - never rejects; ends soon after `lost` fires
   */
  lead(run: (lease: WriterLease) => Promise<void>, options: LeadOptions): Promise<void>;
  /** Lets other nodes see that this node exists. @returns a function that ends this */
  announcePresence(id: string, rank: Rank): Promise<() => void>;
  /** Whether `watch` ever calls back. If it does not, nodes have to announce themselves from time to time. */
  readonly detectsEnds: boolean;
  /** Calls back when a node has ended. @returns a function that ends the watch */
  watch(id: string, rank: Rank, onEnd: () => void): () => void;
  /** Whether a node of rank `page` exists. */
  hasPages(): Promise<boolean>;
}

/** The part of `navigator.locks` that is used. */
export interface Locks {
  request(name: string, options: LockOptions, work: () => Promise<unknown>): Promise<unknown>;
  query(): Promise<LockManagerSnapshot>;
}

/** Leader election by Web Locks: when the holder of the writer's lock ends in any way, the browser grants it to the next. */
export class LockElection implements WriterElection {
  readonly detectsEnds = true;

  constructor(
    private readonly locks: Locks,
    private readonly name: string,
    private readonly openStore: () => Promise<PageStore>,
  ) {}

  async lead(run: (lease: WriterLease) => Promise<void>, { signal, steal }: LeadOptions): Promise<void> {
    const lost = new AbortController();
    const lease = { lost: lost.signal, store: () => this.claim() };
    let running: Promise<void> | undefined;
    try {
      await this.locks.request(this.name, steal ? { steal } : { signal }, () => {
        running = run(lease);
        return running;
      });
    } catch (error) {
      // Expected when the lock was held and then stolen, or when the wait was ended.
      if (running === undefined && !signal.aborted) throw error;
    }
    lost.abort();
    await running;
  }

  async announcePresence(id: string, rank: Rank): Promise<() => void> {
    let end = () => {};
    const untilEnd = new Promise<void>((resolve) => {
      end = resolve;
    });
    await new Promise<void>((resolve, reject) => {
      const held = () => {
        resolve();
        return untilEnd;
      };
      this.locks.request(this.presence(id, rank), {}, held).catch(reject);
    });
    return end;
  }

  watch(id: string, rank: Rank, onEnd: () => void): () => void {
    const controller = new AbortController();
    const { signal } = controller;
    this.locks.request(this.presence(id, rank), { signal }, async () => onEnd()).catch(() => {});
    return () => controller.abort();
  }

  async hasPages(): Promise<boolean> {
    const { held = [] } = await this.locks.query();
    return held.some(({ name }) => name?.startsWith(this.presence('', 'page')));
  }

  /** Name of the lock that a node holds for as long as it exists. */
  private presence(id: string, rank: Rank): string {
    return `${this.name}:${rank}:${id}`;
  }

  private async claim(): Promise<FencedStore | undefined> {
    const store = await this.openStore();
    try {
      return await claimStore(store).catch((error: unknown) => {
        // The lock guarantees that there is no other writer, so the node can read the store and work in memory.
        if (isPlumblineError(error, 'STORE_QUOTA_EXCEEDED')) return claimLater(store, error);
        throw error;
      });
    } catch (error) {
      await store.close();
      throw error;
    }
  }
}
