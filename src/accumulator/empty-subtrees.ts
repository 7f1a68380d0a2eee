import type { Hasher } from '../kernel/contracts.js';
import { concatBytes } from '../primitives/bytes.js';
import { TREE_DEPTH, ZERO_HASH } from './scheme.js';

const known = new WeakMap<Hasher, readonly Uint8Array[]>();

/**
 * Hashes of subtrees without a leaf, by level: entry 0 is 32 zero bytes (an unused position), entry 40 the sub root of a
 * tree without leaves. 41 entries of 32 bytes, computed once per hasher.
 *
 * @source spec/state-trie.md 2
 */
export function emptyHashes(hasher: Hasher): readonly Uint8Array[] {
  let hashes = known.get(hasher);
  if (hashes === undefined) {
    const levels: Uint8Array[] = [ZERO_HASH];
    for (let level = 0; level < TREE_DEPTH; level++) {
      levels.push(hasher.hash(concatBytes(levels[level]!, levels[level]!)));
    }
    hashes = levels;
    known.set(hasher, hashes);
  }
  return hashes;
}
