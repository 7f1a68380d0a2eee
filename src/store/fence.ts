import { isPlumblineError, type PlumblineError } from '../errors.js';
import { bytesToHex } from '../primitives/hex.js';
import { type Clearing, type Commit, type PageStore, StoreWrapper, takenOver } from './page-store.js';
import type { StoreStatus } from './store-status.js';

/** Key of the writer's record in table `meta`. */
export const WRITER_KEY = 'writer';
/** Key of the time at which the writer's lease ends, in table `meta`. Only used where there are no Web Locks. */
export const LEASE_KEY = 'writer-lease';

const FENCE_KEYS = [WRITER_KEY, LEASE_KEY].map((key) => ({ table: 'meta', key }) as const);

const OWNER_BYTES = 16;

/** The value at `WRITER_KEY`, as JSON. */
interface WriterRecord {
  /** Increases with each writer: the time at which it began, in ms, or one more than that of the writer before. */
  readonly epoch: number;
  /** Random hex, so that no two writers have the same record. */
  readonly owner: string;
}

/** How a store is claimed by a lease. */
export interface Lease {
  /** How long a claim is valid unless it is renewed, ms. */
  readonly leaseMs: number;
  /** The time, the same for all claimants, ms. */
  readonly now: () => number;
}

/**
 * Makes the caller the one writer of a store. From then on, commits of earlier writers are refused.
 *
 * @param store - used only through the returned store from now on
 * @param lease - if given, the store is claimed by a lease, unless another node has a valid lease
 * @returns undefined when another node has a valid lease
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
      // Another node has claimed it since the read: try again.
      if (!isPlumblineError(error, 'STORE_TAKEN_OVER')) throw error;
    }
  }
}

/**
 * As `claimStore`, but on a full disk: the store can be read, and the first commit that puts something claims it. Commits of
 * earlier writers are refused from now on. If the browser does not even delete on a full disk, they are refused only from the
 * claim on. Then the caller needs another guarantee that there is no earlier writer.
 *
 * @param failure - why the store cannot be claimed now; the store's health shows it until the claim
 * @param lease - as for `claimStore`; a valid lease of another node is not respected
 * @throws PlumblineError of the store; `failure` if a lease is given and nothing can be deleted, because then nothing guarantees
 *   that there is no earlier writer
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
      // Most browsers can delete on a full disk: without its record, the earlier writer is refused.
      await store.commit({ expects: [{ table: 'meta', key: WRITER_KEY, value: writer }], deletes: FENCE_KEYS });
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

/** The record of the next writer. @param writer - record of the present one */
function writerAfter(writer: Uint8Array | undefined): { epoch: number; record: Uint8Array } {
  const epoch = Math.max(epochOf(writer) + 1, Date.now());
  const owner = bytesToHex(crypto.getRandomValues(new Uint8Array(OWNER_BYTES)));
  return { epoch, record: encode({ epoch, owner } satisfies WriterRecord) };
}

/** State of the lease: `held` while it is valid, `over` when it has expired, `none` when it was given back. */
export async function leaseOf(store: PageStore, lease: Lease): Promise<'held' | 'over' | 'none'> {
  const until = await store.get('meta', LEASE_KEY);
  return isLeased(until, lease) ? 'held' : until === undefined ? 'none' : 'over';
}

function isLeased(until: Uint8Array | undefined, { leaseMs, now }: Lease): boolean {
  const left = (until === undefined ? 0 : Number(decode(until))) - now();
  // If the clock was set back, more than a whole lease is left. Then it counts as expired.
  return left > 0 && left <= leaseMs;
}

/** @returns 0 for a damaged record, which the claim replaces */
function epochOf(writer: Uint8Array | undefined): number {
  try {
    const { epoch } = JSON.parse(writer === undefined ? '{}' : decode(writer)) as Partial<WriterRecord>;
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

/** A claim that the next commit makes. */
interface LateClaim {
  /** The writer's record that the store holds. */
  readonly found: Uint8Array | undefined;
  /** The store's health until the claim, unless it changes for another reason. */
  readonly status: StoreStatus | undefined;
}

/**
 * A store of one writer. Each commit checks inside its own transaction that this is still the writer. If it is not, nothing is
 * written.
 */
export class FencedStore extends StoreWrapper implements PageStore {
  /** Called once, when a commit was refused because of a later writer, before that commit rejects. */
  onTakenOver: () => void = () => {};
  private isOver = false;
  private readonly lease: Lease | undefined;
  private late: LateClaim | undefined;
  /** Resolves when the commit that claims the store has ended. */
  private claiming: Promise<void> | undefined;

  constructor(
    store: PageStore,
    readonly epoch: number,
    private readonly writer: Uint8Array,
    { lease, late }: { readonly lease?: Lease | undefined; readonly late?: LateClaim },
  ) {
    super(store);
    this.lease = lease;
    this.late = late;
  }

  /** The record of this writer. */
  get entry() {
    return { table: 'meta', key: WRITER_KEY, value: this.writer } as const;
  }

  async commit(commit: Commit): Promise<void> {
    // Only one of several first commits makes the claim.
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

  /** As `PageStore.clear`; the records of writer and lease are kept. */
  async clear({ expects = [], keeps = [] }: Clearing = {}): Promise<void> {
    await this.claiming;
    await this.fenced(() =>
      this.store.clear({ expects: [...expects, this.expected], keeps: [...keeps, ...FENCE_KEYS] }),
    );
  }

  /** Closes the store, and gives the lease back, if there is one. */
  async close(): Promise<void> {
    if (this.lease !== undefined) await this.commit({ deletes: [{ table: 'meta', key: LEASE_KEY }] }).catch(() => {});
    await this.store.close();
  }

  /** Refuses all commits from now on. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.onTakenOver();
  }

  /** The record that the store holds as long as there is no later writer. */
  private get expected() {
    return this.late === undefined ? this.entry : { ...this.entry, value: this.late.found };
  }

  private claimed(): void {
    const { health } = this.store;
    if (health !== undefined && health.status === this.late?.status) health.durable();
    this.late = undefined;
  }

  /** @param change - a commit that expects `expected` */
  private async fenced(change: () => Promise<void>): Promise<void> {
    if (this.isOver) throw takenOver();
    try {
      await change();
    } catch (error) {
      if (isPlumblineError(error, 'STORE_TAKEN_OVER')) this.end();
      throw error;
    }
  }

  /** Extends the lease by its full length from now. @throws PlumblineError as `commit` */
  async renew(): Promise<void> {
    if (this.lease !== undefined) await this.commit({ puts: [leaseEntry(this.lease)] });
  }
}
