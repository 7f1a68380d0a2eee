import { ZERO_HASH } from '../../accumulator/scheme.js';
import { invalidParameter } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import type { TrieKernel } from '../../kernel/trie.js';
import { copyBytes } from '../../primitives/bytes.js';

/** A storage trie of the kernel, and its values by leaf position. */
export interface SlotTrie {
  readonly handle: number;
  readonly values: Map<number, Uint8Array>;
}

/** The data of an account leaf. Storage belongs to the leaf position and is removed with the leaf. */
export interface AccountRecord {
  /** The compact form, 192 bytes. */
  readonly value: Uint8Array;
  readonly storage: SlotTrie | undefined;
  /**
   * The next written slot starts from an empty trie, although `storage` is another one. This happens when the account
   * was destroyed and recreated without touching a slot, and so kept its old storage root (docs/spec/state-trie.md 5.3,
   * below the table).
   */
  readonly storageRestarts: boolean;
}

/** An account in the state. */
export interface HeldAccount {
  readonly record: AccountRecord;
  /** Value of a slot, 32 bytes; zero if it is empty. @param hkey - hash of its key */
  slot(hkey: Uint8Array): Uint8Array;
}

/** Changes of one block that the kernel does not record. */
interface BlockChanges {
  /** Account records by position before the block; undefined if there was none. */
  readonly accounts: ReadonlyMap<number, AccountRecord | undefined>;
  readonly slots: ReadonlyMap<SlotTrie, ReadonlyMap<number, Uint8Array | undefined>>;
  /** Tries that the block created. */
  readonly created: readonly SlotTrie[];
  /** Tries that no account uses after the block. */
  readonly retired: readonly SlotTrie[];
}

/** The undo record of one block. */
export interface BlockUndo extends BlockChanges {
  /** Leaves and free positions, from `TrieKernel.takeUndo`. */
  readonly tries: Uint8Array;
  /** Hashes, from `TrieKernel.takeNodes`. */
  readonly nodes: Uint8Array;
}

/** The current account trie and storage tries with their values, and the changes since the last block. */
export class StateTries {
  readonly accounts: number;
  readonly records = new Map<number, AccountRecord>();
  private accountsBefore = new Map<number, AccountRecord | undefined>();
  private slotsBefore = new Map<SlotTrie, Map<number, Uint8Array | undefined>>();
  private created: SlotTrie[] = [];
  private retired: SlotTrie[] = [];
  private emptyTrie: number | undefined;

  /**
   * @param kernel - empty, of the hasher's scheme, with the options `undo` and `nodes`
   * @throws PlumblineError `INVALID_PARAMETER` for another kernel
   */
  constructor(
    readonly hasher: Hasher,
    readonly kernel: TrieKernel,
  ) {
    if (kernel.scheme !== hasher.scheme || !kernel.keeps.undo || !kernel.keeps.nodes) {
      throw invalidParameter('kernel', "must have the hasher's scheme and the options undo and nodes");
    }
    this.accounts = kernel.createTrie();
    this.discardUndo();
  }

  /** The account whose address hashes to `hkey`. */
  held(hkey: Uint8Array): HeldAccount | undefined {
    const found = this.kernel.find(this.accounts, hkey);
    if (!found.present) return undefined;
    const record = this.records.get(found.position)!;
    return { record, slot: (key) => this.slotValue(record.storage, key) };
  }

  /** Value of a slot, 32 bytes; zero if it is empty. @param hkey - hash of its key */
  slotValue(storage: SlotTrie | undefined, hkey: Uint8Array): Uint8Array {
    if (storage === undefined) return ZERO_HASH;
    const found = this.kernel.find(storage.handle, hkey);
    return found.present ? storage.values.get(found.position)! : ZERO_HASH;
  }

  get hasNoAccounts(): boolean {
    return this.kernel.leafCount(this.accounts) === 2;
  }

  isEmptyStorage(storage: SlotTrie): boolean {
    return this.kernel.leafCount(storage.handle) === 2;
  }

  /** An empty trie, used to read accounts without storage. */
  get emptyTrieHandle(): number {
    this.emptyTrie ??= this.kernel.createTrie();
    return this.emptyTrie;
  }

  startStorage(): SlotTrie {
    const storage: SlotTrie = { handle: this.kernel.createTrie(), values: new Map() };
    this.created.push(storage);
    return storage;
  }

  putSlot(storage: SlotTrie, hkey: Uint8Array, hval: Uint8Array, value: Uint8Array): void {
    const effect = this.kernel.put(storage.handle, hkey, hval);
    if (effect.effect !== 'none') this.setSlotValue(storage, effect.position, copyBytes(value));
  }

  removeSlot(storage: SlotTrie, hkey: Uint8Array): void {
    const effect = this.kernel.remove(storage.handle, hkey);
    if (effect.effect === 'remove') this.setSlotValue(storage, effect.position, undefined);
  }

  putAccount(hkey: Uint8Array, hval: Uint8Array, record: AccountRecord): void {
    const effect = this.kernel.put(this.accounts, hkey, hval);
    if (effect.effect !== 'none') this.setRecord(effect.position, record);
  }

  removeAccount(hkey: Uint8Array): void {
    const effect = this.kernel.remove(this.accounts, hkey);
    if (effect.effect === 'remove') this.setRecord(effect.position, undefined);
  }

  /** Marks a storage trie that no account uses any more. Its memory is freed when no held block needs it. */
  retire(storage: SlotTrie | undefined): void {
    if (storage !== undefined) this.retired.push(storage);
  }

  topRoot(storage: SlotTrie): Uint8Array {
    return this.kernel.topRoot(storage.handle);
  }

  /**
   * Ends a block: hashes the changed nodes, and returns the undo record.
   *
   * @throws PlumblineError `KERNEL_OUT_OF_MEMORY`; the block is then still open, and must be ended with `abort`
   */
  seal(): BlockUndo {
    this.kernel.commit();
    return { tries: this.kernel.takeUndo(), nodes: this.kernel.takeNodes(), ...this.takeChanges() };
  }

  /** Undoes all writes since the last block was sealed. */
  abort(): void {
    this.kernel.takeBack();
    this.restoreValues(this.takeChanges());
  }

  /** Undoes the newest sealed block. @throws PlumblineError `KERNEL_OUT_OF_MEMORY`; nothing is changed then */
  undo(block: BlockUndo): void {
    try {
      this.kernel.undo(block.tries);
      this.kernel.commit();
    } catch (error) {
      this.kernel.takeBack();
      throw error;
    }
    this.discardUndo();
    this.restoreValues(block);
  }

  /** Restores values, and drops the tries that the block created. */
  private restoreValues({ accounts, slots, created }: BlockChanges): void {
    restore(this.records, accounts);
    for (const [storage, values] of slots) restore(storage.values, values);
    for (const { handle } of created) this.kernel.dropTrie(handle);
  }

  private takeChanges(): BlockChanges {
    const { accountsBefore: accounts, slotsBefore: slots, created, retired } = this;
    this.accountsBefore = new Map();
    this.slotsBefore = new Map();
    this.created = [];
    this.retired = [];
    return { accounts, slots, created, retired };
  }

  /** Discards the undo data of writes that do not belong to a block. */
  discardUndo(): void {
    this.kernel.takeUndo();
    this.kernel.takeNodes();
  }

  /** Frees what is only needed to undo this block. */
  release(block: BlockUndo): void {
    for (const storage of block.retired) this.kernel.dropTrie(storage.handle);
  }

  /** Sets the record of an account leaf. The caller writes the leaf itself. */
  setRecord(position: number, record: AccountRecord | undefined): void {
    recordBefore(this.accountsBefore, this.records, position);
    put(this.records, position, record);
  }

  /** Sets the value of a slot's leaf. The caller writes the leaf itself. */
  setSlotValue(storage: SlotTrie, position: number, value: Uint8Array | undefined): void {
    let before = this.slotsBefore.get(storage);
    if (before === undefined) {
      before = new Map();
      this.slotsBefore.set(storage, before);
    }
    recordBefore(before, storage.values, position);
    put(storage.values, position, value);
  }
}

function recordBefore<Value>(before: Map<number, Value | undefined>, held: Map<number, Value>, position: number): void {
  if (!before.has(position)) before.set(position, held.get(position));
}

function put<Value>(held: Map<number, Value>, position: number, value: Value | undefined): void {
  if (value === undefined) held.delete(position);
  else held.set(position, value);
}

function restore<Value>(held: Map<number, Value>, before: ReadonlyMap<number, Value | undefined>): void {
  for (const [position, value] of before) put(held, position, value);
}
