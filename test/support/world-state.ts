import type { HashScheme, KernelBuild } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie-kernel.js';
import { openWorldState } from '../../src/state/open-world-state.js';
import type { WorldState } from '../../src/state/world-state.js';

/** An empty world state on kernels of its own. */
export async function openState(scheme: HashScheme, build: KernelBuild = 'auto'): Promise<WorldState> {
  const [hasher, tries] = await Promise.all([
    loadHasher(scheme, { build }),
    loadTrieKernel(scheme, { build, undo: true, nodes: true }),
  ]);
  return openWorldState(hasher, tries);
}
