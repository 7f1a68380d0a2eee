import { type AccountValue, decodeAccountValue } from '../../accumulator/account-value.js';
import { schemeFormat } from '../../accumulator/scheme.js';
import type { Hasher } from '../../kernel/contracts.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { StateTrace } from '../trace.js';
import { CheckedTrie, canonical, stateBefore } from './trace-check-trie.js';
import { checkOrder } from './trace-order.js';
import { ensure, type TraceFailure, TraceRefusal } from './trace-verdict.js';

/** Result for valid traces. */
export interface TracesVerified {
  readonly verified: true;
  /** State root after each block, 32 bytes. */
  readonly blockRoots: readonly Uint8Array[];
}

/** Options of `checkTraces`. */
export interface TraceCheckOptions {
  /**
   * Also require the traces of a block in the order of block application (docs/spec/state-trie.md 5.3 and the patterns of
   * 10). Default false: traces of single operations pass too.
   */
  readonly order?: boolean;
}

/**
 * Checks that the traces of consecutive blocks lead from one state root to the next: every branch, link and value, the
 * order of keys, and that the storage of each account starts and ends at the roots in the account's values.
 *
 * This shows that the writes lead to these roots, not that the EVM made these writes.
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
