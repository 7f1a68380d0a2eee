import type { SerialQueue } from '../../../scheduling/serial-queue.js';
import type { PageStore } from '../../../store/page-store.js';
import type { Ledger } from '../records/ledger.js';
import type { ChainWriter } from './chain-writer.js';
import { notStoredError } from './devnet-store.js';
import type { StoredDevnet } from './find-stored.js';

/** The parts of a devnet that `StoredChain` uses. */
export interface StoredChainParts {
  readonly queue: SerialQueue;
  readonly ledger: Ledger;
  /** Undefined for a devnet without a store, like the next. */
  readonly stored: (Pick<StoredDevnet, 'pages'> & Partial<Pick<StoredDevnet, 'checkpoints'>>) | undefined;
  readonly writer: ChainWriter | undefined;
  /** Stops the devnet. Its store stays open. */
  end(): Promise<void>;
}

/** The stored data of a devnet, to read or replace it as a whole. */
export class StoredChain {
  constructor(private readonly parts: StoredChainParts) {}

  /**
   * Runs `read` when the store holds the whole chain and nothing is being written.
   *
   * @throws PlumblineError `STORE_UNAVAILABLE` when the chain is not stored, or not completely
   */
  read<Result>(read: (store: PageStore, head: number) => Promise<Result>): Promise<Result> {
    const { queue, ledger } = this.parts;
    return queue.run(async () => read(await this.requireWholeStore(), ledger.head.header.number));
  }

  /**
   * Runs `change`, which replaces the stored data, then stops the devnet; its store stays open. Only loading may run at
   * the same time, and ends then. If `change` throws, the devnet continues; if the store no longer holds its chain, in
   * memory.
   *
   * @param condition - `whole`: refuse while some blocks are in memory only, because they would be lost
   * @throws PlumblineError `STORE_UNAVAILABLE` as `read`; errors of `change`
   */
  async replace(change: () => Promise<void>, condition?: 'whole'): Promise<void> {
    const { queue, stored, writer, end } = this.parts;
    const work = async () => {
      if (condition === 'whole') await this.requireWholeStore();
      await stored?.checkpoints?.settled();
      try {
        await change();
      } catch (error) {
        await writer?.checkAfterError(error);
        throw error;
      }
      writer?.abandon();
    };
    // If the data is to be replaced anyway, loading need not finish.
    await queue.runLast(work, condition === undefined);
    await end();
  }

  private async requireWholeStore(): Promise<PageStore> {
    const { stored, writer } = this.parts;
    if (stored === undefined || writer === undefined)
      throw notStoredError('it has no store; open it with a `storeName`');
    if (!(await writer.settle()))
      throw notStoredError('its store lacks the newest blocks; free storage space and try again');
    await stored.checkpoints?.settled();
    return stored.pages;
  }
}
