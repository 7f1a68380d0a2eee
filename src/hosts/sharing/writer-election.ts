import { isPlumblineError } from '../../errors.js';
import { claimLater, claimStore, type FencedStore } from '../../store/fence.js';
import type { PageStore } from '../../store/page-store.js';
import type { Locks } from './environment.js';
import type { Rank } from './messages.js';

/** The right to write, while it lasts. */
export interface Mandate {
  /** Fires when somebody else has it. */
  readonly lost: AbortSignal;
  /**
   * The store, commits of earlier writers being refused. To be closed by whoever asks, which is once at most.
   *
   * @throws PlumblineError of the store
   */
  store(): Promise<FencedStore | undefined>;
}

/** How the right to write is asked for. */
export interface HoldOptions {
  readonly signal: AbortSignal;
  readonly steal: boolean;
  readonly isAlone: () => boolean;
}

/** How the one writer of a store is chosen. */
export interface Office {
  /**
   * Waits for the right to write, does the work, and lets the next one have it.
   *
   * @param work - never rejects; ends soon after `lost` fires
   * @param options.signal - ends the waiting
   * @param options.steal - does not wait for a writer that is there but does not answer
   * @param options.isAlone - whether nobody is known to write
   */
  hold(work: (mandate: Mandate) => Promise<void>, options: HoldOptions): Promise<void>;
  /** Lets others know that this node is there, until the function that comes back is called. */
  appear(id: string, rank: Rank): Promise<() => void>;
  /** Whether `watch` ever calls back. Where it does not, nodes have to be heard of from time to time. */
  readonly seesEnds: boolean;
  /** Calls back when a node is no longer there. @returns a function that ends the watch */
  watch(id: string, rank: Rank, gone: () => void): () => void;
  /** Whether any page's node is there. */
  hasPages(): Promise<boolean>;
}

/** By Web Locks: the browser gives the writer's lock on when its holder ends, however that comes about. */
export class LockOffice implements Office {
  readonly seesEnds = true;

  constructor(
    private readonly locks: Locks,
    private readonly name: string,
    private readonly openStore: () => Promise<PageStore>,
  ) {}

  async hold(work: (mandate: Mandate) => Promise<void>, { signal, steal }: HoldOptions): Promise<void> {
    const lost = new AbortController();
    const mandate = { lost: lost.signal, store: () => this.claimed() };
    let working: Promise<void> | undefined;
    try {
      await this.locks.request(this.name, steal ? { steal } : { signal }, () => {
        working = work(mandate);
        return working;
      });
    } catch (error) {
      // Held, and then stolen; or no longer waited for.
      if (working === undefined && !signal.aborted) throw error;
    }
    lost.abort();
    await working;
  }

  async appear(id: string, rank: Rank): Promise<() => void> {
    let end = () => {};
    const lasting = new Promise<void>((resolve) => {
      end = resolve;
    });
    await new Promise<void>((resolve, reject) => {
      const held = () => {
        resolve();
        return lasting;
      };
      this.locks.request(this.presence(id, rank), {}, held).catch(reject);
    });
    return end;
  }

  watch(id: string, rank: Rank, gone: () => void): () => void {
    const { signal, abort } = controls();
    const end = async () => gone();
    this.locks.request(this.presence(id, rank), { signal }, end).catch(() => {});
    return abort;
  }

  async hasPages(): Promise<boolean> {
    const { held = [] } = await this.locks.query();
    return held.some(({ name }) => name?.startsWith(this.presence('', 'page')));
  }

  private presence(id: string, rank: Rank): string {
    return `${this.name}:${rank}:${id}`;
  }

  private async claimed(): Promise<FencedStore | undefined> {
    const store = await this.openStore();
    try {
      return await claimStore(store).catch((error: unknown) => {
        // The lock says that nobody else writes: what is stored can be read, and the rest goes on in memory.
        if (isPlumblineError(error, 'STORE_QUOTA_EXCEEDED')) return claimLater(store, error);
        throw error;
      });
    } catch (error) {
      await store.close();
      throw error;
    }
  }
}

function controls(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
