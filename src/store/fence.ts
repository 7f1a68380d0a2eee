import { isPlumblineError, type PlumblineError } from '../errors.js';
import { bytesToHex } from '../primitives/hex.js';
import { takenOver } from './expectation.js';
import type { Clearing, Commit, Key, PageStore, Table } from './page-store.js';
import type { StoreStatus } from './store-status.js';

/** Where a store says who writes to it, in table `meta`. Only this file reads and writes it. */
export const WRITER_KEY = 'writer';
/** Until when, where there are no locks to say so; beside it. */
export const LEASE_KEY = 'writer-lease';

const OWN = [WRITER_KEY, LEASE_KEY].map((key) => ({ table: 'meta', key }) as const);

const OWNER_BYTES = 16;

/** What stands at `WRITER_KEY`, as JSON. */
interface Writer {
  /** Goes up with each writer; the time it began, in ms, where nothing speaks against it. */
  readonly epoch: number;
  /** Hex, at random: no two writers have the same bytes here. */
  readonly owner: string;
}

/** How a store is claimed that nothing but a lease guards. */
export interface Lease {
  /** For how long a claim holds without being renewed, ms. */
  readonly leaseMs: number;
  /** Time that all claimants share, ms. */
  readonly now: () => number;
}

/**
 * Makes the caller the one writer of a store: from then on, commits of all earlier ones are refused.
 *
 * @param store - used by nobody but the one that is given back, afterwards
 * @param lease - when given, a claim of somebody else that has not run out is left alone
 * @returns undefined for a store that is leased to somebody else
 * @throws PlumblineError of the store
 */
export async function claimStore(store: PageStore, lease?: Lease): Promise<FencedStore | undefined> {
  for (;;) {
    const [writer, until] = await store.getMany('meta', [WRITER_KEY, LEASE_KEY]);
    if (lease !== undefined && isLeased(until, lease)) return undefined;
    const { epoch, record } = writerAfter(writer);
    const fenced = new FencedStore(store, epoch, record, { lease });
    try {
      await store.commit({
        expects: [
          { table: 'meta', key: WRITER_KEY, value: writer },
          { table: 'meta', key: LEASE_KEY, value: until },
        ],
        puts: [fenced.entry, ...(lease === undefined ? [] : [leaseEntry(lease)])],
      });
      return fenced;
    } catch (error) {
      // Somebody else was faster: look again.
      if (!isPlumblineError(error, 'STORE_TAKEN_OVER')) throw error;
    }
  }
}

/**
 * As `claimStore`, on a full disk: the store can be read, and is claimed by the first commit that puts something. Earlier
 * writers are refused from now on; only where the browser does not even delete are they until then, so that the caller has
 * to know otherwise that none is there.
 *
 * @param failure - why it cannot be claimed now; the store's health says so until it is
 * @param lease - as of `claimStore`, whoever has one; then nothing else says that there is no earlier writer
 * @throws PlumblineError of the store; `failure` with a lease, where nothing can be deleted
 */
export async function claimLater(
  store: PageStore,
  failure: PlumblineError<'STORE_QUOTA_EXCEEDED'>,
  lease?: Lease,
): Promise<FencedStore> {
  for (;;) {
    const writer = await store.get('meta', WRITER_KEY);
    let found: Uint8Array | undefined;
    try {
      // Browsers let a full disk be emptied, and who writes be forgotten.
      await store.commit({ expects: [{ table: 'meta', key: WRITER_KEY, value: writer }], deletes: OWN });
    } catch (error) {
      if (isPlumblineError(error, 'STORE_TAKEN_OVER')) continue;
      if (!isPlumblineError(error, 'STORE_QUOTA_EXCEEDED')) throw error;
      if (lease !== undefined) throw failure;
      found = writer;
    }
    const { epoch, record } = writerAfter(writer);
    store.health?.memory(failure);
    return new FencedStore(store, epoch, record, { lease, late: { found, status: store.health?.status } });
  }
}

/** Who comes after the one that is recorded. */
function writerAfter(writer: Uint8Array | undefined): { epoch: number; record: Uint8Array } {
  const epoch = Math.max(epochOf(writer) + 1, Date.now());
  const owner = bytesToHex(crypto.getRandomValues(new Uint8Array(OWNER_BYTES)));
  return { epoch, record: encode({ epoch, owner } satisfies Writer) };
}

/** Whether somebody has a lease of a store: `over` for one that was not renewed, `none` for one that was given back. */
export async function leaseOf(store: PageStore, lease: Lease): Promise<'held' | 'over' | 'none'> {
  const until = await store.get('meta', LEASE_KEY);
  return isLeased(until, lease) ? 'held' : until === undefined ? 'none' : 'over';
}

function isLeased(until: Uint8Array | undefined, { leaseMs, now }: Lease): boolean {
  const left = (until === undefined ? 0 : Number(decode(until))) - now();
  // More than a whole lease is left when the clock was set back.
  return left > 0 && left <= leaseMs;
}

/** A record that cannot be read holds nobody up: the claim replaces it. */
function epochOf(writer: Uint8Array | undefined): number {
  try {
    const { epoch } = JSON.parse(writer === undefined ? '{}' : decode(writer)) as Partial<Writer>;
    return Number.isSafeInteger(epoch) ? epoch! : 0;
  } catch {
    return 0;
  }
}

function leaseEntry({ leaseMs, now }: Lease) {
  return { table: 'meta', key: LEASE_KEY, value: encode(now() + leaseMs) } as const;
}

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** A claim that is still to come. */
interface Late {
  /** What stands where it says who writes. */
  readonly found: Uint8Array | undefined;
  /** What the store's health says meanwhile, unless something else befalls it. */
  readonly status: StoreStatus | undefined;
}

/**
 * A store as one writer uses it: each commit looks, inside its own transaction, whether that is still the writer, and does
 * nothing otherwise.
 */
export class FencedStore implements PageStore {
  /** Told once, when a commit was refused because of a later writer, before whoever asked for the commit is. */
  onTakenOver: () => void = () => {};
  private isOver = false;
  private readonly lease: Lease | undefined;
  private late: Late | undefined;
  /** Done when the commit is that claims the store. */
  private claiming: Promise<void> | undefined;

  constructor(
    private readonly store: PageStore,
    readonly epoch: number,
    private readonly writer: Uint8Array,
    { lease, late }: { readonly lease?: Lease | undefined; readonly late?: Late },
  ) {
    this.lease = lease;
    this.late = late;
  }

  /** Says who writes. */
  get entry() {
    return { table: 'meta', key: WRITER_KEY, value: this.writer } as const;
  }

  get health() {
    return this.store.health;
  }

  get(table: Table, key: Key): Promise<Uint8Array | undefined> {
    return this.store.get(table, key);
  }

  keys(table: Table): Promise<Key[]> {
    return this.store.keys(table);
  }

  getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    return this.store.getMany(table, keys);
  }

  async commit(commit: Commit): Promise<void> {
    // Of several that would be the first, one is.
    while (this.claiming !== undefined) await this.claiming;
    const { expects = [], puts = [] } = commit;
    const isClaim = this.late !== undefined && puts.length > 0;
    const given = { ...commit, expects: [...expects, this.expected], puts: isClaim ? [...puts, this.entry] : puts };
    const done = this.fenced(() => this.store.commit(given));
    if (!isClaim) return done;
    const claimed = done.then(() => this.claimed());
    this.claiming = claimed
      .catch(() => {})
      .then(() => {
        this.claiming = undefined;
      });
    return claimed;
  }

  /** Who writes stays. */
  async clear({ expects = [], keeps = [] }: Clearing = {}): Promise<void> {
    await this.claiming;
    await this.fenced(() => this.store.clear({ expects: [...expects, this.expected], keeps: [...keeps, ...OWN] }));
  }

  /** Lets the next one have the lease at once, where there is one. */
  async close(): Promise<void> {
    if (this.lease !== undefined) await this.commit({ deletes: [{ table: 'meta', key: LEASE_KEY }] }).catch(() => {});
    await this.store.close();
  }

  /** Writes nothing from now on. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.onTakenOver();
  }

  /** What says that nobody else has come to write. */
  private get expected() {
    return this.late === undefined ? this.entry : { ...this.entry, value: this.late.found };
  }

  private claimed(): void {
    const { health } = this.store;
    if (health !== undefined && health.status === this.late?.status) health.durable();
    this.late = undefined;
  }

  /** @param change - has `expected` among what it expects */
  private async fenced(change: () => Promise<void>): Promise<void> {
    if (this.isOver) throw takenOver();
    try {
      await change();
    } catch (error) {
      if (isPlumblineError(error, 'STORE_TAKEN_OVER')) this.end();
      throw error;
    }
  }

  /** Keeps the lease for as long again. @throws PlumblineError as `commit` */
  async renew(): Promise<void> {
    if (this.lease !== undefined) await this.commit({ puts: [leaseEntry(this.lease)] });
  }
}
