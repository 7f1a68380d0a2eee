import type { HashScheme, KernelOptions } from '../kernel/contracts.js';
import { loadZkKernels } from '../kernel/trie.js';
import { type LoadOptions, loadWorldState } from './load-world-state.js';
import { openWorldState } from './open-world-state.js';
import type { PageSource } from './page-source.js';
import { storedState } from './pages/open-paged-state.js';
import type { WorldState } from './world-state.js';

/** How a zk state is opened. `build` and `wasm` choose the trie module (`plumbline-l2/kernel/trie.simd.wasm`). */
export interface StateOptions extends KernelOptions, LoadOptions {
  /** `mimc` for blocks before Linea's change of the state format, `poseidon2` since. */
  readonly scheme: HashScheme;
  /**
   * Where the state is stored. What is there is loaded and checked; with nothing there the state begins empty. Left out: the
   * state begins empty and is not to be stored (`takePages` throws).
   */
  readonly pages?: PageSource;
}

/**
 * Opens a zk state in memory: the stored one, or an empty one. The memory, in WebAssembly, is given back with the object.
 *
 * @returns the state, to apply blocks to, to read and to prove
 * @throws PlumblineError `KERNEL_UNAVAILABLE` when WebAssembly does not load; `STORE_CORRUPT` for a missing or damaged page, a
 *   root or value that does not fit, a state of the other scheme; `STORE_TOO_NEW`; `ABORTED`; `KERNEL_OUT_OF_MEMORY`; what
 *   `pages` throws
 * @source docs/spec/state-trie.md 2 to 5
 *
 * @example
 * const pages = await openStatePages('my-chain');
 * const state = await openState({ scheme: 'poseidon2', pages });
 * const { blockNumber, changes } = decodeTrieLog(trieLog);
 * const root = state.applyBlock(blockNumber, changes);
 * await pages.commit(state.takePages());
 */
export async function openState(options: StateOptions): Promise<WorldState> {
  const { scheme, pages, check: _check, onProgress: _onProgress, signal: _signal, ...kernelOptions } = options;
  const { hasher, kernel } = await loadZkKernels(scheme, { ...kernelOptions, undo: true, nodes: true });
  if (pages === undefined || (await storedState(pages)) === undefined) {
    return openWorldState(hasher, kernel, { pages: pages !== undefined });
  }
  return loadWorldState(hasher, kernel, pages, options);
}
