/**
 * Checks that the traces of blocks lead from one state root to the next. Each trace proves one step: a leaf with its siblings leads to a
 * sub root, and its writes lead to the next one. The steps have to follow each other, in the order of block application
 * (docs/spec/state-trie.md 5.3 and 10).
 */

import { type AccountValue, decodeAccountValue } from '../accumulator/account-value.js';
import { encodeLeaf, encodeTop, type LeafOpening } from '../accumulator/leaf-opening.js';
import { schemeFormat, ZERO_HASH } from '../accumulator/scheme.js';
import { isPlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import { compareBytes, equalBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import {
  type BranchProof,
  type DeleteStep,
  type InsertStep,
  type ReadStep,
  type ReadZeroStep,
  type StateTrace,
  traceKeyHash,
  traceValueHash,
  type UpdateStep,
} from './trace.js';
import { WitnessNodes } from './witness-trie.js';

/** Faults of well-formed traces. */
export type TraceFault =
  /** The first trace of the account trie does not start at the parent state root. */
  | 'PARENT_ROOT_MISMATCH'
  /** `nextFreeNode` does not continue from the traces before. */
  | 'NEXT_FREE_NODE_MISMATCH'
  /** The position of an insertion is not the next free one. */
  | 'LEAF_INDEX_MISMATCH'
  /** A sub root does not continue from the traces before. */
  | 'SUB_ROOT_MISMATCH'
  /** A leaf and its siblings do not lead to the sub root of that step. */
  | 'BRANCH_MISMATCH'
  /** The writes do not lead to the new sub root. */
  | 'NEW_SUB_ROOT_MISMATCH'
  /** The leaf belongs to another key than the trace. */
  | 'KEY_MISMATCH'
  /** A value does not match the hash in the leaf. */
  | 'VALUE_MISMATCH'
  | 'LEAF_LINK_BROKEN'
  /** The key is not strictly between its neighbours. */
  | 'LEAF_ORDER_BROKEN'
  /** The storage traces of an account do not start or end at the storage roots in its values. */
  | 'STORAGE_ROOT_MISMATCH'
  /** A word is not below the modulus of the hash. */
  | 'NOT_CANONICAL'
  /** Traces are not in the order of block application. */
  | 'PATTERN_BROKEN';

/** Result for invalid traces. */
export interface TraceFailure {
  readonly verified: false;
  readonly reason: TraceFault;
  /** Path of the fault, such as `blocks[3][5].leftProof`. */
  readonly at: string;
  readonly message: string;
}

/** Carries a failure from the check to `checkTraces`. */
class TraceRefusal extends Error {
  override readonly name = 'TraceRefusal';

  constructor(
    readonly reason: TraceFault,
    readonly at: string,
    message: string,
  ) {
    super(message);
  }
}

/** @throws TraceRefusal when `holds` is false */
function ensure(holds: boolean, reason: TraceFault, at: string, message: string): asserts holds {
  if (!holds) throw new TraceRefusal(reason, at, message);
}

/** Result for valid traces. */
export interface TracesVerified {
  readonly verified: true;
  /** State root after each block, 32 bytes. */
  readonly blockRoots: readonly Uint8Array[];
}

/** Options of `checkTraces`. */
export interface TraceCheckOptions {
  /**
   * Also requires the traces of a block in the order of block application (docs/spec/state-trie.md 5.3 and the patterns of 10).
   * Default false: then traces of single operations also pass.
   */
  readonly order?: boolean;
}

/**
 * Checks that the traces of consecutive blocks lead from one state root to the next: every branch, link and value, the
 * order of keys, and that the storage of each account starts and ends at the roots in the account's values.
 *
 * This shows that the writes lead to these roots. It does not show that the EVM made these writes.
 *
 * @param parentRoot - state root before the first block, 32 bytes
 * @param blocks - traces by block; a block may have none
 * @source docs/spec/state-trie.md 10
 *
 * @example
 * ```ts
 * import { checkTraces, hexToBytes, loadHasher, openState } from 'plumbline-l2/state';
 *
 * const state = await openState({ scheme: 'poseidon2' });
 * const parentRoot = state.root();
 * const address = hexToBytes('0x2400000000000000000000000000000000000000');
 * const after = { nonce: 1n, balance: 5n };
 * const { root, traces } = state.applyBlockTraced(0, [{ address, after, destroyed: false, slots: [] }]);
 * const checked = checkTraces(await loadHasher('poseidon2'), parentRoot, [traces], { order: true });
 * checked.verified && checked.blockRoots; // => [root]
 * ```
 */
export function checkTraces(
  hasher: Hasher,
  parentRoot: Uint8Array,
  blocks: readonly (readonly StateTrace[])[],
  options: TraceCheckOptions = {},
): TracesVerified | TraceFailure {
  const state = new CheckedState(hasher, parentRoot);
  const blockRoots: Uint8Array[] = [];
  try {
    for (const [b, traces] of blocks.entries()) {
      if (options.order === true) checkOrder(hasher, traces, `blocks[${b}]`);
      for (const [t, trace] of traces.entries()) state.step(trace, `blocks[${b}][${t}]`);
      state.endBlock(`blocks[${b}]`);
      blockRoots.push(state.root);
    }
  } catch (error) {
    if (!(error instanceof TraceRefusal)) throw error;
    const { reason, at, message } = error;
    return { verified: false, reason, at, message: `${at} ${message}` };
  }
  return { verified: true, blockRoots };
}

/** Known facts about the storage of one account. */
interface Storage {
  trie?: CheckedTrie;
  /** Top root at which the traces of this block started, until an account value confirms it. */
  unconfirmed?: Uint8Array | undefined;
  /** In the newest account value. */
  root?: Uint8Array | undefined;
  /** The account was deleted or created, so its storage starts empty. */
  restarts?: boolean;
  /** In the value that was deleted in this block. */
  deletedRoot?: Uint8Array | undefined;
}

class CheckedState {
  /** Current state root. */
  root: Uint8Array;
  private accounts: CheckedTrie | undefined;
  private readonly storages = new Map<string, Storage>();
  private readonly touched = new Set<string>();

  constructor(
    private readonly hasher: Hasher,
    parentRoot: Uint8Array,
  ) {
    this.root = parentRoot;
  }

  step(trace: StateTrace, at: string): void {
    if (trace.location !== undefined) {
      this.storageStep(trace, bytesToHex(trace.location), at);
      return;
    }
    this.accounts ??= this.open(trace, this.root, 'PARENT_ROOT_MISMATCH', at);
    this.accounts.step(trace, at);
    this.account(trace, bytesToHex(trace.key), at);
  }

  /** @param at - names the block */
  endBlock(at: string): void {
    if (this.accounts !== undefined) this.root = this.accounts.topRoot;
    for (const address of this.touched) {
      const storage = this.storages.get(address)!;
      const bound = storage.root !== undefined && storage.unconfirmed === undefined;
      ensure(
        bound,
        'STORAGE_ROOT_MISMATCH',
        at,
        `there are storage traces of ${address}, but no trace of this account`,
      );
      const { trie } = storage;
      if (trie !== undefined) this.checkUnchanged(storage, trie.topRoot, storage.root!, at, `storage of ${address}`);
    }
    for (const storage of this.storages.values()) storage.deletedRoot = undefined;
    this.touched.clear();
  }

  private storageStep(trace: StateTrace, address: string, at: string): void {
    const storage = this.storages.get(address) ?? {};
    this.storages.set(address, storage);
    if (storage.trie === undefined) {
      const start = storage.restarts === true ? schemeFormat(this.hasher.scheme).emptyRoot : storage.root;
      storage.trie = this.open(trace, start, 'STORAGE_ROOT_MISMATCH', at);
      if (start === undefined) storage.unconfirmed = storage.trie.topRoot;
    }
    this.touched.add(address);
    storage.trie.step(trace, at);
  }

  /** The trie before its first trace. @param topRoot - its expected top root, if known */
  private open(
    trace: StateTrace,
    topRoot: Uint8Array | undefined,
    fault: 'PARENT_ROOT_MISMATCH' | 'STORAGE_ROOT_MISMATCH',
    at: string,
  ): CheckedTrie {
    const { nextFreeNode, subRoot } = stateBefore(trace);
    ensure(nextFreeNode >= 0, 'NEXT_FREE_NODE_MISMATCH', at, 'is an insertion with an invalid position');
    return canonical(at, () => {
      const trie = new CheckedTrie(this.hasher, nextFreeNode, subRoot);
      // Hashed also where none is expected: whether its words are canonical shows only here.
      const found = trie.topRoot;
      const start = topRoot ?? found;
      const message = `starts from root ${bytesToHex(found)}, not from ${bytesToHex(start)}`;
      ensure(equalBytes(found, start), fault, at, message);
      return trie;
    });
  }

  /** Applies what a trace of the account trie shows about the account's storage. */
  private account(trace: StateTrace, address: string, at: string): void {
    const storage = this.storages.get(address) ?? {};
    this.storages.set(address, storage);
    if (trace.type === 'read') this.confirmStart(storage, storageRootOf(trace.value), `${at}.value`);
    else if (trace.type === 'update') this.updated(storage, trace, this.touched.has(address), at);
    else if (trace.type === 'insert') this.inserted(storage, trace, this.touched.has(address), at);
    else {
      if (trace.type === 'read-zero') {
        const none = !this.touched.has(address);
        ensure(none, 'STORAGE_ROOT_MISMATCH', at, 'has storage traces for an account that does not exist');
      }
      const value = trace.type === 'delete' ? trace.deletedValue : undefined;
      if (value !== undefined) {
        const root = storageRootOf(value);
        this.confirmStart(storage, root, `${at}.deletedValue`);
        if (storage.trie !== undefined) this.checkUnchanged(storage, storage.trie.topRoot, root, at, 'storage read');
      }
      this.storages.set(address, { restarts: true, deletedRoot: value && storageRootOf(value) });
      this.touched.delete(address);
    }
  }

  private updated(
    storage: Storage,
    trace: Extract<StateTrace, { type: 'update' }>,
    touched: boolean,
    at: string,
  ): void {
    const [oldRoot, newRoot] = [storageRootOf(trace.oldValue), storageRootOf(trace.newValue)];
    this.confirmStart(storage, oldRoot, `${at}.oldValue`);
    const expected = touched ? storage.trie!.topRoot : oldRoot;
    this.requireSameRoot(newRoot, expected, `${at}.newValue`, 'its storage root');
    storage.root = newRoot;
    if (touched) storage.restarts = false;
  }

  private inserted(
    storage: Storage,
    trace: Extract<StateTrace, { type: 'insert' }>,
    touched: boolean,
    at: string,
  ): void {
    const { emptyRoot } = schemeFormat(this.hasher.scheme);
    const root = storageRootOf(trace.value);
    if (touched) {
      this.confirmStart(storage, emptyRoot, at);
      this.requireSameRoot(root, storage.trie!.topRoot, `${at}.value`, 'its storage root');
    } else {
      // Recreated without touching a slot: the old root stays (docs/spec/state-trie.md 5.3, below the table).
      const kept = storage.deletedRoot;
      const isKept = kept !== undefined && equalBytes(root, kept);
      if (!isKept) this.requireSameRoot(root, emptyRoot, `${at}.value`, 'its storage root');
    }
    storage.root = root;
    storage.restarts = !touched;
  }

  /** Checks that the storage traces so far started from the storage root in the account's value. */
  private confirmStart(storage: Storage, root: Uint8Array, at: string): void {
    if (storage.unconfirmed !== undefined)
      this.requireSameRoot(storage.unconfirmed, root, at, 'start of the storage traces');
    storage.unconfirmed = undefined;
    storage.root = root;
  }

  /** Checks storage that was only read: its root must be the one in the account's value, or empty if it restarts. */
  private checkUnchanged(storage: Storage, found: Uint8Array, root: Uint8Array, at: string, what: string): void {
    this.requireSameRoot(
      found,
      storage.restarts === true ? schemeFormat(this.hasher.scheme).emptyRoot : root,
      at,
      what,
    );
  }

  private requireSameRoot(found: Uint8Array, expected: Uint8Array, at: string, what: string): void {
    const message = `${what}: ${bytesToHex(found)}, expected ${bytesToHex(expected)}`;
    ensure(equalBytes(found, expected), 'STORAGE_ROOT_MISMATCH', at, message);
  }
}

function storageRootOf(value: Uint8Array): AccountValue['storageRoot'] {
  return decodeAccountValue(value).storageRoot;
}

/** `nextFreeNode` and sub root of the trie before a trace, according to the trace. */
export function stateBefore(trace: StateTrace): { nextFreeNode: number; subRoot: Uint8Array } {
  switch (trace.type) {
    case 'read':
    case 'read-zero':
      return { nextFreeNode: trace.nextFreeNode, subRoot: trace.subRoot };
    case 'insert':
      return { nextFreeNode: trace.newNextFreeNode - 1, subRoot: trace.oldSubRoot };
    default:
      return { nextFreeNode: trace.newNextFreeNode, subRoot: trace.oldSubRoot };
  }
}

/** One trie while its traces are checked: its current root, and the nodes shown by earlier traces. */
class CheckedTrie {
  private readonly nodes: WitnessNodes;

  constructor(
    private readonly hasher: Hasher,
    private nextFreeNode: number,
    subRoot: Uint8Array,
  ) {
    this.nodes = WitnessNodes.under(hasher, subRoot);
  }

  get topRoot(): Uint8Array {
    return this.hasher.hash(encodeTop(this.hasher.scheme, this.nextFreeNode, this.nodes.subRoot));
  }

  /**
   * Checks the next trace of this trie and applies its writes.
   *
   * @param at - names the trace in the verdict
   * @throws TraceRefusal
   * @source docs/spec/state-trie.md 10
   */
  step(trace: StateTrace, at: string): void {
    const before = stateBefore(trace);
    const freeAt = 'nextFreeNode' in trace ? `${at}.nextFreeNode` : `${at}.newNextFreeNode`;
    const continues = before.nextFreeNode === this.nextFreeNode;
    ensure(continues, 'NEXT_FREE_NODE_MISMATCH', freeAt, `should continue from ${this.nextFreeNode}`);
    const rootAt = 'subRoot' in trace ? `${at}.subRoot` : `${at}.oldSubRoot`;
    const root = equalBytes(before.subRoot, this.nodes.subRoot);
    ensure(root, 'SUB_ROOT_MISMATCH', rootAt, 'does not continue from the current sub root');
    const hkey = traceKeyHash(this.hasher, trace);
    if (trace.type === 'read') this.read(trace, hkey, at);
    else if (trace.type === 'read-zero') this.readZero(trace, hkey, at);
    else {
      if (trace.type === 'insert') this.insert(trace, hkey, at);
      else if (trace.type === 'update') this.update(trace, hkey, at);
      else this.remove(trace, hkey, at);
      const same = equalBytes(trace.newSubRoot, this.nodes.subRoot);
      ensure(same, 'NEW_SUB_ROOT_MISMATCH', `${at}.newSubRoot`, 'does not result from the writes');
    }
  }

  private read(trace: ReadStep, hkey: Uint8Array, at: string): void {
    this.holds(trace.leaf, hkey, `${at}.leaf`);
    this.isValue(trace.leaf, trace.value, `${at}.value`);
    this.branch(trace.leaf, trace.proof, `${at}.proof`);
  }

  private readZero(trace: ReadZeroStep, hkey: Uint8Array, at: string): void {
    adjacent(trace.leftLeaf, trace.leftProof, trace.rightLeaf, trace.rightProof, at);
    between(trace.leftLeaf, hkey, trace.rightLeaf, at);
    this.branch(trace.leftLeaf, trace.leftProof, `${at}.leftProof`);
    this.branch(trace.rightLeaf, trace.rightProof, `${at}.rightProof`);
  }

  private update(trace: UpdateStep, hkey: Uint8Array, at: string): void {
    const { priorUpdatedLeaf: prior, proof } = trace;
    this.holds(prior, hkey, `${at}.priorUpdatedLeaf`);
    this.isValue(prior, trace.oldValue, `${at}.oldValue`);
    this.branch(prior, proof, `${at}.proof`);
    this.write(proof, { ...prior, hval: this.valueHash(trace.newValue, `${at}.newValue`) });
  }

  private insert(trace: InsertStep, hkey: Uint8Array, at: string): void {
    const { priorLeftLeaf: left, priorRightLeaf: right, leftProof, newProof, rightProof } = trace;
    const position = newProof.leafIndex;
    const isFree = position === this.nextFreeNode;
    ensure(isFree, 'LEAF_INDEX_MISMATCH', `${at}.newProof.leafIndex`, `should be ${this.nextFreeNode}`);
    adjacent(left, leftProof, right, rightProof, at);
    between(left, hkey, right, at);
    const hval = this.valueHash(trace.value, `${at}.value`);
    this.branch(left, leftProof, `${at}.leftProof`);
    this.write(leftProof, { ...left, nextLeaf: position });
    this.branch(undefined, newProof, `${at}.newProof`);
    this.write(newProof, { prevLeaf: leftProof.leafIndex, nextLeaf: rightProof.leafIndex, hkey, hval });
    this.branch(right, rightProof, `${at}.rightProof`);
    this.write(rightProof, { ...right, prevLeaf: position });
    this.nextFreeNode = position + 1;
  }

  private remove(trace: DeleteStep, hkey: Uint8Array, at: string): void {
    const { priorLeftLeaf: left, priorDeletedLeaf: deleted, priorRightLeaf: right } = trace;
    const { leftProof, deletedProof, rightProof } = trace;
    this.holds(deleted, hkey, `${at}.priorDeletedLeaf`);
    if (trace.deletedValue !== undefined) this.isValue(deleted, trace.deletedValue, `${at}.deletedValue`);
    adjacent(left, leftProof, deleted, deletedProof, at);
    adjacent(deleted, deletedProof, right, rightProof, at);
    between(left, hkey, right, at);
    this.branch(left, leftProof, `${at}.leftProof`);
    this.write(leftProof, { ...left, nextLeaf: rightProof.leafIndex });
    this.branch(deleted, deletedProof, `${at}.deletedProof`);
    this.write(deletedProof, undefined);
    this.branch(right, rightProof, `${at}.rightProof`);
    this.write(rightProof, { ...right, prevLeaf: leftProof.leafIndex });
  }

  private holds(leaf: LeafOpening, hkey: Uint8Array, at: string): void {
    ensure(equalBytes(leaf.hkey, hkey), 'KEY_MISMATCH', `${at}.hkey`, 'is not the hash of the key');
  }

  private isValue(leaf: LeafOpening, value: Uint8Array, at: string): void {
    const same = equalBytes(leaf.hval, this.valueHash(value, at));
    ensure(same, 'VALUE_MISMATCH', at, 'does not match the hash in the leaf');
  }

  private branch(leaf: LeafOpening | undefined, { leafIndex, siblings }: BranchProof, at: string): void {
    canonical(at, () => {
      try {
        this.nodes.learn(leafIndex, this.leafHash(leaf), siblings);
      } catch (error) {
        if (!isPlumblineError(error, 'WITNESS_CONFLICT')) throw error;
        throw new TraceRefusal('BRANCH_MISMATCH', at, error.details.reason);
      }
    });
  }

  private write(proof: BranchProof, leaf: LeafOpening | undefined): void {
    this.nodes.write(proof.leafIndex, this.leafHash(leaf));
  }

  private valueHash(value: Uint8Array, at: string): Uint8Array {
    return canonical(at, () => traceValueHash(this.hasher, value));
  }

  private leafHash(leaf: LeafOpening | undefined): Uint8Array {
    return leaf === undefined ? ZERO_HASH : this.hasher.hash(encodeLeaf(this.hasher.scheme, leaf));
  }
}

function adjacent(left: LeafOpening, leftProof: BranchProof, right: LeafOpening, rightProof: BranchProof, at: string) {
  const linkedForward = left.nextLeaf === rightProof.leafIndex;
  ensure(linkedForward, 'LEAF_LINK_BROKEN', at, `leaf ${leftProof.leafIndex} does not link to ${rightProof.leafIndex}`);
  const linkedBack = right.prevLeaf === leftProof.leafIndex;
  ensure(
    linkedBack,
    'LEAF_LINK_BROKEN',
    at,
    `leaf ${rightProof.leafIndex} does not link back to ${leftProof.leafIndex}`,
  );
}

function between(left: LeafOpening, hkey: Uint8Array, right: LeafOpening, at: string): void {
  const inOrder = compareBytes(left.hkey, hkey) < 0 && compareBytes(hkey, right.hkey) < 0;
  ensure(inOrder, 'LEAF_ORDER_BROKEN', at, 'the key is not between its neighbours');
}

/** Runs `body`. @throws TraceRefusal `NOT_CANONICAL` when a word to hash is not canonical */
function canonical<Result>(at: string, body: () => Result): Result {
  try {
    return body();
  } catch (error) {
    if (!isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) throw error;
    throw new TraceRefusal('NOT_CANONICAL', at, 'a word is not below the modulus of the hash');
  }
}

/** The valid sequences of traces of one account in a block: missing, read, updated, created, deleted, recreated. */
const PATTERN = /^(Z|R[rz]*|[rz]*[iud]*U|i*I|[rz]*D|[rz]*Di*I)$/;

/** One letter per type; capitals stand for the account trie. */
const LETTERS: Readonly<Record<StateTrace['type'], string>> = {
  read: 'r',
  'read-zero': 'z',
  insert: 'i',
  update: 'u',
  delete: 'd',
};

/**
 * Checks that the traces of a block are in the order of block application: accounts by ascending `hkey`; the traces of
 * each account together and in one of six patterns; slots by ascending `hkey` among reads and among writes.
 *
 * @param at - names the block in the verdict
 * @throws TraceRefusal `PATTERN_BROKEN`
 * @source docs/spec/state-trie.md 5.3 and 10
 */
function checkOrder(hasher: Hasher, traces: readonly StateTrace[], at: string): void {
  const groups: { address: Uint8Array; first: number; traces: StateTrace[] }[] = [];
  for (const [first, trace] of traces.entries()) {
    const address = trace.location ?? trace.key;
    const group = groups.at(-1);
    if (group !== undefined && equalBytes(group.address, address)) group.traces.push(trace);
    else groups.push({ address, first, traces: [trace] });
  }
  let prior: Uint8Array | undefined;
  for (const group of groups) {
    const place = `${at}[${group.first}]`;
    const hkey = traceKeyHash(hasher, { location: undefined, key: group.address });
    const ascending = prior === undefined || compareBytes(prior, hkey) < 0;
    ensure(ascending, 'PATTERN_BROKEN', place, `account ${bytesToHex(group.address)} is out of order`);
    prior = hkey;
    const letters = group.traces.map(letterOf).join('');
    ensure(
      PATTERN.test(letters),
      'PATTERN_BROKEN',
      place,
      `the traces of an account, ${letters}, do not match a known pattern`,
    );
    checkSlots(hasher, group.traces, (i) => `${at}[${group.first + i}]`);
  }
}

function letterOf({ type, location }: StateTrace): string {
  return location === undefined ? LETTERS[type].toUpperCase() : LETTERS[type];
}

function checkSlots(hasher: Hasher, traces: readonly StateTrace[], place: (i: number) => string): void {
  const isRead = ({ type }: StateTrace) => type === 'read' || type === 'read-zero';
  for (let i = 1; i < traces.length; i++) {
    const [before, after] = [traces[i - 1]!, traces[i]!];
    if (before.location === undefined || after.location === undefined || isRead(before) !== isRead(after)) continue;
    const order = compareBytes(traceKeyHash(hasher, before), traceKeyHash(hasher, after));
    // A slot that was cleared in between is removed, then written again.
    const again = order === 0 && before.type === 'delete' && after.type === 'insert';
    ensure(order < 0 || again, 'PATTERN_BROKEN', place(i), 'the slot is out of order');
  }
}
