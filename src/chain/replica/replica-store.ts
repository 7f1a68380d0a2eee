import { PlumblineError } from '../../errors.js';
import { type PageChanges, type PageSource, STATE_KEY } from '../../state/page-format.js';
import type { Commit, Key, PageStore } from '../../store/page-store.js';

const IDENTITY = 'replica-chain';
const GOING_BACK = 'replica-going-back';
/** Prefix of the keys of pages in the table `blocks`. */
const PAGE = 'replica/';
/** Prefix of keys in the table `meta`: old contents of pages, from when layer 1 last confirmed the state. Empty: no page. */
const BEFORE = 'replica-before/';
/** Pages restored in one commit. */
const BATCH = 256;

const ABSENT = new Uint8Array(0);

/**
 * The stored state of a replica: its pages, and the old contents of pages that changed since layer 1 last confirmed a root. So
 * two states can be read, and the newer one can be discarded. Every commit is atomic.
 */
export class ReplicaStore {
  /** The newest state in the store. Open it again after a commit. */
  readonly newest: PageSource = { getMany: (keys) => this.store.getMany('blocks', keys.map(pageAt)) };
  /** The newest state that layer 1 confirmed. It changes only with a commit that confirms. */
  readonly confirmed: PageSource = { getMany: (keys) => this.readConfirmed(keys) };

  /** Keys of pages whose old contents are stored; undefined after a commit that may have failed. */
  private kept: Set<string> | undefined;

  private constructor(private readonly store: PageStore) {}

  /**
   * @param identity - identifies the chain; the store of another chain is refused
   * @throws PlumblineError `STORE_CORRUPT` for the store of another chain; errors of the store
   */
  static async open(store: PageStore, identity: string): Promise<ReplicaStore> {
    const known = await store.get('meta', IDENTITY);
    if (known === undefined) {
      await store.commit({ puts: [{ table: 'meta', key: IDENTITY, value: new TextEncoder().encode(identity) }] });
    } else if (new TextDecoder().decode(known) !== identity) {
      const reason = 'the replica of another chain';
      throw new PlumblineError(
        'STORE_CORRUPT',
        `the store holds ${reason}; use another store name, or clear the store`,
        { table: 'meta', reason },
      );
    }
    const opened = new ReplicaStore(store);
    if ((await store.get('meta', GOING_BACK)) !== undefined) await opened.goBack();
    return opened;
  }

  /** Stores pages. @param confirms - whether the root of the new state is on layer 1 */
  async commit({ puts, deletes }: PageChanges, confirms: boolean): Promise<void> {
    const kept = await this.keptPages();
    const changed = [...puts.map(({ key }) => key), ...deletes];
    const keep = confirms ? [] : changed.filter((key) => !kept.has(key));
    const old = await this.store.getMany('blocks', keep.map(pageAt));
    const befores = keep.map((key, i) => ({ table: 'meta' as const, key: before(key), value: old[i] ?? ABSENT }));
    const forget = confirms ? [...kept].map((key) => ({ table: 'meta' as const, key: before(key) })) : [];
    this.kept = undefined;
    await this.store.commit({
      puts: [...puts.map(({ key, value }) => ({ table: 'blocks' as const, key: pageAt(key), value })), ...befores],
      deletes: [...deletes.map((key) => ({ table: 'blocks' as const, key: pageAt(key) })), ...forget],
    });
    if (confirms) kept.clear();
    for (const key of keep) kept.add(key);
    this.kept = kept;
  }

  /** Discards what was stored since layer 1 last confirmed the state. If it is interrupted, the next `open` goes on with it. */
  async goBack(): Promise<void> {
    const kept = await this.keptPages();
    this.kept = undefined;
    if (kept.size > 0) await this.store.commit({ puts: [{ table: 'meta', key: GOING_BACK, value: ABSENT }] });
    // The page that identifies the state comes last.
    const keys = [...kept].sort((a, b) => Number(a === STATE_KEY) - Number(b === STATE_KEY));
    for (let at = 0; at < keys.length; at += BATCH) {
      const batch = keys.slice(at, at + BATCH);
      const old = await this.store.getMany('meta', batch.map(before));
      const puts: NonNullable<Commit['puts']>[number][] = [];
      const deletes: { table: 'meta' | 'blocks'; key: Key }[] = batch.map((key) => ({
        table: 'meta',
        key: before(key),
      }));
      for (const [i, key] of batch.entries()) {
        const value = old[i];
        if (value === undefined || value.length === 0) deletes.push({ table: 'blocks', key: pageAt(key) });
        else puts.push({ table: 'blocks', key: pageAt(key), value });
      }
      if (at + BATCH >= keys.length) deletes.push({ table: 'meta', key: GOING_BACK });
      await this.store.commit({ puts, deletes });
    }
  }

  private async keptPages(): Promise<Set<string>> {
    if (this.kept !== undefined) return this.kept;
    const keys = await this.store.keys('meta');
    return new Set(keys.flatMap((key) => (String(key).startsWith(BEFORE) ? String(key).slice(BEFORE.length) : [])));
  }

  private async readConfirmed(keys: readonly string[]): Promise<readonly (Uint8Array | undefined)[]> {
    // A commit between two reads moves pages between the tables. Reading `meta` twice finds them in any case.
    const first = await this.store.getMany('meta', keys.map(before));
    const now = await this.store.getMany('blocks', keys.map(pageAt));
    const last = await this.store.getMany('meta', keys.map(before));
    return keys.map((_, i) => {
      const value = first[i] ?? last[i];
      return value === undefined ? now[i] : value.length === 0 ? undefined : value;
    });
  }
}

function pageAt(key: string): string {
  return PAGE + key;
}

function before(key: string): string {
  return BEFORE + key;
}
