import type { Hasher } from '../kernel/contracts.js';
import { concatBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import { TREE_DEPTH, ZERO_HASH } from './scheme.js';

const known = new WeakMap<Hasher, readonly Uint8Array[]>();

/**
 * Hashes of empty subtrees by level: entry 0 is 32 zero bytes (an unused position), entry 40 the sub root of a trie
 * without leaves. 41 entries of 32 bytes, computed once per hasher.
 *
 * @source docs/spec/state-trie.md 2
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

/** Preimage of an empty subtree's hash, as bytes and as hex. */
export interface EmptyPreimage {
  /** 64 bytes: the hash of the empty subtree one level below, twice. */
  readonly bytes: Uint8Array;
  /** Lower case, as servers write it. */
  readonly hex: Hex;
}

/** Siblings of a single leaf at position 0, all of them empty subtrees. */
export interface EmptySiblings {
  /** Hashes of levels 0 to 39, concatenated. */
  readonly hashes: Uint8Array;
  /** Preimages of levels 1 to 40; entry `l - 1` is for level `l`. */
  readonly preimages: readonly EmptyPreimage[];
}

const siblings = new WeakMap<Hasher, EmptySiblings>();

/** Empty subtrees in the forms that are compared with a branch; computed once per hasher. */
export function emptySiblings(hasher: Hasher): EmptySiblings {
  let made = siblings.get(hasher);
  if (made === undefined) {
    const halves = emptyHashes(hasher).slice(0, TREE_DEPTH);
    const preimages = halves.map((half) => {
      const bytes = concatBytes(half, half);
      return { bytes, hex: bytesToHex(bytes) };
    });
    made = { hashes: concatBytes(...halves), preimages };
    siblings.set(hasher, made);
  }
  return made;
}
