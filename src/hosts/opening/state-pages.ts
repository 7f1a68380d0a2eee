import type { PageChanges, PageSource } from '../../state/page-format.js';

/** Pages of a zk state in a database. */
export interface StatePages extends PageSource {
  /**
   * Stores the result of `WorldState.takePages`, as a whole or not at all. If it could not be stored, the next commit stores it too.
   *
   * @throws PlumblineError `STORE_QUOTA_EXCEEDED`; `STORE_UNAVAILABLE`; `STORE_TAKEN_OVER` if the pages were opened again elsewhere.
   *   After that, this object can never write again
   */
  commit(changes: PageChanges): Promise<void>;
  /** Closes the database, after all earlier commits. */
  close(): Promise<void>;
}

/**
 * Opens the pages of a zk state in IndexedDB, in a separate database named `plumbline-state-NAME`. Only one tab or worker can write:
 * the one that opened the pages last.
 *
 * @throws PlumblineError `STORE_UNAVAILABLE` if there is no IndexedDB, as in Node; `STORE_TOO_NEW`; `STORE_QUOTA_EXCEEDED`
 *
 * @example
 * ```ts
 * import { openState, openStatePages } from 'plumbline-l2/state';
 *
 * const pages = await openStatePages('my-chain');
 * const state = await openState({ scheme: 'poseidon2', pages });
 * state.applyBlock((state.head ?? -1) + 1, []);
 * await pages.commit(state.takePages());
 * await pages.close();
 * ```
 */
export async function openStatePages(name: string): Promise<StatePages> {
  const [{ claimStore }, { openIdbStore }] = await Promise.all([
    import('../../store/fence.js'),
    import('../../store/idb-store.js'),
  ]);
  const store = (await claimStore(await openIdbStore(`plumbline-state-${name}`)))!;
  /** Not stored yet, by key; undefined for a page to delete. */
  let unstored = new Map<string, Uint8Array | undefined>();
  let last: Promise<unknown> = Promise.resolve();

  async function write(): Promise<void> {
    const batch = unstored;
    unstored = new Map();
    const entries = [...batch].map(([key, value]) => ({ table: 'state' as const, key, value }));
    try {
      await store.commit({
        puts: entries.flatMap(({ table, key, value }) => (value === undefined ? [] : [{ table, key, value }])),
        deletes: entries.filter(({ value }) => value === undefined),
      });
    } catch (error) {
      unstored = new Map([...batch, ...unstored]);
      throw error;
    }
  }

  return {
    getMany: (keys) => store.getMany('state', keys),

    commit({ puts, deletes }) {
      for (const key of deletes) unstored.set(key, undefined);
      for (const { key, value } of puts) unstored.set(key, value);
      const done = last.then(write);
      last = done.catch(() => {});
      return done;
    },

    async close() {
      await last;
      await store.close();
    },
  };
}
