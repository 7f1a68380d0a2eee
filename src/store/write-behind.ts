import type { Commit, Key, PageStore, Table } from './page-store.js';
import { recordBytes } from './table-usage.js';

/** How much may wait, and for how long. */
export interface WriteBehindOptions {
  /** How long an entry waits for others to be committed with it, milliseconds; 1000 when left out. */
  readonly delayMs?: number | undefined;
  /**
   * Bytes that may wait: what is above is committed at once, and while that cannot be, the oldest are let go. 1 MiB when
   * left out.
   */
  readonly maxPendingBytes?: number | undefined;
  /** Told of what the store throws; nobody else is. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Told of each commit that came to its end. */
  readonly onSuccess?: (() => void) | undefined;
}

/** Who takes part in commits. */
export interface Behind {
  readonly table: Table;
  /** What goes into a commit beside the entries, such as an index of them. */
  beside(): NonNullable<Commit['puts']>;
  /** What the store holds now of these entries: bytes of each, undefined for nothing. */
  stored(entries: readonly { readonly key: Key; readonly bytes: number | undefined }[]): void;
  /** Entries that will not be written, or not be deleted: the store holds of them what it held. */
  lost(keys: readonly Key[]): void;
}

interface Pending {
  readonly table: Table;
  readonly key: Key;
  /** Undefined to delete it. */
  readonly value: Uint8Array | undefined;
}

/**
 * Gathers entries that can be had again, and commits them together a little later. Nobody waits for the store, and a store
 * that is slow, full or gone costs the entries alone.
 */
export class WriteBehind {
  private pending = new Map<string, Pending>();
  private bytes = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private writing: Promise<void> | undefined;
  private beingWritten: ReadonlyMap<string, Pending> = new Map();
  private readonly members: Behind[] = [];
  private readonly delayMs: number;
  private readonly maxPendingBytes: number;

  constructor(
    readonly store: PageStore,
    private readonly options: WriteBehindOptions = {},
  ) {
    this.delayMs = options.delayMs ?? 1000;
    this.maxPendingBytes = options.maxPendingBytes ?? 2 ** 20;
  }

  join(member: Behind): void {
    this.members.push(member);
  }

  /** An entry that is not stored yet: null where it is to be deleted, undefined where nothing is known of it. */
  waiting(table: Table, key: Key): Uint8Array | null | undefined {
    const name = nameOf(table, key);
    const entry = this.pending.get(name) ?? this.beingWritten.get(name);
    return entry === undefined ? undefined : (entry.value ?? null);
  }

  /** Whether an entry waits for the next commit. */
  isWaiting(table: Table, key: Key): boolean {
    return this.pending.has(nameOf(table, key));
  }

  /** @param value - undefined deletes the entry */
  write(table: Table, key: Key, value: Uint8Array | undefined): void {
    const name = nameOf(table, key);
    this.take(name);
    this.pending.set(name, { table, key, value });
    this.bytes += recordBytes(key, value?.length ?? 0);
    if (this.bytes <= this.maxPendingBytes) this.soon();
    else if (this.writing === undefined) void this.flush();
    else this.letGo();
  }

  /** Something beside the entries wants to be written with them. */
  soon(): void {
    this.timer ??= setTimeout(() => void this.flush(), this.delayMs);
  }

  /** Commits all that waits. Never rejects. */
  async flush(): Promise<void> {
    while (this.writing !== undefined) await this.writing;
    clearTimeout(this.timer);
    this.timer = undefined;
    const beside = this.members.flatMap((member) => member.beside());
    if (this.pending.size + beside.length === 0) return;
    this.writing = this.commit(this.pending, beside).finally(() => {
      this.writing = undefined;
      this.beingWritten = new Map();
    });
    await this.writing;
  }

  /** Forgets all that waits, once what is being written is done. */
  async discard(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.writing;
    const gone = [...this.pending.values()];
    this.pending.clear();
    this.bytes = 0;
    this.tell(gone);
  }

  private async commit(entries: ReadonlyMap<string, Pending>, beside: NonNullable<Commit['puts']>): Promise<void> {
    this.beingWritten = entries;
    this.pending = new Map();
    this.bytes = 0;
    const puts: NonNullable<Commit['puts']>[number][] = [...beside];
    const deletes: NonNullable<Commit['deletes']>[number][] = [];
    for (const { table, key, value } of entries.values()) {
      if (value === undefined) deletes.push({ table, key });
      else puts.push({ table, key, value });
    }
    try {
      await this.store.commit({ puts, deletes });
    } catch (error) {
      // What has been written of the same key meanwhile still comes to the store.
      this.tell([...entries].flatMap(([name, entry]) => (this.pending.has(name) ? [] : [entry])));
      this.options.onFailure?.(error);
      return;
    }
    for (const member of this.members) member.stored(entriesOf(member, [...entries.values()]).map(sizeOf));
    this.options.onSuccess?.();
  }

  private letGo(): void {
    const gone: Pending[] = [];
    for (const [name, entry] of this.pending) {
      if (this.bytes <= this.maxPendingBytes) break;
      if (entry.value === undefined) continue;
      this.take(name);
      gone.push(entry);
    }
    this.tell(gone);
  }

  private take(name: string): void {
    const entry = this.pending.get(name);
    if (entry === undefined) return;
    this.pending.delete(name);
    this.bytes -= recordBytes(entry.key, entry.value?.length ?? 0);
  }

  private tell(entries: readonly Pending[]): void {
    for (const member of this.members) {
      const own = entriesOf(member, entries);
      if (own.length > 0) member.lost(own.map(({ key }) => key));
    }
  }
}

function entriesOf({ table }: Behind, entries: readonly Pending[]): Pending[] {
  return entries.filter((entry) => entry.table === table);
}

function sizeOf({ key, value }: Pending): { key: Key; bytes: number | undefined } {
  return { key, bytes: value && recordBytes(key, value.length) };
}

function nameOf(table: Table, key: Key): string {
  return `${table} ${typeof key} ${key}`;
}
