import { sha256 } from '@noble/hashes/sha2.js';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { type LoadOptions, loadWorldState } from '../../src/state/load-world-state.js';
import { openWorldState } from '../../src/state/open-world-state.js';
import type { PageChanges, PageSource } from '../../src/state/page-format.js';
import { openPagedState, type PagedState } from '../../src/state/paged-state.js';
import type { WorldState } from '../../src/state/world-state.js';

/** Pages in memory, and which were asked for: at once, and in all. */
export class PageMap implements PageSource {
  readonly requests: (readonly string[])[] = [];
  readonly asked = new Set<string>();

  constructor(readonly pages: Map<string, Uint8Array> = new Map()) {}

  get rounds(): number {
    return this.requests.length;
  }

  commit({ puts, deletes }: PageChanges): void {
    for (const key of deletes) this.pages.delete(key);
    for (const { key, value } of puts) this.pages.set(key, value);
  }

  async getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    this.requests.push(keys);
    for (const key of keys) this.asked.add(key);
    return keys.map((key) => this.pages.get(key));
  }

  /** A copy in which one page is another one, or missing. */
  with(key: string, page: Uint8Array | undefined): PageMap {
    const pages = new Map(this.pages);
    if (page === undefined) pages.delete(key);
    else pages.set(key, page);
    return new PageMap(pages);
  }
}

export async function openWithPages(scheme: HashScheme): Promise<WorldState> {
  const [hasher, kernel] = await Promise.all([loadHasher(scheme), loadTrieKernel(scheme, { undo: true, nodes: true })]);
  return openWorldState(hasher, kernel, { pages: true });
}

export async function readPaged(scheme: HashScheme, source: PageSource): Promise<PagedState> {
  return openPagedState(await loadHasher(scheme), source);
}

export async function load(scheme: HashScheme, source: PageSource, options: LoadOptions = {}): Promise<WorldState> {
  const [hasher, kernel] = await Promise.all([loadHasher(scheme), loadTrieKernel(scheme, { undo: true, nodes: true })]);
  return loadWorldState(hasher, kernel, source, options);
}

/** A page that was changed and given a checksum that fits: only what it says can be wrong about it now. */
export function reseal(key: string, page: Uint8Array, change: (content: Uint8Array) => void): Uint8Array {
  const content = page.slice(0, -8);
  change(content);
  const checksum = sha256(concatBytes(new TextEncoder().encode(`${key}\n`), content)).subarray(0, 8);
  return concatBytes(content, checksum);
}
