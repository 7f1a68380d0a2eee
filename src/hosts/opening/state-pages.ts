import type { PageChanges, PageSource } from '../../state/page-format.js';

/** Pages of a zk state in a database. */
export interface StatePages extends PageSource {
  /**
   * Stores what `WorldState.takePages` gave: all of it or nothing. What could not be stored is stored with the next commit.
   *
   * @throws PlumblineError `STORE_QUOTA_EXCEEDED`; `STORE_UNAVAILABLE`; `STORE_TAKEN_OVER` when the pages were opened again
   *   elsewhere, which ends writing here for good
   */
  commit(changes: PageChanges): Promise<void>;
  /** Closes the database. Commits that were asked for before are carried out. */
  close(): Promise<void>;
}

/**
 * Opens the pages of a zk state in IndexedDB, in a database of their own named `plumbline-state-NAME`. One tab or worker
 * writes: the one that opened them last.
 *
 * @throws PlumblineError `STORE_UNAVAILABLE` where there is no IndexedDB, as in Node; `STORE_TOO_NEW`; `STORE_QUOTA_EXCEEDED`
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
