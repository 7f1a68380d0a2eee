import { decodeAccountValue } from '../../accumulator/account-value.js';
import { copyBytes, equalBytes } from '../../primitives/bytes.js';
import type { StepTrie } from '../trace.js';
import type { AccountRecord, SlotTrie, StateTries } from '../tries/state-tries.js';
import { putTraced, readTraced, removeTraced } from './kernel-traces-trie.js';
import type { TracedState } from './traced-application.js';

/**
 * The tries of a world state, changed one operation at a time for one block. Undo records are kept as in block
 * application. Call `finish` at the end, then seal. After an error, seal and undo.
 */
export class KernelTracedState implements TracedState {
  readonly accounts: AccountSteps;
  private readonly storages = new Map<number, StorageSteps>();

  constructor(private readonly tries: StateTries) {
    this.accounts = new AccountSteps(tries, (position) => this.storages.get(position));
  }

  storageAt(position: number): StepTrie {
    const known = this.storages.get(position);
    if (known !== undefined) return known;
    const record = this.tries.records.get(position);
    return this.open(position, record?.storageRestarts ? undefined : record?.storage);
  }

  startStorage(position: number): StepTrie {
    return this.open(position, undefined);
  }

  /** Called after the last change: retires tries that no account uses any more. */
  finish(): void {
    for (const storage of this.accounts.unused) this.tries.retire(storage);
  }

  private open(position: number, storage: SlotTrie | undefined): StorageSteps {
    const steps = new StorageSteps(this.tries, storage);
    this.storages.set(position, steps);
    return steps;
  }
}

class AccountSteps implements StepTrie {
  /** Storage that an account had before the block and none has now. */
  readonly unused = new Set<SlotTrie>();
  /** The account that was removed last. Recreated without slots, it keeps its storage. */
  private removed: AccountRecord | undefined;

  constructor(
    private readonly tries: StateTries,
    private readonly storageOpened: (position: number) => StorageSteps | undefined,
  ) {}

  get nextFreeNode() {
    return this.tries.kernel.nextFreeNode(this.tries.accounts);
  }

  get subRoot() {
    return this.tries.kernel.subRoot(this.tries.accounts);
  }

  get topRoot() {
    return this.tries.kernel.topRoot(this.tries.accounts);
  }

  read(hkey: Uint8Array) {
    return readTraced(this.tries.kernel, this.tries.accounts, hkey, this.valueAt);
  }

  put(content: { hkey: Uint8Array; hval: Uint8Array; value: Uint8Array }) {
    const { position, step } = putTraced(this.tries.kernel, this.tries.accounts, content, this.valueAt);
    const old = this.tries.records.get(position);
    this.setRecord(position, this.record(position, copyBytes(content.value), old ?? this.removed));
    this.removed = undefined;
    return step;
  }

  remove(hkey: Uint8Array) {
    const { position, step } = removeTraced(this.tries.kernel, this.tries.accounts, hkey, this.valueAt);
    this.removed = this.tries.records.get(position);
    this.setRecord(position, undefined);
    return step;
  }

  /** @param old - the account before; at another position if it was destroyed. A new account starts with storage. */
  private record(position: number, value: Uint8Array, old: AccountRecord | undefined): AccountRecord {
    const opened = this.storageOpened(position);
    if (opened === undefined) {
      return { value, storage: old!.storage, storageRestarts: old!.storageRestarts };
    }
    const { storageRoot } = decodeAccountValue(value);
    if (equalBytes(storageRoot, opened.topRoot)) return { value, storage: opened.held, storageRestarts: false };
    return { value, storage: old!.storage, storageRestarts: true };
  }

  private setRecord(position: number, record: AccountRecord | undefined): void {
    const before = this.tries.records.get(position)?.storage;
    if (before !== undefined) this.unused.add(before);
    this.tries.setRecord(position, record);
    if (record?.storage !== undefined) this.unused.delete(record.storage);
  }

  /** Returns a copy, because it becomes part of a trace. */
  private valueAt = (position: number): Uint8Array => copyBytes(this.tries.records.get(position)!.value);
}

/** The storage of one account. Its trie is created on the first write. */
class StorageSteps implements StepTrie {
  constructor(
    private readonly tries: StateTries,
    private storage: SlotTrie | undefined,
  ) {}

  /** Undefined until the first write, if the storage started empty. */
  get held(): SlotTrie | undefined {
    return this.storage;
  }

  get nextFreeNode() {
    return this.tries.kernel.nextFreeNode(this.handle);
  }

  get subRoot() {
    return this.tries.kernel.subRoot(this.handle);
  }

  get topRoot() {
    return this.tries.kernel.topRoot(this.handle);
  }

  read(hkey: Uint8Array) {
    return readTraced(this.tries.kernel, this.handle, hkey, this.valueAt);
  }

  put(content: { hkey: Uint8Array; hval: Uint8Array; value: Uint8Array }) {
    this.storage ??= this.tries.startStorage();
    const { position, step } = putTraced(this.tries.kernel, this.storage.handle, content, this.valueAt);
    this.tries.setSlotValue(this.storage, position, copyBytes(content.value));
    return step;
  }

  remove(hkey: Uint8Array) {
    const { position, step } = removeTraced(this.tries.kernel, this.handle, hkey, this.valueAt);
    this.tries.setSlotValue(this.storage!, position, undefined);
    return step;
  }

  private get handle(): number {
    return this.storage?.handle ?? this.tries.emptyTrieHandle;
  }

  /** Returns a copy, because it becomes part of a trace. */
  private valueAt = (position: number): Uint8Array => copyBytes(this.storage!.values.get(position)!);
}
