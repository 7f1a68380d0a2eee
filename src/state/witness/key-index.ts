import { compareBytes, equalBytes } from '../../primitives/bytes.js';

/**
 * Ordered index from `hkey` to leaf position: a trie over the 64 half bytes of the key. It is immutable: `withKey` and
 * `withoutKey` return a new index that shares every unchanged node, so past blocks keep theirs without copies. Keys are
 * digests, so the trie is balanced: about log16(n) nodes on a path.
 */
export type KeyIndex = IndexEntry | IndexBranch;

/** One key (32 bytes) and the position of its leaf. */
export interface IndexEntry {
  readonly hkey: Uint8Array;
  readonly position: number;
}

/** Subtrees by the next half byte, 16 entries. */
type IndexBranch = readonly (KeyIndex | undefined)[];

function isBranch(node: KeyIndex): node is IndexBranch {
  return Array.isArray(node);
}

function halfByte(hkey: Uint8Array, depth: number): number {
  const byte = hkey[depth >> 1]!;
  return depth % 2 === 0 ? byte >> 4 : byte & 15;
}

function largest(node: KeyIndex): IndexEntry {
  return isBranch(node) ? largest(node.findLast((child) => child !== undefined)!) : node;
}

/** The entry with the largest key that is at most `hkey` (32 bytes). */
export function floorEntry(index: KeyIndex | undefined, hkey: Uint8Array, depth = 0): IndexEntry | undefined {
  if (index === undefined) return undefined;
  if (!isBranch(index)) return compareBytes(index.hkey, hkey) <= 0 ? index : undefined;
  const place = halfByte(hkey, depth);
  const inside = floorEntry(index[place], hkey, depth + 1);
  if (inside !== undefined) return inside;
  for (let lower = place - 1; lower >= 0; lower--) {
    const child = index[lower];
    if (child !== undefined) return largest(child);
  }
  return undefined;
}

/** The index with an entry added, or replaced if the key exists. */
export function withKey(index: KeyIndex | undefined, entry: IndexEntry, depth = 0): KeyIndex {
  if (index === undefined) return entry;
  if (!isBranch(index)) {
    if (equalBytes(index.hkey, entry.hkey)) return entry;
    const split = new Array<KeyIndex | undefined>(16).fill(undefined);
    split[halfByte(index.hkey, depth)] = index;
    return withKey(split, entry, depth);
  }
  const place = halfByte(entry.hkey, depth);
  return index.with(place, withKey(index[place], entry, depth + 1));
}

/** The index without a key; the same index if the key does not exist. */
export function withoutKey(index: KeyIndex | undefined, hkey: Uint8Array, depth = 0): KeyIndex | undefined {
  if (index === undefined) return undefined;
  if (!isBranch(index)) return equalBytes(index.hkey, hkey) ? undefined : index;
  const place = halfByte(hkey, depth);
  const child = withoutKey(index[place], hkey, depth + 1);
  if (child === index[place]) return index;
  const changed = index.with(place, child);
  const left = changed.filter((other) => other !== undefined);
  // A single entry needs no branch above it. So a branch always has two keys, and one is left here.
  return left.length === 1 && !isBranch(left[0]!) ? left[0] : changed;
}
