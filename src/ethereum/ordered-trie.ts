import { RLP } from '@ethereumjs/rlp';
import { keccak256 } from '../kernel/keccak.js';
import { EMPTY_TRIE_ROOT } from './constants.js';
import { compactPath, nibblesOf } from './patricia-path.js';

type Item = Uint8Array | Item[];

interface Entry {
  /** Half-bytes of the key. No key is a prefix of another, because keys are RLP. */
  readonly path: Uint8Array;
  readonly value: Uint8Array;
}

/** Root of the trie from RLP-encoded index to item: transactions root and receipts root of a block. */
export async function orderedTrieRoot(items: readonly Uint8Array[]): Promise<Uint8Array> {
  return orderedRoot(items);
}

/**
 * Like `orderedTrieRoot`, but synchronous.
 *
 * This is our own code because the whole list is known: a trie of `@ethereumjs/mpt` 10.1.3 is written once per item,
 * and it would be most of the download of a page that only verifies block bodies.
 *
 * @source yellow paper, appendix D
 */
export function orderedRoot(items: readonly Uint8Array[]): Uint8Array {
  if (items.length === 0) return EMPTY_TRIE_ROOT.slice();
  const entries = items.map((value, index) => ({ path: nibblesOf(RLP.encode(index)), value }));
  return keccak256(RLP.encode(nodeOf(entries, 0)));
}

/** The node of these entries (at least one) from `depth` on. */
function nodeOf(entries: readonly Entry[], depth: number): Item {
  const { path, value } = entries[0]!;
  if (entries.length === 1) return [compactPath(path.subarray(depth), true), value];
  let fork = depth;
  while (entries.every((entry) => entry.path[fork] === path[fork])) fork++;
  const children: Entry[][] = Array.from({ length: 16 }, () => []);
  for (const entry of entries) children[entry.path[fork]!]!.push(entry);
  const nothing = new Uint8Array(0);
  const branch: Item = children.map((inner) => (inner.length === 0 ? nothing : referenceTo(nodeOf(inner, fork + 1))));
  branch.push(nothing);
  return fork === depth ? branch : [compactPath(path.subarray(depth, fork), false), referenceTo(branch)];
}

/** Reference to a node in its parent: the node itself if it is shorter than a hash. */
function referenceTo(node: Item): Item {
  const bytes = RLP.encode(node);
  return bytes.length < 32 ? node : keccak256(bytes);
}
