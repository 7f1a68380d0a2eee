import { bytesToKey, equalBytes } from '../primitives/bytes.js';
import { EMPTY_TRIE_ROOT } from './constants.js';
import { HashedNode, HeldNode, linksOf, NODE_HASH_BYTES } from './patricia-node.js';
import { rootHash } from './patricia-trie.js';
import { storageRootIn, type TrieWrite, writeAccounts } from './state-trie.js';

/**
 * Writes on a state trie of which some nodes are known, such as those of proofs. They may become more between two writes.
 *
 * @param nodes - by `bytesToKey` of their hash
 * @returns a function that writes on what it wrote before, and returns the root, 32 bytes. It throws an `UnknownNodeError`, and
 *   has written nothing, if it needs a node that is not known
 */
export function partialTrie(
  nodes: ReadonlyMap<string, Uint8Array>,
  root: Uint8Array,
): (writes: readonly TrieWrite[]) => Uint8Array {
  let current = partialRoot(nodes, root);
  return (writes) => {
    current = writeAccounts(current, writes);
    return rootHash(current);
  };
}

/**
 * The root node of a state trie of which some nodes are known. They may become more, or fewer, between two uses.
 *
 * @param nodes - by `bytesToKey` of their hash
 * @returns undefined for the empty trie
 */
export function partialRoot(
  nodes: Pick<ReadonlyMap<string, Uint8Array>, 'get'>,
  root: Uint8Array,
): HeldNode | undefined {
  const linked = (link: Uint8Array): HeldNode =>
    link.length === NODE_HASH_BYTES ? new HashedNode(link, find) : read(link);
  const read = (bytes: Uint8Array) =>
    new HeldNode(
      bytes,
      linksOf(bytes, storageRootIn).map((link) => link && linked(link)),
    );
  const find = (hash: Uint8Array) => {
    const bytes = nodes.get(bytesToKey(hash));
    return bytes && read(bytes);
  };
  return equalBytes(root, EMPTY_TRIE_ROOT) ? undefined : linked(root);
}
