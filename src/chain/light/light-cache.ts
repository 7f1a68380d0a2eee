import type { Network } from '../../networks/network.js';
import { BudgetedTable } from '../../store/budgeted-table.js';
import type { PageStore } from '../../store/page-store.js';
import { isStoreFailure, type StoreHealth } from '../../store/store-status.js';
import { WriteBehind } from '../../store/write-behind.js';
import { HeaderStore } from './heads/header-store.js';

/** Byte budgets of the tables of a light node. */
export interface LightBudgets {
  readonly headers: number;
  readonly finalizations: number;
  readonly proofs: number;
  readonly codes: number;
}

/** What a light node stores for later sessions: one table for each kind of verified data, with a budget, written behind. */
export class LightCache {
  readonly headers: BudgetedTable;
  readonly finalizations: BudgetedTable;
  readonly proofs: BudgetedTable;
  readonly codes: BudgetedTable;
  private readonly writer: WriteBehind;
  private readonly headerStores: HeaderStore[] = [];

  constructor(
    store: PageStore,
    { headers, finalizations, proofs, codes }: LightBudgets,
    health?: StoreHealth | undefined,
  ) {
    this.writer = new WriteBehind(store, {
      onFailure: (error) => isStoreFailure(error) && health?.memory(error),
      onSuccess: () => health?.durable(),
    });
    this.headers = new BudgetedTable(this.writer, 'headers', headers);
    this.finalizations = new BudgetedTable(this.writer, 'finalizations', finalizations);
    this.proofs = new BudgetedTable(this.writer, 'proofs', proofs);
    this.codes = new BudgetedTable(this.writer, 'codes', codes);
  }

  /** The header store of one chain. */
  headersOf(network: Network): HeaderStore {
    const headers = new HeaderStore(this.headers, network);
    this.headerStores.push(headers);
    return headers;
  }

  /** Writes everything that is queued. Never rejects. */
  async flush(): Promise<void> {
    await Promise.all(this.headerStores.map((headers) => headers.settled()));
    await this.writer.flush();
  }

  /** Discards queued writes and clears all tables. @param empty - empties the store */
  async clear(empty: () => Promise<void>): Promise<void> {
    await Promise.all(this.headerStores.map((headers) => headers.settled()));
    await this.writer.discard();
    await empty();
    for (const table of [this.headers, this.finalizations, this.proofs, this.codes]) table.reset();
  }
}
