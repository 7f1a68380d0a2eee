/**
 * A Merkle-Patricia trie in memory, which is written many times: nodes that were not touched keep their hashes, and lists of writes go
 * down together. A node knows its bytes, or only its hash (`HashedNode`) until it is read.
 */

import { RLP } from '@ethereumjs/rlp';
import { keccak256 } from '../kernel/keccak.js';
import { concatBytes, copyBytes } from '../primitives/bytes.js';
import { encodedList } from '../primitives/rlp-list.js';
import { EMPTY_TRIE_ROOT } from './constants.js';
import { compactPath, LEAF_FLAG, nibblesOf } from './ordered-trie.js';

const NONE: readonly undefined[] = [];

/** A node of a trie with its RLP. It never changes, but for where its bytes are: later tries hold the same object for a part that is the same. */
export class HeldNode {
  /**
   * @param bytes - RLP
   * @param below - of a branch its sixteen children, of an extension its branch, of a leaf the root of the trie that its
   *   value names, if any
   */
  constructor(
    public bytes: Uint8Array,
    readonly below: readonly (HeldNode | undefined)[],
  ) {}
}

/** Bytes of a buffer for many nodes. */
const SHARED_BYTES = 65_536;

/** Moves the bytes of a new trie into a few buffers: one for each node takes more memory than most nodes. */
export function shareBuffers(root: HeldNode): void {
  let buffer = new Uint8Array(0);
  let at = 0;
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const { length } = node.bytes;
    if (at + length > buffer.length) {
      buffer = new Uint8Array(Math.max(length, SHARED_BYTES));
      at = 0;
    }
    buffer.set(node.bytes, at);
    node.bytes = buffer.subarray(at, at + length);
    at += length;
    for (const below of node.below) if (below !== undefined) waiting.push(below);
  }
}

/** A node of which only the hash is known, until `find` knows the node. What does not look into it can do without. */
export class HashedNode extends HeldNode {
  /** @param hash - 32 bytes. @param find - undefined while the node is not known */
  constructor(
    readonly hash: Uint8Array,
    private readonly find: (hash: Uint8Array) => HeldNode | undefined,
  ) {
    super(new Uint8Array(0), NONE);
  }

  /** @param path - makes the half-bytes from the root to here, for the error. @throws UnknownNodeError */
  read(path?: () => Uint8Array): HeldNode {
    const node = this.find(this.hash);
    if (node === undefined) throw new UnknownNodeError(this.hash, path?.());
    return node;
  }
}

/** A read or a write needs a node of which only the hash is known. */
export class UnknownNodeError extends Error {
  /** Address of the account in whose storage it is, 20 bytes; undefined for a node of the account trie. */
  account: Uint8Array | undefined;

  /**
   * @param hash - of the node, 32 bytes
   * @param path - half-bytes from the root to the node; undefined where no proof of the write's keys would leave it out
   */
  constructor(
    readonly hash: Uint8Array,
    readonly path: Uint8Array | undefined,
  ) {
    super('a node of a Merkle-Patricia trie is not known');
  }
}

/** A leaf that is being written. */
interface LeafNode {
  /** Half-bytes. */
  readonly path: Uint8Array;
  readonly value: Uint8Array;
  /** Root of the trie that the value names, if any. */
  readonly below: HeldNode | undefined;
}

/** An extension that is being written. */
interface ExtensionNode {
  /** Half-bytes. */
  readonly path: Uint8Array;
  readonly value?: undefined;
  /** A branch. */
  readonly below: NodeLink;
}

/** Sixteen children. A branch has no value: no key is the beginning of another. */
interface BranchNode {
  readonly children: (NodeLink | undefined)[];
  /** RLP before its children changed. */
  readonly before: Uint8Array;
  /** A bit for each child that differs from `before`. */
  changed: number;
}

type PathNode = LeafNode | ExtensionNode;
type NewNode = PathNode | BranchNode;
type NodeLink = HeldNode | NewNode;

/** Length of a hash. A node of fewer bytes stands in its parent in place of its hash. */
export const NODE_HASH_BYTES = 32;
const STRING = 0x80;
const LIST = 0xc0;
/** Longest content whose length is in the prefix. */
const SHORT = 55;
const CHILDREN = 16;
const HASH_PREFIX = STRING + NODE_HASH_BYTES;
/** A branch without children and without a value. */
const EMPTY_BRANCH = Uint8Array.of(LIST + CHILDREN + 1, ...new Array<number>(CHILDREN + 1).fill(STRING));

/** A branch that had no children before. */
function newBranch(): BranchNode {
  return { children: new Array<NodeLink | undefined>(CHILDREN).fill(undefined), before: EMPTY_BRANCH, changed: 0 };
}

function setChild(branch: BranchNode, at: number, child: NodeLink | undefined): void {
  branch.children[at] = child;
  branch.changed |= 1 << at;
}

/** Children of a branch; undefined for another node. @throws UnknownNodeError */
function branchChildren(link: HeldNode): readonly (HeldNode | undefined)[] | undefined {
  const { below } = known(link);
  return below.length === CHILDREN ? below : undefined;
}

/** The node for changes. @throws UnknownNodeError */
function opened(link: HeldNode): NewNode {
  const node = known(link);
  const children = branchChildren(node);
  return children === undefined ? openedPath(node) : { children: children.slice(), before: node.bytes, changed: 0 };
}

/** A leaf or an extension. Its value is a view of the bytes. @throws UnknownNodeError */
function openedPath(link: HeldNode): PathNode {
  const { bytes, below } = known(link);
  const first = contentOf(bytes, 0);
  const second = endOf(bytes, first);
  const compact = bytes.subarray(contentOf(bytes, first), second);
  const flags = compact[0]! >> 4;
  const path = nibblesOf(compact).subarray(flags % 2 === 1 ? 1 : 2);
  if (flags < LEAF_FLAG) return { path, below: below[0]! };
  return { path, value: bytes.subarray(contentOf(bytes, second), endOf(bytes, second)), below: below[0] };
}

function known(node: HeldNode): HeldNode {
  return node instanceof HashedNode ? node.read() : node;
}

/** Hash of a node, 32 bytes. */
function hashOf(node: HeldNode): Uint8Array {
  return node instanceof HashedNode ? node.hash : keccak256(node.bytes);
}

/**
 * Encodes a node and the new ones below it.
 *
 * @source yellow paper, appendix D
 */
function held(node: NodeLink): HeldNode {
  if (node instanceof HeldNode) return node;
  return 'children' in node ? heldBranch(node) : heldPath(node);
}

/** Children that are as before keep their bytes. */
function heldBranch({ children, before, changed }: BranchNode): HeldNode {
  const below = children as (HeldNode | undefined)[];
  const parts: Uint8Array[] = [];
  let kept = contentOf(before, 0);
  for (let i = 0, at = kept; i < CHILDREN; i++) {
    const end = endOf(before, at);
    if (((changed >> i) & 1) === 1) {
      const child = children[i];
      if (at > kept) parts.push(before.subarray(kept, at));
      if (child !== undefined) below[i] = held(child);
      parts.push(linkTo(below[i]));
      kept = end;
    }
    at = end;
  }
  parts.push(before.subarray(kept));
  return new HeldNode(encodedList(parts), below);
}

function heldPath({ path, value, below }: PathNode): HeldNode {
  const node = below && held(below);
  const second = value === undefined ? linkTo(node) : RLP.encode(value);
  const bytes = encodedList([RLP.encode(compactPath(path, value !== undefined)), second]);
  return new HeldNode(bytes, node === undefined ? NONE : [node]);
}

const NO_LINK = Uint8Array.of(STRING);

/** RLP of the reference to a node: of its hash, or the node itself if that is shorter. */
function linkTo(node: HeldNode | undefined): Uint8Array {
  if (node === undefined) return NO_LINK;
  if (node.bytes.length < NODE_HASH_BYTES && !(node instanceof HashedNode)) return node.bytes;
  const link = new Uint8Array(1 + NODE_HASH_BYTES);
  link[0] = HASH_PREFIX;
  link.set(hashOf(node), 1);
  return link;
}

/**
 * What a node refers to: for each place of `HeldNode.below` a hash (32 bytes), or the RLP of a shorter node.
 *
 * @param trieOf - the root that the value of a leaf names, 32 bytes
 */
export function linksOf(
  bytes: Uint8Array,
  trieOf: (value: Uint8Array) => Uint8Array | undefined,
): readonly (Uint8Array | undefined)[] {
  const end = endOf(bytes, 0);
  const first = contentOf(bytes, 0);
  const second = endOf(bytes, first);
  if (endOf(bytes, second) === end) {
    const isLeaf = bytes[contentOf(bytes, first)]! >> 4 >= LEAF_FLAG;
    const link = isLeaf ? trieOf(bytes.subarray(contentOf(bytes, second), end)) : linkAt(bytes, second);
    return link === undefined ? NONE : [link];
  }
  const links: (Uint8Array | undefined)[] = [];
  for (let i = 0, at = first; i < CHILDREN; i++, at = endOf(bytes, at)) links.push(linkAt(bytes, at));
  return links;
}

function linkAt(bytes: Uint8Array, at: number): Uint8Array | undefined {
  const prefix = bytes[at]!;
  if (prefix >= LIST) return copyBytes(bytes, at, endOf(bytes, at));
  return prefix === HASH_PREFIX ? bytes.subarray(at + 1, at + 1 + NODE_HASH_BYTES) : undefined;
}

/** Where the content of the item at `at` begins. */
function contentOf(bytes: Uint8Array, at: number): number {
  const prefix = bytes[at]!;
  if (prefix < STRING) return at;
  const length = prefix - (prefix < LIST ? STRING : LIST);
  return at + 1 + Math.max(0, length - SHORT);
}

/** Where the item at `at` ends. */
function endOf(bytes: Uint8Array, at: number): number {
  const prefix = bytes[at]!;
  if (prefix < STRING) return at + 1;
  let length = prefix - (prefix < LIST ? STRING : LIST);
  if (length <= SHORT) return at + 1 + length;
  const from = contentOf(bytes, at);
  length = 0;
  for (let digit = at + 1; digit < from; digit++) length = length * 256 + bytes[digit]!;
  return from + length;
}

/** A value of a trie, with the root of the trie that it names, if any. */
type LeafContent = Pick<LeafNode, 'value' | 'below'>;

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
