import type { Hasher, HashScheme } from './contracts.js';
import { type HashExports, hashKernelOf } from './hash-kernel.js';
import { compile, instanceOf } from './instantiate.js';
import type { TrieKernel, TrieKernelOptions } from './trie-contract.js';
import type { TrieExports } from './trie-exports.js';
import { TRIE_SOURCE, trieKernelOf } from './trie-kernel.js';

/** Hasher and trie kernel of a zk state. */
export interface ZkKernels {
  readonly hasher: Hasher;
  readonly kernel: TrieKernel;
}

/**
 * Loads a trie kernel and a hasher from the trie module alone, compiled once, with one instance for each.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 */
export async function loadZkKernels(scheme: HashScheme, options: TrieKernelOptions = {}): Promise<ZkKernels> {
  const module = await compile(TRIE_SOURCE, options);
  const [tries, hashes] = await Promise.all([
    instanceOf<TrieExports>(TRIE_SOURCE, module),
    instanceOf<HashExports>(TRIE_SOURCE, module),
  ]);
  return { hasher: hashKernelOf(hashes)[scheme], kernel: trieKernelOf(scheme, tries, options) };
}
