import { concatBytes } from '../primitives/bytes.js';
import { EMPTY_TRIE_ROOT } from './constants.js';
import {
  branchChildren,
  HashedNode,
  HeldNode,
  hashOf,
  held,
  type LeafNode,
  type NewNode,
  NODE_HASH_BYTES,
  type NodeLink,
  newBranch,
  opened,
  openedPath,
  type PathNode,
  setChild,
} from './patricia-node.js';
import { nibblesOf } from './patricia-path.js';

/** A value of a trie, with the root of the trie that it names, if any. */
export type LeafContent = Pick<LeafNode, 'value' | 'below'>;

/** Hash of a root node, 32 bytes. @param root - undefined for the empty trie */
export function rootHash(root: HeldNode | undefined): Uint8Array {
  return root === undefined ? EMPTY_TRIE_ROOT.slice() : hashOf(root);
}

/**
 * A Merkle-Patricia trie. Writes make new nodes on the way to their keys; `commit` encodes and hashes each once. Tries that
 * were committed before stay as they are. Keys are 32 bytes, hashed by the caller; values are not empty.
 *
 * This is our own code because `@ethereumjs/mpt` 10.1.3 waits for each node and stores every node of the path anew for each
 * write: in a block of one transfer, that was more than its execution.
 *
 * @source yellow paper, appendix D
 */
export class PatriciaTrie {
  private root: NodeLink | undefined;

  /** @param root - of a committed trie; undefined for the empty one */
  constructor(root?: HeldNode) {
    this.root = root;
  }

  get(key: Uint8Array): LeafContent | undefined {
    return this.walk(key, () => {});
  }

  /**
   * Encodings of the nodes on the way to a key, from the root down to its leaf or to where it would branch off. A node of less
   * than 32 bytes is a part of its parent's encoding, so it is not listed.
   */
  path(key: Uint8Array): Uint8Array[] {
    this.commit();
    const passed: Uint8Array[] = [];
    this.walk(key, (link) => {
      const node = held(link);
      const { bytes } = node instanceof HashedNode ? node.read() : node;
      if (passed.length === 0 || bytes.length >= NODE_HASH_BYTES) passed.push(bytes);
    });
    return passed;
  }

  /** @param below - the trie that the value names, if any */
  put(key: Uint8Array, value: Uint8Array, below: HeldNode | undefined = undefined): void {
    this.root = written(this.root, nibblesOf(key), { value, below });
  }

  /** Removes a key, if it is there. */
  delete(key: Uint8Array): void {
    if (this.get(key) === undefined) return;
    const path = nibblesOf(key);
    this.root = removed(this.root!, path, path);
  }

  /** Encodes what was written. @returns the root node; undefined for the empty trie */
  commit(): HeldNode | undefined {
    const root = this.root && held(this.root);
    this.root = root;
    return root;
  }

  /** @returns the leaf of this key; undefined if there is none */
  private walk(key: Uint8Array, pass: (link: NodeLink) => void): LeafNode | undefined {
    const path = nibblesOf(key);
    let link = this.root;
    for (let depth = 0; link !== undefined; ) {
      pass(link);
      const children = childrenOf(link);
      if (children !== undefined) {
        link = children[path[depth++]!];
        continue;
      }
      const node: PathNode = link instanceof HeldNode ? openedPath(link) : (link as PathNode);
      if (sharedLength(node.path, path, depth) < node.path.length) return undefined;
      if (node.value !== undefined) return node;
      depth += node.path.length;
      link = node.below;
    }
    return undefined;
  }
}

/** The node at `link` with a leaf at the rest of its path. */
function written(link: NodeLink | undefined, path: Uint8Array, leaf: LeafContent): NewNode {
  if (link === undefined) return { ...leaf, path };
  const node = link instanceof HeldNode ? opened(link) : link;
  if ('children' in node) {
    const at = path[0]!;
    setChild(node, at, written(node.children[at], path.subarray(1), leaf));
    return node;
  }
  const shared = sharedLength(node.path, path, 0);
  const rest = path.subarray(shared);
  if (shared === node.path.length) {
    if (node.value !== undefined) return { ...leaf, path: node.path };
    return { path: node.path, below: written(node.below, rest, leaf) };
  }
  const branch = newBranch();
  const own = node.path.subarray(shared + 1);
  setChild(
    branch,
    node.path[shared]!,
    own.length === 0 && node.value === undefined ? node.below : { ...node, path: own },
  );
  setChild(branch, rest[0]!, { ...leaf, path: rest.subarray(1) });
  return shared === 0 ? branch : { path: path.subarray(0, shared), below: branch };
}

/** The node at `link` without a path that it has; undefined if nothing is left. @param key - of which `path` is the end */
function removed(link: NodeLink, path: Uint8Array, key: Uint8Array): NewNode | undefined {
  const node = link instanceof HeldNode ? opened(link) : link;
  if ('children' in node) {
    const at = path[0]!;
    setChild(node, at, removed(node.children[at]!, path.subarray(1), key));
    const [first, ...others] = node.children.flatMap((child, i) => (child === undefined ? [] : [i]));
    if (others.length > 0) return node;
    const [last, lastPath] = [node.children[first!]!, Uint8Array.of(first!)];
    if (last instanceof HashedNode) last.read(() => concatBytes(key.subarray(0, key.length - path.length), lastPath));
    return under(lastPath, last);
  }
  if (node.value !== undefined) return undefined;
  return under(node.path, removed(node.below, path.subarray(node.path.length), key)!);
}

/** A node with a path before it. A path before a leaf or an extension becomes part of theirs. */
function under(path: Uint8Array, link: NodeLink): PathNode {
  if (childrenOf(link) !== undefined) return { path, below: link };
  const node: PathNode = link instanceof HeldNode ? openedPath(link) : (link as PathNode);
  return { ...node, path: concatBytes(path, node.path) };
}

/** Children of a branch; undefined for another node. */
function childrenOf(link: NodeLink): readonly (NodeLink | undefined)[] | undefined {
  if (link instanceof HeldNode) return branchChildren(link);
  return 'children' in link ? link.children : undefined;
}

/** How many half-bytes `path` shares with `key` from `depth` on. */
function sharedLength(path: Uint8Array, key: Uint8Array, depth: number): number {
  let shared = 0;
  while (shared < path.length && path[shared] === key[depth + shared]) shared++;
  return shared;
}
