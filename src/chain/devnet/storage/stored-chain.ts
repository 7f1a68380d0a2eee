import type { SerialQueue } from '../../../scheduling/serial-queue.js';
import type { PageStore } from '../../../store/page-store.js';
import type { Ledger } from '../records/ledger.js';
import type { ChainWriter } from './chain-writer.js';
import { notStored } from './devnet-store.js';
import type { StoredDevnet } from './find-stored.js';

/** The parts of a devnet that its stored chain is read through. */
export interface StoredChainParts {
  readonly queue: SerialQueue;
  readonly ledger: Ledger;
  /** Undefined for a devnet without a store, as the next. */
  readonly stored: StoredDevnet | undefined;
  readonly writer: ChainWriter | undefined;
  /** Ends the devnet, and leaves its store open. */
  end(): Promise<void>;
}

/** What is stored of a devnet, to be read or replaced as a whole. */
export class StoredChain {
  constructor(private readonly parts: StoredChainParts) {}

  /**
   * Gives `read` the store at a moment at which it holds the whole chain, and nothing is written to it.
   *
   * @throws PlumblineError `STORE_UNAVAILABLE` when the chain is not stored, or not as a whole
   */
  read<Result>(read: (store: PageStore, head: number) => Promise<Result>): Promise<Result> {
    const { queue, ledger } = this.parts;
    return queue.run(async () => read(await this.whole(), ledger.head.header.number));
  }

  /**
   * Ends the devnet, and leaves its store open, once `change` has put something else in the place of what is stored. It is
   * carried out while nothing else is but loading, which then ends; where it throws, the devnet goes on as it was, and where
   * the store is not that of the devnet any more, in memory.
   *
   * @param condition - `whole`: refused while blocks are in memory only, which would be lost with the devnet
   * @throws PlumblineError `STORE_UNAVAILABLE` as `read`; what `change` throws
   */
  async giveWay(change: () => Promise<void>, condition?: 'whole'): Promise<void> {
    const { queue, stored, writer, end } = this.parts;
    const work = async () => {
      if (condition === 'whole') await this.whole();
      await stored?.checkpoints.settled();
      try {
        await change();
      } catch (error) {
        await writer?.doubt(error);
        throw error;
      }
      writer?.abandon();
    };
    // What is loaded is of no use where it is to go.
    await queue.runLast(work, condition === undefined);
    await end();
  }

  private async whole(): Promise<PageStore> {
    const { stored, writer } = this.parts;
    if (stored === undefined || writer === undefined) throw notStored('it has no store');
    if (!(await writer.settle())) throw notStored('its store lacks the newest blocks');
    await stored.checkpoints.settled();
    return stored.pages;
  }
}
