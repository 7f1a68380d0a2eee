import { isPlumblineError, PlumblineError } from '../errors.js';
import { bytesToHex } from '../primitives/hex.js';
import { takenOver } from './expectation.js';
import type { Clearing, Commit, Key, PageStore, Table } from './page-store.js';

/** Where a store says who writes to it, in table `meta`. Only this file reads and writes it. */
export const WRITER_KEY = 'writer';
/** Until when, where there are no locks to say so; beside it. */
export const LEASE_KEY = 'writer-lease';

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
    const epoch = Math.max(epochOf(writer) + 1, Date.now());
    const owner = bytesToHex(crypto.getRandomValues(new Uint8Array(OWNER_BYTES)));
    const fenced = new FencedStore(store, epoch, encode({ epoch, owner } satisfies Writer), lease);
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

/**
 * A store as one writer uses it: each commit looks, inside its own transaction, whether that is still the writer, and does
 * nothing otherwise.
 */
export class FencedStore implements PageStore {
  /** Told once, when a commit was refused because of a later writer, before whoever asked for the commit is. */
  onTakenOver: () => void = () => {};
  private isOver = false;

  constructor(
    private readonly store: PageStore,
    readonly epoch: number,
    private readonly writer: Uint8Array,
    private readonly lease?: Lease,
  ) {}

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

  commit(commit: Commit): Promise<void> {
    return this.fenced(() => this.store.commit({ ...commit, expects: [...(commit.expects ?? []), this.entry] }));
  }

  /** Who writes stays. */
  async clear({ expects = [], keeps = [] }: Clearing = {}): Promise<void> {
    const own = [WRITER_KEY, LEASE_KEY].map((key) => ({ table: 'meta', key }) as const);
    await this.fenced(() => this.store.clear({ expects: [...expects, this.entry], keeps: [...keeps, ...own] }));
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

  /** @param change - expects `entry` */
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

/** The error of a node that may not use a store as it is used. */
export function storeInUse(reason: string): PlumblineError<'STORE_IN_USE'> {
  return new PlumblineError('STORE_IN_USE', `the store is in use: ${reason}`, { reason });
}
