/**
 * The tries of a zk state with what the kernel does not hold: the values of leaves, which storage belongs to which account, and what
 * takes a block back (docs/spec/state-trie.md 2 to 5).
 *
 * A `StateView` reads the state after one block: the newest from the tries themselves, an earlier one through the undo records of
 * the blocks after it. `proveAccount` answers `linea_getProof` from a view.
 */

import { encodeLeaf, encodeTop } from '../accumulator/leaf-opening.js';
import type { LineaProofJson, MerkleProofJson, ProofItemJson } from '../accumulator/proof-shape.js';
import { schemeFormat, TREE_DEPTH, ZERO_HASH } from '../accumulator/scheme.js';
import { invalidParameter } from '../errors.js';
import type { Hasher, HashScheme } from '../kernel/contracts.js';
import { PastTries, readTriesBefore, type TrieFound, type TrieKernel } from '../kernel/trie.js';
import { bytesToKey, equalBytes, keyToBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import type { HashedKey } from './hash-cache.js';

/** A storage trie of the kernel, and its values by leaf position. */
export interface SlotTrie {
  readonly handle: number;
  readonly values: SlotValues;
}

/** Values of slots by leaf position, 32 bytes each. They are held as text: arrays of bytes would take four times the memory. */
export class SlotValues {
  private readonly texts = new Map<number, string>();

  get(position: number): Uint8Array | undefined {
    const text = this.texts.get(position);
    return text === undefined ? undefined : keyToBytes(text);
  }

  set(position: number, value: Uint8Array): void {
    this.texts.set(position, bytesToKey(value));
  }

  delete(position: number): void {
    this.texts.delete(position);
  }
}

/** Where the part of an account's value begins that accounts without code and storage have in common. */
const COMMON_FROM = 64;
/** That part, of the account that was made last. */
let common = '';

/** The data of an account leaf. Storage belongs to the leaf position and is removed with the leaf. Its value is held as text. */
export class AccountRecord {
  readonly #own: string;
  readonly #common: string;

  /**
   * @param value - the compact form, 192 bytes
   * @param storageRestarts - the next written slot starts from an empty trie, although `storage` is another one. This happens when
   *   the account was destroyed and recreated without touching a slot, and so kept its old storage root (docs/spec/state-trie.md 5.3,
   *   below the table)
   */
  constructor(
    value: Uint8Array,
    readonly storage: SlotTrie | undefined,
    readonly storageRestarts: boolean,
  ) {
    this.#own = bytesToKey(value.subarray(0, COMMON_FROM));
    const rest = bytesToKey(value.subarray(COMMON_FROM));
    if (rest !== common) common = rest;
    this.#common = common;
  }

  get value(): Uint8Array {
    return keyToBytes(this.#own + this.#common);
  }
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
    const storage: SlotTrie = { handle: this.kernel.createTrie(), values: new SlotValues() };
    this.created.push(storage);
    return storage;
  }

  putSlot(storage: SlotTrie, hkey: Uint8Array, hval: Uint8Array, value: Uint8Array): void {
    const effect = this.kernel.put(storage.handle, hkey, hval);
    if (effect.effect !== 'none') this.setSlotValue(storage, effect.position, value);
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

/** What is held by leaf position. */
interface Held<Value> {
  get(position: number): Value | undefined;
  set(position: number, value: Value): unknown;
  delete(position: number): unknown;
}

function recordBefore<Value>(before: Map<number, Value | undefined>, held: Held<Value>, position: number): void {
  if (!before.has(position)) before.set(position, held.get(position));
}

function put<Value>(held: Held<Value>, position: number, value: Value | undefined): void {
  if (value === undefined) held.delete(position);
  else held.set(position, value);
}

function restore<Value>(held: Held<Value>, before: ReadonlyMap<number, Value | undefined>): void {
  for (const [position, value] of before) put(held, position, value);
}

/** Read-only tries after one block, named by the handles of the kernel. */
interface TrieView {
  /** 32 bytes. */
  topRoot(trie: number): Uint8Array;
  find(trie: number, hkey: Uint8Array): TrieFound;
  /** The 42 preimages for a used position, from the top down (docs/spec/state-trie.md 7.3). */
  branch(trie: number, position: number): readonly Uint8Array[];
}

/** The current tries. Proofs are collected; nothing is hashed. */
function presentView(kernel: TrieKernel): TrieView {
  return {
    topRoot: (trie) => kernel.topRoot(trie),
    find: (trie, hkey) => kernel.find(trie, hkey),
    branch: (trie, position) => kernel.gatherProof(trie, position),
  };
}

/** The state after one block: its tries, and the values of their leaves. */
export interface StateView {
  readonly tries: TrieView;
  record(position: number): AccountRecord | undefined;
  slotValue(storage: SlotTrie, position: number): Uint8Array | undefined;
}

/** The current state. */
export function presentState(tries: StateTries): StateView {
  return {
    tries: presentView(tries.kernel),
    record: (position) => tries.records.get(position),
    slotValue: (storage, position) => storage.values.get(position),
  };
}

function pastView(hasher: Hasher, past: PastTries): TrieView {
  const { scheme } = hasher;
  const top = (trie: number) => encodeTop(scheme, past.nextFreeNode(trie), past.subRoot(trie));
  return {
    topRoot: (trie) => hasher.hash(top(trie)),
    find: (trie, hkey) => past.find(trie, hkey),
    branch(trie, position) {
      const { pairs, beside, leaf } = past.branch(trie, position)!;
      const besideEntry = beside === undefined ? ZERO_HASH : encodeLeaf(scheme, beside);
      return [top(trie), ...pairs, besideEntry, encodeLeaf(scheme, leaf)];
    },
  };
}

/**
 * The state after an earlier block, read through the undo records of the later blocks. For a position in several
 * records the oldest one counts; all other positions are unchanged. Valid until the next block.
 *
 * @param since - undo records of the later blocks, oldest first
 */
export function pastState(tries: StateTries, since: readonly BlockUndo[]): StateView {
  const records = new Map<number, AccountRecord | undefined>();
  const slots = new Map<SlotTrie, Map<number, Uint8Array | undefined>>();
  for (const block of since) {
    for (const [position, record] of block.accounts) keepFirst(records, position, record);
    for (const [storage, values] of block.slots) {
      const held = slots.get(storage) ?? new Map<number, Uint8Array | undefined>();
      slots.set(storage, held);
      for (const [position, value] of values) keepFirst(held, position, value);
    }
  }
  const present = presentState(tries);
  const past = new PastTries(
    tries.kernel,
    since.map((block) => readTriesBefore(block.tries, block.nodes)),
  );
  return {
    tries: pastView(tries.hasher, past),
    record: (position) => (records.has(position) ? records.get(position) : present.record(position)),
    slotValue(storage, position) {
      const held = slots.get(storage);
      return held?.has(position) ? held.get(position) : present.slotValue(storage, position);
    },
  };
}

function keepFirst<Value>(map: Map<number, Value>, position: number, value: Value): void {
  if (!map.has(position)) map.set(position, value);
}

/** Hex of the nodes of a trie's branches, by place in the branch and by the part of the path that leads to the node. */
type NodeHex = Map<number, Hex>[];

/** @param known - nodes of this trie's branches so far; branches share most of them */
function branchHex(view: StateView, trie: number, position: number, known: NodeHex): Hex[] {
  return view.tries.branch(trie, position).map((node, place) => {
    known[place] ??= new Map();
    // The top depends on nothing (positions are below 2^40); the last two places, a leaf and the one beside it, on the
    // whole path.
    const path = Math.floor(position / 2 ** Math.max(0, TREE_DEPTH - place));
    let hex = known[place].get(path);
    if (hex === undefined) {
      hex = bytesToHex(node);
      known[place].set(path, hex);
    }
    return hex;
  });
}

/** Proof that a key is in a trie with its value, or that it is absent (docs/spec/state-trie.md 7.3). */
function proveKey(
  view: StateView,
  trie: number,
  { key, hkey }: HashedKey,
  valueAt: (position: number) => Uint8Array | undefined,
  known: NodeHex = [],
): ProofItemJson {
  const prove = (position: number): MerkleProofJson => ({
    // Head and tail have no value.
    value: bytesToHex(valueAt(position) ?? ZERO_HASH),
    proofRelatedNodes: branchHex(view, trie, position, known),
  });
  const found = view.tries.find(trie, hkey);
  if (found.present) return { key: bytesToHex(key), leafIndex: found.position, proof: prove(found.position) };
  return {
    key: bytesToHex(key),
    leftLeafIndex: found.left,
    rightLeafIndex: found.right,
    leftProof: prove(found.left),
    rightProof: prove(found.right),
  };
}

/** Answer of `linea_getProof` from a view of the state, for present and absent accounts and slots. */
export function proveAccount(
  scheme: HashScheme,
  view: StateView,
  accounts: number,
  account: HashedKey,
  slots: readonly HashedKey[],
): LineaProofJson {
  const found = view.tries.find(accounts, account.hkey);
  const storage = found.present ? view.record(found.position)?.storage : undefined;
  const { emptyRoot } = schemeFormat(scheme);
  const known: NodeHex = [];
  const storageEmpty = storage === undefined || equalBytes(view.tries.topRoot(storage.handle), emptyRoot);
  return {
    accountProof: proveKey(view, accounts, account, (position) => view.record(position)?.value),
    storageProofs: storageEmpty
      ? []
      : slots.map((slot) =>
          proveKey(view, storage.handle, slot, (position) => view.slotValue(storage, position), known),
        ),
  };
}
