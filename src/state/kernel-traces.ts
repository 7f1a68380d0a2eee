/**
 * State traces from the tries of a world state: each operation of a block is written leaf by leaf, and recorded with the siblings of
 * that moment (docs/spec/state-trie.md 4 and 10). The tries end as after `applyChanges`, which hashes far less.
 */

import { decodeAccountValue } from '../accumulator/account-value.js';
import { PlumblineError } from '../errors.js';
import type { TrieEffect, TrieKernel, TrieLeaf } from '../kernel/trie.js';
import { equalBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import { requireSame } from './block-application.js';
import type { KeyHashes } from './hash-cache.js';
import { AccountRecord, type SlotTrie, type StateTries } from './state-tries.js';
import type {
  BranchProof,
  DeleteStep,
  InsertStep,
  ReadStep,
  ReadZeroStep,
  StateTrace,
  StepTrie,
  UpdateStep,
} from './trace.js';
import { applyTraced, type TracedState } from './traced-application.js';
import type { ZkAccountChange } from './world-state.js';

/**
 * Writes a block into the tries one operation at a time, and returns its traces. The tries end as after `applyChanges`.
 * After an error the caller must undo what was written.
 *
 * @throws PlumblineError as `WorldState.applyBlock`
 */
export function applyChangesTraced(
  tries: StateTries,
  keys: KeyHashes,
  changes: readonly ZkAccountChange[],
): StateTrace[] {
  checkRecreated(tries, keys, changes);
  const state = new KernelTracedState(tries);
  const traces = applyTraced({ hasher: tries.hasher, keys }, state, changes);
  state.finish();
  return traces;
}

/** An account that is destroyed and recreated without slots keeps its storage root, so its storage must be empty. */
function checkRecreated(tries: StateTries, keys: KeyHashes, changes: readonly ZkAccountChange[]): void {
  for (const { address, after, destroyed, slots } of changes) {
    if (after === undefined || !destroyed || slots.length > 0) continue;
    const storage = tries.held(keys.hashedAddress(address).hkey)?.record.storage;
    const content = storage === undefined || tries.isEmptyStorage(storage) ? 'no slot' : 'slots';
    requireSame(() => `storage of the recreated account ${bytesToHex(address)}`, content, 'no slot');
  }
}

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
    this.setRecord(position, this.record(position, content.value, old ?? this.removed));
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
      return new AccountRecord(value, old!.storage, old!.storageRestarts);
    }
    const { storageRoot } = decodeAccountValue(value);
    if (equalBytes(storageRoot, opened.topRoot)) return new AccountRecord(value, opened.held, false);
    return new AccountRecord(value, old!.storage, true);
  }

  private setRecord(position: number, record: AccountRecord | undefined): void {
    const before = this.tries.records.get(position)?.storage;
    if (before !== undefined) this.unused.add(before);
    this.tries.setRecord(position, record);
    if (record?.storage !== undefined) this.unused.delete(record.storage);
  }

  private valueAt = (position: number): Uint8Array => this.tries.records.get(position)!.value;
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
    this.tries.setSlotValue(this.storage, position, content.value);
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
  private valueAt = (position: number): Uint8Array => this.storage!.values.get(position)!;
}

/** Compact value of the leaf at a position that holds a key. */
type ValueAt = (position: number) => Uint8Array;

const proofOf = ({ position, siblings }: LeafStep): BranchProof => ({ leafIndex: position, siblings });

const after = ({ nextFreeNode, oldSubRoot, newSubRoot }: SteppedEffect) => {
  return { newNextFreeNode: nextFreeNode, oldSubRoot, newSubRoot };
};

/** Reads from a committed trie of the kernel. Nothing is hashed. */
function readTraced(kernel: TrieKernel, trie: number, hkey: Uint8Array, valueAt: ValueAt): ReadStep | ReadZeroStep {
  const branch = (position: number): BranchProof => {
    return { leafIndex: position, siblings: kernel.siblings(trie, position) };
  };
  const leaf = (position: number): TrieLeaf => kernel.leaf(trie, position)!;
  const now = { nextFreeNode: kernel.nextFreeNode(trie), subRoot: kernel.subRoot(trie) };
  const found = kernel.find(trie, hkey);
  if (found.present) {
    const { position } = found;
    return { type: 'read', ...now, leaf: leaf(position), proof: branch(position), value: valueAt(position) };
  }
  const { left, right } = found;
  return {
    type: 'read-zero',
    ...now,
    leftLeaf: leaf(left),
    rightLeaf: leaf(right),
    leftProof: branch(left),
    rightProof: branch(right),
  };
}

/**
 * Inserts or updates.
 *
 * @param content - as in `StepTrie.put`
 * @returns the step and the leaf position
 */
function putTraced(
  kernel: TrieKernel,
  trie: number,
  content: { hkey: Uint8Array; hval: Uint8Array; value: Uint8Array },
  valueAt: ValueAt,
): { position: number; step: InsertStep | UpdateStep } {
  const { value } = content;
  const done = putStepwise(kernel, trie, content.hkey, content.hval);
  if (done.effect === 'update') {
    const [update] = done.steps as readonly [LeafStep];
    const values = { oldValue: valueAt(update.position), newValue: value };
    const step = { ...after(done), proof: proofOf(update), ...values, priorUpdatedLeaf: update.prior! };
    return { position: update.position, step: { type: 'update', ...step } };
  }
  const [left, fresh, right] = done.steps as readonly [LeafStep, LeafStep, LeafStep];
  const step: InsertStep = {
    type: 'insert',
    ...after(done),
    leftProof: proofOf(left),
    newProof: proofOf(fresh),
    rightProof: proofOf(right),
    value,
    priorLeftLeaf: left.prior!,
    priorRightLeaf: right.prior!,
  };
  return { position: fresh.position, step };
}

/**
 * Removes a key.
 *
 * @returns the step and the leaf position
 * @throws PlumblineError `STATE_MISMATCH` if it is not in the trie
 */
export function removeTraced(
  kernel: TrieKernel,
  trie: number,
  hkey: Uint8Array,
  valueAt: ValueAt,
): { position: number; step: DeleteStep } {
  const done = removeStepwise(kernel, trie, hkey);
  if (done.effect === 'none') {
    const details = { what: `key of hash ${bytesToHex(hkey)}`, expected: 'none', actual: 'to be removed' };
    throw new PlumblineError('STATE_MISMATCH', 'a key to remove is not in the trie', details);
  }
  const [left, removed, right] = done.steps as readonly [LeafStep, LeafStep, LeafStep];
  const step: DeleteStep = {
    type: 'delete',
    ...after(done),
    leftProof: proofOf(left),
    deletedProof: proofOf(removed),
    rightProof: proofOf(right),
    priorLeftLeaf: left.prior!,
    priorDeletedLeaf: removed.prior!,
    priorRightLeaf: right.prior!,
    deletedValue: valueAt(removed.position),
  };
  return { position: removed.position, step };
}

/** One leaf write of an operation: the previous content of the position, and its siblings at that moment. */
export interface LeafStep {
  readonly position: number;
  /** Undefined if the position was unused. */
  readonly prior: TrieLeaf | undefined;
  /** 40 hashes of 32 bytes, level 0 first. */
  readonly siblings: readonly Uint8Array[];
}

/** An operation executed leaf by leaf, as in state traces (docs/spec/state-trie.md 4 and 10). */
export interface SteppedEffect {
  readonly effect: TrieEffect['effect'];
  /** Update: the leaf. Insertion: left, new, right. Removal: left, removed, right. Otherwise empty. */
  readonly steps: readonly LeafStep[];
  /** 32 bytes each. */
  readonly oldSubRoot: Uint8Array;
  readonly newSubRoot: Uint8Array;
  /** After the operation. */
  readonly nextFreeNode: number;
}

type Step = (position: number, change: (prior: TrieLeaf | undefined) => TrieLeaf | undefined) => void;

/** Runs the steps of an operation between two commits. If one is refused, the steps before it are undone. */
function runStepwise(
  kernel: TrieKernel,
  trie: number,
  effect: TrieEffect['effect'],
  run: (step: Step) => void,
): SteppedEffect {
  kernel.commit([trie]);
  const oldSubRoot = kernel.subRoot(trie);
  const free = kernel.nextFreeNode(trie);
  const steps: LeafStep[] = [];
  try {
    run((position, change) => {
      const prior = kernel.leaf(trie, position);
      // Siblings do not depend on the leaf itself, so they are the same before and after the write.
      const siblings = kernel.siblings(trie, position);
      kernel.setLeaf(trie, position, change(prior));
      kernel.commitSubRoot(trie);
      steps.push({ position, prior, siblings });
    });
  } catch (refusal) {
    for (const { position, prior } of steps) kernel.setLeaf(trie, position, prior);
    kernel.setNextFreeNode(trie, free);
    kernel.commit([trie]);
    throw refusal;
  }
  kernel.commit([trie]);
  return { effect, steps, oldSubRoot, newSubRoot: kernel.subRoot(trie), nextFreeNode: kernel.nextFreeNode(trie) };
}

/**
 * Like `TrieKernel.put`, but one leaf at a time. The trie is committed before and after. Errors as in `TrieKernel.put`.
 */
export function putStepwise(kernel: TrieKernel, trie: number, hkey: Uint8Array, hval: Uint8Array): SteppedEffect {
  const found = kernel.find(trie, hkey);
  if (found.present) {
    return runStepwise(kernel, trie, 'update', (step) => step(found.position, (leaf) => leaf && { ...leaf, hval }));
  }
  const { left, right } = found;
  const position = kernel.nextFreeNode(trie);
  return runStepwise(kernel, trie, 'insert', (step) => {
    step(left, (leaf) => leaf && { ...leaf, nextLeaf: position });
    kernel.setNextFreeNode(trie, position + 1);
    step(position, () => ({ prevLeaf: left, nextLeaf: right, hkey, hval }));
    step(right, (leaf) => leaf && { ...leaf, prevLeaf: position });
  });
}

/**
 * Like `TrieKernel.remove`, but one leaf at a time. The trie is committed before and after. Errors as in
 * `TrieKernel.remove`.
 */
export function removeStepwise(kernel: TrieKernel, trie: number, hkey: Uint8Array): SteppedEffect {
  const found = kernel.find(trie, hkey);
  if (!found.present) return runStepwise(kernel, trie, 'none', () => {});
  const { prevLeaf, nextLeaf } = kernel.leaf(trie, found.position)!;
  return runStepwise(kernel, trie, 'remove', (step) => {
    step(prevLeaf, (leaf) => leaf && { ...leaf, nextLeaf });
    step(found.position, () => undefined);
    step(nextLeaf, (leaf) => leaf && { ...leaf, prevLeaf });
  });
}
