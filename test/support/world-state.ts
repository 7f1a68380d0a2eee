import type { HashScheme, KernelBuild } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { openWorldState } from '../../src/state/open-world-state.js';
import type { WorldState } from '../../src/state/world-state.js';

/** What a devnet makes its zk state with. */
export async function zkEngine(scheme: HashScheme) {
  const [hasher, kernel] = await Promise.all([loadHasher(scheme), loadTrieKernel(scheme, { undo: true, nodes: true })]);
  return { hasher, kernel };
}

/** An empty world state on kernels of its own. */
export async function openState(scheme: HashScheme, build: KernelBuild = 'auto'): Promise<WorldState> {
  const [hasher, tries] = await Promise.all([
    loadHasher(scheme, { build }),
    loadTrieKernel(scheme, { build, undo: true, nodes: true }),
  ]);
  return openWorldState(hasher, tries);
}
