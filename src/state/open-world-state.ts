import { decodeAccountValue } from '../accumulator/account-value.js';
import { ZERO_HASH } from '../accumulator/scheme.js';
import { invalidParameter, PlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import type { TrieKernel } from '../kernel/trie.js';
import { copyBytes } from '../primitives/bytes.js';
import { applyChanges } from './block-application.js';
import { DirtyPages } from './dirty-pages.js';
import { KeyHashes } from './hash-cache.js';
import { applyChangesTraced } from './kernel-traces.js';
import {
  type AccountRecord,
  type BlockUndo,
  pastState,
  presentState,
  proveAccount,
  StateTries,
  type StateView,
} from './state-tries.js';
import type { WorldState } from './world-state.js';

/** Maximum number of views of past blocks, kept until the next block. */
const MAX_VIEWS = 16;

/** The state after one block, and the undo record to the block before. */
interface Held {
  readonly block: number;
  readonly root: Uint8Array;
  readonly nextFreeNode: number;
  readonly undo: BlockUndo;
}

const NO_CHANGES: BlockUndo = {
  tries: new Uint8Array(),
  nodes: new Uint8Array(),
  accounts: new Map(),
  slots: new Map(),
  created: [],
  retired: [],
};

/** Options of a world state. */
export interface WorldStateOptions {
  /** Track changed pages for `takePages`. Default false. */
  readonly pages?: boolean;
  /** Start from this state, whose pages are stored already; see `loadWorldState`. */
  readonly start?: { readonly block: number; readonly tries: StateTries };
}

/**
 * Opens a zk state, empty at first. Its tries are in the kernel's memory once; earlier blocks are read through undo
 * records.
 *
 * @param hasher - of the scheme
 * @param kernel - not shared, of the same scheme, with the options `undo` and `nodes`
 * @throws PlumblineError `INVALID_PARAMETER` for another kernel
 */
export function openWorldState(hasher: Hasher, kernel: TrieKernel, options: WorldStateOptions = {}): WorldState {
  const { start, pages = false } = options;
  const tries = start?.tries ?? new StateTries(hasher, kernel);
  const dirty = pages ? new DirtyPages(tries, start !== undefined) : undefined;
  const keys = new KeyHashes(hasher);
  const emptyRoot = kernel.topRoot(tries.accounts);
  const present = presentState(tries);
  const views = new Map<number, StateView>();
  // Oldest first, with consecutive numbers.
  const held: Held[] = [];
  if (start !== undefined) hold(start.block, tries.seal());

  function indexOf(block: number): number {
    const index = block - (held[0]?.block ?? 0);
    if (held[index] === undefined) {
      throw new PlumblineError(
        'STATE_NOT_HELD',
        `the state after block ${block} is not held; ask for a block from oldest to head`,
        { block },
      );
    }
    return index;
  }

  function viewAt(block: number): StateView {
    const index = indexOf(block);
    if (index === held.length - 1) return present;
    let view = views.get(block);
    if (view === undefined) {
      view = pastState(
        tries,
        held.slice(index + 1).map(({ undo }) => undo),
      );
      if (views.size >= MAX_VIEWS) views.clear();
      views.set(block, view);
    }
    return view;
  }

  function record(view: StateView, address: Uint8Array): AccountRecord | undefined {
    const found = view.tries.find(tries.accounts, keys.hashedAddress(address).hkey);
    return found.present ? view.record(found.position) : undefined;
  }

  /** Applies a block by `write`, seals it and makes it the newest. After an error the tries are as before. */
  function apply<Result>(block: number, write: () => Result): { root: Uint8Array; result: Result } {
    const expected = (held.at(-1)?.block ?? block - 1) + 1;
    if (block !== expected || !Number.isSafeInteger(block) || block < 0) {
      const details = { what: 'block', expected: String(expected), actual: String(block) };
      throw new PlumblineError('STATE_MISMATCH', `the next block is ${expected}, not ${block}`, details);
    }
    let result: Result;
    let undo: BlockUndo;
    try {
      result = write();
      undo = tries.seal();
    } catch (error) {
      tries.abort();
      throw error;
    }
    views.clear();
    dirty?.mark(undo);
    return { root: hold(block, undo).slice(), result };
  }

  /** @returns the root after the block */
  function hold(block: number, undo: BlockUndo): Uint8Array {
    const root = kernel.topRoot(tries.accounts);
    held.push({ block, root, nextFreeNode: kernel.nextFreeNode(tries.accounts), undo });
    if (held.length === 1) dropOldestUndo();
    return root;
  }

  /** Drops the undo record of the oldest held block, and the tries that this block retired. */
  function dropOldestUndo(): void {
    const oldest = held[0]!;
    tries.release(oldest.undo);
    held[0] = { ...oldest, undo: NO_CHANGES };
  }

  return {
    scheme: hasher.scheme,

    get head() {
      return held.at(-1)?.block;
    },

    get oldest() {
      return held[0]?.block;
    },

    root(block) {
      const at = block === undefined ? held.at(-1) : held[indexOf(block)];
      return (at?.root ?? emptyRoot).slice();
    },

    nextFreeNode(block) {
      const at = block === undefined ? held.at(-1) : held[indexOf(block)];
      return at?.nextFreeNode ?? kernel.nextFreeNode(tries.accounts);
    },

    applyBlock: (block, changes, onProgress) => apply(block, () => applyChanges(tries, keys, changes, onProgress)).root,

    applyBlockTraced(block, changes) {
      const { root, result: traces } = apply(block, () => applyChangesTraced(tries, keys, changes));
      return { root, traces };
    },

    revertTo(block) {
      const index = indexOf(block);
      views.clear();
      while (held.length > index + 1) {
        const { undo } = held.at(-1)!;
        dirty?.mark(undo);
        tries.undo(undo);
        held.pop();
      }
    },

    releaseBefore(block) {
      const older = held.findIndex((state, i) => state.block >= block || i === held.length - 1);
      if (older <= 0) return;
      for (const { undo } of held.splice(0, older)) tries.release(undo);
      dropOldestUndo();
    },

    takePages() {
      if (dirty === undefined) {
        throw invalidParameter('pages', 'open the state with the option `pages` to take pages');
      }
      const head = held.at(-1);
      return head === undefined ? { puts: [], deletes: [] } : dirty.take(head.block, head.root);
    },

    account(block, address) {
      const found = record(viewAt(block), address);
      return found && decodeAccountValue(found.value);
    },

    slot(block, address, key) {
      const view = viewAt(block);
      const storage = record(view, address)?.storage;
      const { hkey } = keys.hashedSlots([key])[0]!;
      if (storage === undefined) return ZERO_HASH.slice();
      const found = view.tries.find(storage.handle, hkey);
      return copyBytes(found.present ? view.slotValue(storage, found.position)! : ZERO_HASH);
    },

    prove(block, address, storageKeys) {
      return proveAccount(
        hasher.scheme,
        viewAt(block),
        tries.accounts,
        keys.hashedAddress(address),
        keys.hashedSlots(storageKeys),
      );
    },
  };
}
