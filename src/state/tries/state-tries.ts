import { ZERO_HASH } from '../../accumulator/scheme.js';
import { PlumblineError } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import type { TrieKernel } from '../../kernel/trie-contract.js';

/** A storage trie of the kernel, with the values behind its hashes by leaf position. */
export interface SlotTrie {
  readonly handle: number;
  readonly values: Map<number, Uint8Array>;
}

/** What stands behind an account leaf. Storage belongs to the leaf position, so it lives and goes with the leaf. */
export interface AccountRecord {
  /** The compact form, 192 bytes. */
  readonly value: Uint8Array;
  readonly storage: SlotTrie | undefined;
  /**
   * The next slot written starts from an empty trie although `storage` is another one: the account was destroyed and
   * recreated without a slot being touched, and kept its old storage root (docs/spec/state-trie.md 5.3, below the table).
   */
  readonly storageRestarts: boolean;
}

/** An account as the state holds it. */
export interface HeldAccount {
  readonly record: AccountRecord;
  /** Value of a slot, 32 bytes, zero when it is empty. @param hkey - hash of its key */
  slot(hkey: Uint8Array): Uint8Array;
}

/** What one block did besides what the kernel keeps. */
interface BlockChanges {
  /** Account records by position, undefined where there was none. */
  readonly accounts: ReadonlyMap<number, AccountRecord | undefined>;
  readonly slots: ReadonlyMap<SlotTrie, ReadonlyMap<number, Uint8Array | undefined>>;
  /** Tries that the block made. */
  readonly created: readonly SlotTrie[];
  /** Tries that no account after the block has any more. */
  readonly retired: readonly SlotTrie[];
}

/** What one block replaced, to be put back. */
export interface BlockUndo extends BlockChanges {
  /** Leaves and free positions, `TrieKernel.takeUndo`. */
  readonly tries: Uint8Array;
  /** Hashes, `TrieKernel.takeNodes`. */
  readonly nodes: Uint8Array;
}

/** The account trie and the storage tries as they are now, with their values, and what changed since the last block. */
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
   * @throws PlumblineError `INVALID_PARAMETER` for another one
   */
  constructor(
    readonly hasher: Hasher,
    readonly kernel: TrieKernel,
  ) {
    if (kernel.scheme !== hasher.scheme || !kernel.keeps.undo || !kernel.keeps.nodes) {
      const reason = "has to be of the hasher's scheme, with the options undo and nodes";
      throw new PlumblineError('INVALID_PARAMETER', `the trie kernel ${reason}`, { parameter: 'kernel', reason });
    }
    this.accounts = kernel.createTrie();
    this.forget();
  }

  /** The account whose address hashes to `hkey`. */
  held(hkey: Uint8Array): HeldAccount | undefined {
    const found = this.kernel.find(this.accounts, hkey);
    if (!found.present) return undefined;
    const record = this.records.get(found.position)!;
    return { record, slot: (key) => this.slotValue(record.storage, key) };
  }

  /** Value of a slot, 32 bytes, zero when it is empty. @param hkey - hash of its key */
  slotValue(storage: SlotTrie | undefined, hkey: Uint8Array): Uint8Array {
    if (storage === undefined) return ZERO_HASH;
    const found = this.kernel.find(storage.handle, hkey);
    return found.present ? storage.values.get(found.position)! : ZERO_HASH;
  }

  get holdsNoAccount(): boolean {
    return this.kernel.leafCount(this.accounts) === 2;
  }

  holdsNothing(storage: SlotTrie): boolean {
    return this.kernel.leafCount(storage.handle) === 2;
  }

  /** A trie that stays empty, to read from and to show what an account without storage has. */
  get blank(): number {
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
    if (effect.effect !== 'none') this.setSlotValue(storage, effect.position, value.slice());
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

  /** An account stops using a storage trie; its memory is given back when no held block needs it. */
  retire(storage: SlotTrie | undefined): void {
    if (storage !== undefined) this.retired.push(storage);
  }

  topRoot(storage: SlotTrie): Uint8Array {
    return this.kernel.topRoot(storage.handle);
  }

  /**
   * Ends a block: hashes what is left to hash, and hands out what takes the block back.
   *
   * @throws PlumblineError `KERNEL_OUT_OF_MEMORY`; the block goes on then, to be given up with `giveUp`
   */
  seal(): BlockUndo {
    this.kernel.commit();
    return { tries: this.kernel.takeUndo(), nodes: this.kernel.takeNodes(), ...this.takeChanges() };
  }

  /** Takes back what was written since the last block was sealed. */
  giveUp(): void {
    this.kernel.takeBack();
    this.putBack(this.takeChanges());
  }

  /**
   * Takes the newest sealed block back.
   *
   * @throws PlumblineError `KERNEL_OUT_OF_MEMORY`; nothing is changed then
   */
  undo(block: BlockUndo): void {
    try {
      this.kernel.undo(block.tries);
      this.kernel.commit();
    } catch (error) {
      this.kernel.takeBack();
      throw error;
    }
    this.forget();
    this.putBack(block);
  }

  /** Restores values, and drops the tries that the block made. */
  private putBack({ accounts, slots, created }: BlockChanges): void {
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

  /** What was written and committed is no change of a block. */
  forget(): void {
    this.kernel.takeUndo();
    this.kernel.takeNodes();
  }

  /** A block will not be taken back any more. */
  release(block: BlockUndo): void {
    for (const storage of block.retired) this.kernel.dropTrie(storage.handle);
  }

  /** Sets what stands behind an account leaf; the leaf itself is written by the caller. */
  setRecord(position: number, record: AccountRecord | undefined): void {
    remember(this.accountsBefore, this.records, position);
    put(this.records, position, record);
  }

  /** Sets the value behind a slot's leaf; the leaf itself is written by the caller. */
  setSlotValue(storage: SlotTrie, position: number, value: Uint8Array | undefined): void {
    let before = this.slotsBefore.get(storage);
    if (before === undefined) {
      before = new Map();
      this.slotsBefore.set(storage, before);
    }
    remember(before, storage.values, position);
    put(storage.values, position, value);
  }
}

function remember<Value>(before: Map<number, Value | undefined>, held: Map<number, Value>, position: number): void {
  if (!before.has(position)) before.set(position, held.get(position));
}

function put<Value>(held: Map<number, Value>, position: number, value: Value | undefined): void {
  if (value === undefined) held.delete(position);
  else held.set(position, value);
}

function restore<Value>(held: Map<number, Value>, before: ReadonlyMap<number, Value | undefined>): void {
  for (const [position, value] of before) put(held, position, value);
}
