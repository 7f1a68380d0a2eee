/**
 * Opening a zk state: an empty one, or the one that is stored. A stored one is loaded leaf by leaf into the kernel, and every root is
 * computed anew and compared with what is stored.
 */

import { decodeAccountValue } from '../accumulator/account-value.js';
import { hashAccountValue, hashWord } from '../accumulator/keys.js';
import { isPlumblineError, messageOf, PlumblineError } from '../errors.js';
import type { Hasher, HashScheme, KernelOptions } from '../kernel/contracts.js';
import { loadZkKernels, type TrieKernel } from '../kernel/trie.js';
import { equalBytes } from '../primitives/bytes.js';
import { buildPage } from './dirty-pages.js';
import { openWorldState } from './open-world-state.js';
import {
  ACCOUNT_TRIE,
  blockCount,
  isEmptyRoot,
  LEAF_LEVELS,
  type PageId,
  PageReader,
  type PageSource,
  pageCorrupt,
  pageKey,
  pagesOf,
  ROOT,
  readLeaves,
  readNextFreeNode,
  type StoredLeaf,
  topLevel,
} from './page-format.js';
import { requireStoredState, storedState } from './paged-state.js';
import { AccountRecord, type SlotTrie, SlotValues, StateTries } from './state-tries.js';
import type { WorldState } from './world-state.js';

/** How a zk state is opened. `build` and `wasm` choose the trie module (`plumbline-l2/kernel/trie.simd.wasm`). */
export interface StateOptions extends KernelOptions, LoadOptions {
  /** `mimc` for blocks before Linea changed the format of its state, `poseidon2` for later blocks. */
  readonly scheme: HashScheme;
  /**
   * Where the state is stored. A stored state is loaded and checked. If nothing is stored, the state begins empty. Without this
   * option, the state begins empty and cannot be stored (`takePages` throws).
   */
  readonly pages?: PageSource;
}

/**
 * Opens a zk state in memory: the stored one, or an empty one. Its memory is in WebAssembly, and is freed with the object.
 *
 * @returns the state. You can apply blocks to it, read it, and make proofs
 * @throws PlumblineError `KERNEL_UNAVAILABLE` when WebAssembly does not load; `STORE_CORRUPT` for a missing or damaged page, a
 *   root or value that does not fit, a state of the other scheme; `STORE_TOO_NEW`; `ABORTED`; `KERNEL_OUT_OF_MEMORY`; what
 *   `pages` throws
 * @source docs/spec/state-trie.md 2 to 5
 *
 * @example
 * ```ts
 * import { hexToBytes, openState } from 'plumbline-l2/state';
 *
 * const state = await openState({ scheme: 'poseidon2' });
 * const address = hexToBytes('0x2400000000000000000000000000000000000000');
 * const after = { nonce: 65n, balance: 835n };
 * state.applyBlock(0, [{ address, after, destroyed: false, slots: [] }]);
 * state.account(0, address)?.balance; // => 835n
 * ```
 */
export async function openState(options: StateOptions): Promise<WorldState> {
  const { scheme, pages, check: _check, onProgress: _onProgress, signal: _signal, ...kernelOptions } = options;
  const { hasher, kernel } = await loadZkKernels(scheme, { ...kernelOptions, undo: true, nodes: true });
  if (pages === undefined || (await storedState(pages)) === undefined) {
    return openWorldState(hasher, kernel, { pages: pages !== undefined });
  }
  return loadWorldState(hasher, kernel, pages, options);
}

/** Number of pages read at once. */
const BATCH = 64;

/** Options for loading a stored state. */
export interface LoadOptions {
  /**
   * `sampled` (default): every root is computed and compared, and one value of each leaf page is hashed and compared. `full`: every
   * value is hashed and compared, and each stored page is compared with the page that the loaded state would write.
   */
  readonly check?: 'sampled' | 'full';
  /** Called with the number of account positions that are loaded with their storage, and the total. */
  readonly onProgress?: (loaded: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Loads a stored state into the kernel. The stored block is the first held block; further blocks are applied on top of
 * it. After an error the kernel is empty.
 *
 * @param hasher - of the scheme of the stored state
 * @param kernel - as for `openWorldState`
 * @throws PlumblineError `STORE_CORRUPT` for a missing or damaged page, a root or value that does not match, no stored
 *   state or one of the other scheme; `STORE_TOO_NEW`; `ABORTED`; `KERNEL_OUT_OF_MEMORY`. Errors of the source are
 *   passed on.
 */
export async function loadWorldState(
  hasher: Hasher,
  kernel: TrieKernel,
  source: PageSource,
  options: LoadOptions = {},
): Promise<WorldState> {
  const { block, root } = await requireStoredState(hasher.scheme, source);
  const loader = new StateLoader(new StateTries(hasher, kernel), source, options);
  try {
    await loader.load(root);
    if (options.check === 'full') await loader.comparePages();
  } catch (error) {
    loader.dropAll();
    throw error;
  }
  return openWorldState(hasher, kernel, { pages: true, start: { block, tries: loader.tries } });
}

/** A page and the trie it belongs to. */
interface PageRef {
  readonly trie: number;
  readonly page: PageId;
}

class StateLoader {
  private readonly storages: SlotTrie[] = [];

  constructor(
    readonly tries: StateTries,
    private readonly source: PageSource,
    private readonly options: LoadOptions,
  ) {}

  async load(root: Uint8Array): Promise<void> {
    const { accounts, kernel } = this.tries;
    const nextFreeNode = await this.loadTrie(ACCOUNT_TRIE, accounts, async (leaves) => {
      const withStorage: number[] = [];
      for (const { position, stored } of leaves) {
        if (stored === undefined) continue;
        const { value, hasStorage, storageRestarts } = stored;
        const storage = hasStorage ? this.startStorage() : undefined;
        this.tries.records.set(position, new AccountRecord(value, storage, storageRestarts));
        if (hasStorage) withStorage.push(position);
        else this.checkRoot(position, undefined);
      }
      await this.loadStorages(withStorage);
      kernel.commit();
      this.tries.discardUndo();
      for (const position of withStorage) this.checkRoot(position, this.tries.records.get(position)!.storage);
      const last = leaves.at(-1)?.position ?? 0;
      this.options.onProgress?.(last + 1, kernel.nextFreeNode(accounts));
    });
    if (!equalBytes(kernel.topRoot(accounts), root))
      throw pageCorrupt(pageKey(ACCOUNT_TRIE, ROOT), 'the loaded state has another root than the stored header');
    this.options.onProgress?.(nextFreeNode, nextFreeNode);
  }

  /** Compares every stored page with the page that the loaded state would write. */
  async comparePages(): Promise<void> {
    const { kernel, accounts, records } = this.tries;
    const tries = [...records].flatMap(([position, { storage }]) => (storage ? [{ position, ...storage }] : []));
    await this.comparePagesOf(ACCOUNT_TRIE, kernel.nextFreeNode(accounts));
    for (const { position, handle } of tries) await this.comparePagesOf(position, kernel.nextFreeNode(handle));
  }

  dropAll(): void {
    const { kernel, accounts } = this.tries;
    for (const { handle } of this.storages) kernel.dropTrie(handle);
    kernel.dropTrie(accounts);
    this.tries.discardUndo();
  }

  private startStorage(): SlotTrie {
    const storage: SlotTrie = { handle: this.tries.kernel.createTrie(), values: new SlotValues() };
    this.storages.push(storage);
    return storage;
  }

  private async loadStorages(positions: readonly number[]): Promise<void> {
    for (let at = 0; at < positions.length; at += BATCH) {
      const batch = positions.slice(at, at + BATCH);
      const roots = await this.read(batch.map((trie) => ({ trie, page: ROOT })));
      for (const [i, position] of batch.entries()) {
        const { handle, values } = this.tries.records.get(position)!.storage!;
        const keep = (leaves: readonly StoredLeaf[]) => {
          for (const { position: slot, stored } of leaves) if (stored !== undefined) values.set(slot, stored.value);
        };
        await this.loadTrie(position, handle, keep, roots[i]!);
      }
    }
  }

  /** Loads the leaves of a trie. @returns its `nextFreeNode` */
  private async loadTrie(
    trie: number,
    handle: number,
    onLeaves: (leaves: readonly StoredLeaf[]) => Promise<void> | void,
    rootPage?: PageReader,
  ): Promise<number> {
    const root = rootPage ?? (await this.read([{ trie, page: ROOT }]))[0]!;
    const nextFreeNode = readNextFreeNode(root);
    const take = async (pages: readonly PageReader[], first: number) => {
      const leaves = pages.flatMap((page, i) => {
        const inPage = readLeaves(page, trie, nextFreeNode, first + i);
        this.putLeaves(page.key, trie, handle, inPage);
        return inPage;
      });
      await onLeaves(leaves);
    };
    corruptIfRefused(root.key, () => this.tries.kernel.setNextFreeNode(handle, nextFreeNode));
    if (topLevel(nextFreeNode) === LEAF_LEVELS) {
      await take([root], 0);
      return nextFreeNode;
    }
    const blocks = blockCount(nextFreeNode, LEAF_LEVELS);
    for (let first = 0; first < blocks; first += BATCH) {
      const count = Math.min(BATCH, blocks - first);
      const pageRefs = Array.from({ length: count }, (_, i): PageRef => {
        return { trie, page: { kind: 'block', level: LEAF_LEVELS, index: first + i } };
      });
      await take(await this.read(pageRefs), first);
    }
    return nextFreeNode;
  }

  /** Puts leaves into the kernel and checks values: all, or a random one. */
  private putLeaves(key: string, trie: number, handle: number, leaves: readonly StoredLeaf[]): void {
    const { kernel, hasher } = this.tries;
    const hash = trie === ACCOUNT_TRIE ? hashAccountValue : hashWord;
    const withValue = leaves.filter(({ stored }) => stored !== undefined);
    const sample = withValue[Math.floor(Math.random() * withValue.length)];
    corruptIfRefused(key, () => {
      for (const { position, leaf } of leaves) kernel.setLeaf(handle, position, leaf);
      for (const { position, leaf, stored } of this.options.check === 'full' ? withValue : sample ? [sample] : []) {
        if (equalBytes(hash(hasher, stored!.value), leaf.hval)) continue;
        throw pageCorrupt(key, `the value at position ${position} does not match its hash`);
      }
    });
  }

  private checkRoot(position: number, storage: SlotTrie | undefined): void {
    const { storageRoot } = decodeAccountValue(this.tries.records.get(position)!.value);
    const fits =
      storage === undefined
        ? isEmptyRoot(this.tries.hasher.scheme, storageRoot)
        : equalBytes(storageRoot, this.tries.topRoot(storage));
    if (!fits) throw pageCorrupt(pageKey(position, ROOT), 'the loaded storage has another root than the account');
  }

  private async comparePagesOf(trie: number, nextFreeNode: number): Promise<void> {
    const pages = [...pagesOf(nextFreeNode)].map((page) => ({ trie, page, key: pageKey(trie, page) }));
    for (let at = 0; at < pages.length; at += BATCH) {
      this.throwIfAborted();
      const batch = pages.slice(at, at + BATCH);
      const stored = await this.source.getMany(batch.map(({ key }) => key));
      for (const [i, { page, key }] of batch.entries()) {
        const held = stored[i];
        if (held === undefined) throw pageCorrupt(key, 'missing');
        if (!equalBytes(held, buildPage(this.tries, trie, page)))
          throw pageCorrupt(key, 'does not follow from the leaves');
      }
    }
  }

  private async read(pageRefs: readonly PageRef[]): Promise<PageReader[]> {
    this.throwIfAborted();
    const keys = pageRefs.map(({ trie, page }) => pageKey(trie, page));
    const pages = await this.source.getMany(keys);
    return keys.map((key, i) => new PageReader(key, pages[i]));
  }

  private throwIfAborted(): void {
    if (this.options.signal?.aborted) throw new PlumblineError('ABORTED', 'loading the state was aborted', {});
  }
}

/** If the kernel or the hasher refuses data, the stored data is damaged. */
function corruptIfRefused(key: string, load: () => void): void {
  try {
    load();
  } catch (error) {
    if (isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL') || isPlumblineError(error, 'OUT_OF_RANGE')) {
      throw pageCorrupt(key, messageOf(error), error);
    }
    throw error;
  }
}
