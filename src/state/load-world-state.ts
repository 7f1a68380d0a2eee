import { decodeAccountValue } from '../accumulator/account-value.js';
import { hashAccountValue, hashWord } from '../accumulator/keys.js';
import { isPlumblineError, messageOf, PlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import type { TrieKernel } from '../kernel/trie-contract.js';
import { equalBytes } from '../primitives/bytes.js';
import { openWorldState } from './open-world-state.js';
import type { PageSource } from './page-source.js';
import { buildPage } from './pages/build-page.js';
import {
  ACCOUNT_TRIE,
  blockCount,
  LEAF_LEVELS,
  type PageId,
  pageKey,
  pagesOf,
  ROOT,
  topLevel,
} from './pages/geometry.js';
import { mustBeStored } from './pages/open-paged-state.js';
import { PageReader, pageCorrupt } from './pages/page-codec.js';
import { isEmptyRoot, readLeaves, readNextFreeNode, type StoredLeaf } from './pages/page-content.js';
import { type AccountRecord, type SlotTrie, StateTries } from './tries/state-tries.js';
import type { WorldState } from './world-state.js';

/** Pages read at once. */
const BATCH = 64;

/** How a stored state is loaded and checked. */
export interface LoadOptions {
  /**
   * `sampled` (when left out): every root is computed and compared, one value of each leaf page is hashed and compared.
   * `full`: every value is, and every page that the loaded state would write is compared with the stored one.
   */
  readonly check?: 'sampled' | 'full';
  /** Account positions that are loaded with their storage, and how many there are. */
  readonly onProgress?: (loaded: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Loads a stored state into the kernel. The stored block is the first held one; further blocks are applied on top of it.
 * After an error nothing is left in the kernel.
 *
 * @param hasher - of the scheme of the stored state
 * @param kernel - as `openWorldState`
 * @throws PlumblineError `STORE_CORRUPT` for a missing or damaged page, a root or value that does not fit, no stored state
 *   or one of the other scheme; `STORE_TOO_NEW`; `ABORTED`; `KERNEL_OUT_OF_MEMORY`. Errors of the source are passed on.
 */
export async function loadWorldState(
  hasher: Hasher,
  kernel: TrieKernel,
  source: PageSource,
  options: LoadOptions = {},
): Promise<WorldState> {
  const { block, root } = await mustBeStored(hasher.scheme, source);
  const loading = new Loading(new StateTries(hasher, kernel), source, options);
  try {
    await loading.load(root);
    if (options.check === 'full') await loading.comparePages();
  } catch (error) {
    loading.dropAll();
    throw error;
  }
  return openWorldState(hasher, kernel, { pages: true, start: { block, tries: loading.tries } });
}

/** A page with its place. */
interface Wanted {
  readonly trie: number;
  readonly page: PageId;
}

class Loading {
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
        this.tries.records.set(position, { value, storage, storageRestarts });
        if (hasStorage) withStorage.push(position);
        else this.checkRoot(position, undefined);
      }
      await this.loadStorages(withStorage);
      kernel.commit();
      this.tries.forget();
      for (const position of withStorage) this.checkRoot(position, this.tries.records.get(position)!.storage);
      const last = leaves.at(-1)?.position ?? 0;
      this.options.onProgress?.(last + 1, kernel.nextFreeNode(accounts));
    });
    if (!equalBytes(kernel.topRoot(accounts), root))
      throw pageCorrupt(pageKey(ACCOUNT_TRIE, ROOT), 'another state root');
    this.options.onProgress?.(nextFreeNode, nextFreeNode);
  }

  /** Compares every page with what the state that was loaded would write. */
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
    this.tries.forget();
  }

  private startStorage(): SlotTrie {
    const storage: SlotTrie = { handle: this.tries.kernel.createTrie(), values: new Map() };
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

  /** Loads the leaves of a trie. @returns its nextFreeNode */
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
        this.place(page.key, trie, handle, inPage);
        return inPage;
      });
      await onLeaves(leaves);
    };
    refusing(root.key, () => this.tries.kernel.setNextFreeNode(handle, nextFreeNode));
    if (topLevel(nextFreeNode) === LEAF_LEVELS) {
      await take([root], 0);
      return nextFreeNode;
    }
    const blocks = blockCount(nextFreeNode, LEAF_LEVELS);
    for (let first = 0; first < blocks; first += BATCH) {
      const count = Math.min(BATCH, blocks - first);
      const wanted = Array.from({ length: count }, (_, i): Wanted => {
        return { trie, page: { kind: 'block', level: LEAF_LEVELS, index: first + i } };
      });
      await take(await this.read(wanted), first);
    }
    return nextFreeNode;
  }

  /** Puts leaves into the kernel and checks values: all, or one picked at random. */
  private place(key: string, trie: number, handle: number, leaves: readonly StoredLeaf[]): void {
    const { kernel, hasher } = this.tries;
    const hash = trie === ACCOUNT_TRIE ? hashAccountValue : hashWord;
    const withValue = leaves.filter(({ stored }) => stored !== undefined);
    const picked = withValue[Math.floor(Math.random() * withValue.length)];
    refusing(key, () => {
      for (const { position, leaf } of leaves) kernel.setLeaf(handle, position, leaf);
      for (const { position, leaf, stored } of this.options.check === 'full' ? withValue : picked ? [picked] : []) {
        if (equalBytes(hash(hasher, stored!.value), leaf.hval)) continue;
        throw pageCorrupt(key, `the value at position ${position} is not the one that was hashed`);
      }
    });
  }

  private checkRoot(position: number, storage: SlotTrie | undefined): void {
    const { storageRoot } = decodeAccountValue((this.tries.records.get(position) as AccountRecord).value);
    const fits =
      storage === undefined
        ? isEmptyRoot(this.tries.hasher.scheme, storageRoot)
        : equalBytes(storageRoot, this.tries.topRoot(storage));
    if (!fits) throw pageCorrupt(pageKey(position, ROOT), 'another storage root than the account has');
  }

  private async comparePagesOf(trie: number, nextFreeNode: number): Promise<void> {
    const pages = [...pagesOf(nextFreeNode)].map((page) => ({ trie, page, key: pageKey(trie, page) }));
    for (let at = 0; at < pages.length; at += BATCH) {
      this.mayGoOn();
      const batch = pages.slice(at, at + BATCH);
      const stored = await this.source.getMany(batch.map(({ key }) => key));
      for (const [i, { page, key }] of batch.entries()) {
        const held = stored[i];
        if (held === undefined) throw pageCorrupt(key, 'missing');
        if (!equalBytes(held, buildPage(this.tries, trie, page)))
          throw pageCorrupt(key, 'is not what the leaves make it');
      }
    }
  }

  private async read(wanted: readonly Wanted[]): Promise<PageReader[]> {
    this.mayGoOn();
    const keys = wanted.map(({ trie, page }) => pageKey(trie, page));
    const pages = await this.source.getMany(keys);
    return keys.map((key, i) => new PageReader(key, pages[i]));
  }

  private mayGoOn(): void {
    if (this.options.signal?.aborted) throw new PlumblineError('ABORTED', 'loading the state was aborted', {});
  }
}

/** What the kernel or the hasher refuses was not stored by us. */
function refusing(key: string, load: () => void): void {
  try {
    load();
  } catch (error) {
    if (isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL') || isPlumblineError(error, 'OUT_OF_RANGE')) {
      throw pageCorrupt(key, messageOf(error), error);
    }
    throw error;
  }
}
