import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import { isPlumblineError, PlumblineError } from '../../errors.js';
import { rollupOf, schemeAt } from '../../networks/network.js';
import { loadWorldState } from '../../state/load-world-state.js';
import { openWorldState } from '../../state/open-world-state.js';
import { type PageChanges, type PageSource, STATE_KEY } from '../../state/page-format.js';
import { openPagedState, type PagedState, storedState } from '../../state/paged-state.js';
import type { WorldState } from '../../state/world-state.js';
import type { Commit, Key, PageStore } from '../../store/page-store.js';
import type { FollowerSettings } from './settings.js';

/**
 * The state of a replica, in memory while it follows and in the store. Only states that layer 1 confirmed are proved: those in
 * memory, and the newest confirmed one in the store.
 */
export class ReplicaState {
  private held: WorldState | undefined;
  /** Blocks that can be proved, oldest first. The newest one is also in the store. */
  private provable: readonly number[] = [];
  private paged: Promise<PagedState> | undefined;
  /** Increased whenever the confirmed pages in the store change. */
  private version = 0;
  /** Number of blocks since the last commit. */
  private waiting = 0;
  private disowned = false;

  private constructor(
    private readonly settings: FollowerSettings,
    private readonly store: ReplicaStore,
  ) {}

  /**
   * The stored state can be proved only after `adopt`.
   *
   * @throws PlumblineError `STORE_CORRUPT`, also for the store of another chain; `STORE_TOO_NEW`; errors of the store
   */
  static async open(settings: FollowerSettings): Promise<ReplicaState> {
    const { chainId, rollup } = rollupOf(settings.network);
    const scheme = schemeAt(settings.network, Number.MAX_SAFE_INTEGER);
    const store = await ReplicaStore.open(settings.store, `${chainId} ${rollup.address.toLowerCase()} ${scheme}`);
    // Throws now if the stored state cannot be read.
    await storedState(store.confirmed);
    return new ReplicaState(settings, store);
  }

  /** Newest block whose root layer 1 has confirmed. */
  get confirmed(): number | undefined {
    return this.provable.at(-1);
  }

  /** Newest block in memory. */
  get head(): number | undefined {
    return this.held?.head;
  }

  isProvable(block: number): boolean {
    return this.provable.includes(block);
  }

  /** As `ZkFollower.prove`. */
  async prove(block: number, address: Uint8Array, storageKeys: readonly Uint8Array[]): Promise<LineaProofJson> {
    for (;;) {
      const { held, version } = this;
      if (!this.isProvable(block)) throw notProvable(String(block));
      if (held?.oldest !== undefined && held.oldest <= block) return held.prove(block, address, storageKeys);
      try {
        this.paged ??= openPagedState(this.settings.hasher, this.store.confirmed);
        const paged = await this.paged;
        if (paged.block === block) return await paged.prove(address, storageKeys);
        // A commit that seemed to fail was done.
        if (version === this.version) this.provable = [paged.block];
      } catch (error) {
        this.paged = undefined;
        // The pages may be of two states, if another one was confirmed, or blocks were discarded, while they were read.
        if (version === this.version || !isPlumblineError(error, 'STORE_CORRUPT')) throw error;
      }
    }
  }

  /** Allows proofs of the stored confirmed state. @param stored - result of `storedConfirmed` */
  adopt({ block }: { readonly block: number }): void {
    if (this.disowned || this.provable.length > 0) return;
    this.provable = [block];
    this.pagesChanged();
  }

  /** The state in memory, loaded from the store if necessary. The store must have been compared with layer 1 before. */
  async load(signal: AbortSignal): Promise<WorldState> {
    if (this.held !== undefined) return this.held;
    const { hasher } = this.settings;
    const tries = await this.settings.tries();
    const confirmed = await this.storedConfirmed();
    this.provable = confirmed === undefined ? [] : [confirmed.block];
    const stored = await storedState(this.store.newest);
    this.held =
      stored === undefined
        ? openWorldState(hasher, tries, { pages: true })
        : await loadWorldState(hasher, tries, this.store.newest, { signal });
    return this.held;
  }

  /** The newest state in the store that layer 1 confirmed. */
  storedConfirmed(): ReturnType<typeof storedState> {
    return storedState(this.store.confirmed);
  }

  /** Called after each block. @param confirmed - whether its root is on layer 1: then it is stored, and can be proved */
  async applied(state: WorldState, confirmed: boolean): Promise<void> {
    this.waiting++;
    if (confirmed || this.waiting >= this.settings.commitBlocks) await this.commit(state, confirmed);
    const oldest = state.head! - this.settings.heldBlocks;
    state.releaseBefore(this.provable.find((block) => block >= oldest) ?? state.head!);
    const newest = this.confirmed;
    this.provable = this.provable.filter((block) => block >= state.oldest! || block === newest);
  }

  /** Stores the blocks since the last commit, if `state` is still the one in memory. */
  async keep(state: WorldState): Promise<void> {
    if (this.held === state && this.waiting > 0) await this.commit(state, false);
  }

  /** Discards blocks after the newest state that layer 1 confirmed. */
  async discardUnconfirmed(): Promise<void> {
    this.drop();
    await this.store.goBack();
    this.pagesChanged();
  }

  /** Refuses proofs from now on, because the store was written for another layer 1. */
  disown(): void {
    this.disowned = true;
    this.provable = [];
    this.pagesChanged();
  }

  /** After an error the state in memory is dropped, and loaded again when it is needed. */
  private async commit(state: WorldState, confirms: boolean): Promise<void> {
    try {
      await this.store.commit(state.takePages(), confirms);
    } catch (error) {
      this.drop();
      throw error;
    }
    this.waiting = 0;
    if (!confirms) return;
    this.provable = [...this.provable, state.head!];
    this.pagesChanged();
  }

  /** Drops the state in memory. The store is not changed. */
  private drop(): void {
    this.held = undefined;
    this.waiting = 0;
    this.provable = this.provable.slice(-1);
    this.pagesChanged();
  }

  private pagesChanged(): void {
    this.version++;
    this.paged = undefined;
  }
}

/** @param block - as the caller named it */
export function notProvable(block: string): PlumblineError<'BLOCK_NOT_PROVABLE'> {
  return new PlumblineError(
    'BLOCK_NOT_PROVABLE',
    `block ${block} cannot be proved: layer 1 has no root of it, or its state is not held`,
    { block },
  );
}

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
