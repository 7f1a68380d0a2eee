import { type AccountValue, decodeAccountValue } from '../../accumulator/account-value.js';
import { encodeTop } from '../../accumulator/leaf-opening.js';
import { schemeFormat } from '../../accumulator/scheme.js';
import type { Hasher } from '../../kernel/contracts.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { StateTrace } from '../trace.js';
import { CheckedTrie, canonical, stateBefore } from './trace-check-trie.js';
import { checkOrder } from './trace-order.js';
import { ensure, type TraceFailure, TraceRefusal } from './trace-verdict.js';

/** Traces that hold, and where they lead. */
export interface TracesVerified {
  readonly verified: true;
  /** State root after each block, 32 bytes. */
  readonly blockRoots: readonly Uint8Array[];
}

/** How strictly traces are checked. */
export interface TraceCheckOptions {
  /**
   * Also require the traces of a block to come in the order of block application (docs/spec/state-trie.md 5.3 and the
   * patterns of 10). Left out: no; lists of single tree operations pass too.
   */
  readonly order?: boolean;
}

/**
 * Checks that the traces of consecutive blocks lead from one state root to others: every branch, link and value, the
 * order of keys, and that the storage of each account starts and ends where its values say.
 *
 * It shows that the writes lead there, not that they are what the EVM did.
 *
 * @param parentRoot - state root before the first block, 32 bytes
 * @param blocks - traces by block; a block may have none
 * @source docs/spec/state-trie.md 10
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

/** What is known of one account's storage. */
interface Storage {
  trie?: CheckedTrie;
  /** Top root where the traces of this block found it, until an account value confirms it. */
  unconfirmed?: Uint8Array | undefined;
  /** By the newest account value. */
  root?: Uint8Array | undefined;
  /** The account was deleted, or created anew: the storage starts empty. */
  restarts?: boolean;
  /** By the value that was deleted in this block. */
  deletedRoot?: Uint8Array | undefined;
}

class CheckedState {
  /** State root so far. */
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
      ensure(bound, 'STORAGE_ROOT_MISMATCH', at, `no trace shows the account ${address} of these storage traces`);
      const { trie } = storage;
      if (trie !== undefined) this.agrees(storage, trie.topRoot, storage.root!, at, `storage of ${address}`);
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

  /** The tree before its first trace; `topRoot` is what it has to be, where that is known. */
  private open(
    trace: StateTrace,
    topRoot: Uint8Array | undefined,
    fault: 'PARENT_ROOT_MISMATCH' | 'STORAGE_ROOT_MISMATCH',
    at: string,
  ): CheckedTrie {
    const { nextFreeNode, subRoot } = stateBefore(trace);
    ensure(nextFreeNode >= 0, 'NEXT_FREE_NODE_MISMATCH', at, 'is an insertion that leaves no position');
    if (topRoot !== undefined) {
      const found = canonical(at, () => this.hasher.hash(encodeTop(this.hasher.scheme, nextFreeNode, subRoot)));
      const start = bytesToHex(topRoot);
      ensure(equalBytes(found, topRoot), fault, at, `starts at ${bytesToHex(found)}, not at ${start}`);
    }
    return canonical(at, () => new CheckedTrie(this.hasher, nextFreeNode, subRoot));
  }

  /** What a trace of the account tree says about the account's storage. */
  private account(trace: StateTrace, address: string, at: string): void {
    const storage = this.storages.get(address) ?? {};
    this.storages.set(address, storage);
    if (trace.type === 'read') this.bind(storage, storageRootOf(trace.value), `${at}.value`);
    else if (trace.type === 'update') this.updated(storage, trace, this.touched.has(address), at);
    else if (trace.type === 'insert') this.inserted(storage, trace, this.touched.has(address), at);
    else {
      if (trace.type === 'read-zero') {
        const none = !this.touched.has(address);
        ensure(none, 'STORAGE_ROOT_MISMATCH', at, 'has storage traces of an account that is missing');
      }
      const value = trace.type === 'delete' ? trace.deletedValue : undefined;
      if (value !== undefined) {
        const root = storageRootOf(value);
        this.bind(storage, root, `${at}.deletedValue`);
        if (storage.trie !== undefined) this.agrees(storage, storage.trie.topRoot, root, at, 'storage read');
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
    this.bind(storage, oldRoot, `${at}.oldValue`);
    const expected = touched ? storage.trie!.topRoot : oldRoot;
    this.same(newRoot, expected, `${at}.newValue`, 'its storage root');
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
      this.bind(storage, emptyRoot, at);
      this.same(root, storage.trie!.topRoot, `${at}.value`, 'its storage root');
    } else {
      // Recreated without a slot being touched: the old root stays (docs/spec/state-trie.md 5.3, below the table).
      const kept = storage.deletedRoot;
      const isKept = kept !== undefined && equalBytes(root, kept);
      if (!isKept) this.same(root, emptyRoot, `${at}.value`, 'its storage root');
    }
    storage.root = root;
    storage.restarts = !touched;
  }

  /** The account's value names the storage root that the storage traces so far have started from. */
  private bind(storage: Storage, root: Uint8Array, at: string): void {
    if (storage.unconfirmed !== undefined) this.same(storage.unconfirmed, root, at, 'start of the storage traces');
    storage.unconfirmed = undefined;
    storage.root = root;
  }

  /** Storage that was only read is still where the account's value says, or empty where it starts over. */
  private agrees(storage: Storage, found: Uint8Array, root: Uint8Array, at: string, what: string): void {
    this.same(found, storage.restarts === true ? schemeFormat(this.hasher.scheme).emptyRoot : root, at, what);
  }

  private same(found: Uint8Array, expected: Uint8Array, at: string, what: string): void {
    const message = `${what}: ${bytesToHex(found)}, expected ${bytesToHex(expected)}`;
    ensure(equalBytes(found, expected), 'STORAGE_ROOT_MISMATCH', at, message);
  }
}

function storageRootOf(value: Uint8Array): AccountValue['storageRoot'] {
  return decodeAccountValue(value).storageRoot;
}
