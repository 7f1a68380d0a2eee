import { RLP } from '@ethereumjs/rlp';
import { keccak256 } from '../kernel/keccak.js';
import { copyBytes } from '../primitives/bytes.js';
import { encodedList } from '../primitives/rlp-list.js';
import { compactPath, LEAF_FLAG, nibblesOf } from './patricia-path.js';

const NONE: readonly undefined[] = [];

/** A node of a trie with its RLP. It never changes: later tries hold the same object for a part that is the same. */
export class HeldNode {
  /**
   * @param bytes - RLP
   * @param below - of a branch its sixteen children, of an extension its branch, of a leaf the root of the trie that its
   *   value names, if any
   */
  constructor(
    readonly bytes: Uint8Array,
    readonly below: readonly (HeldNode | undefined)[],
  ) {}
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
export interface LeafNode {
  /** Half-bytes. */
  readonly path: Uint8Array;
  readonly value: Uint8Array;
  /** Root of the trie that the value names, if any. */
  readonly below: HeldNode | undefined;
}

/** An extension that is being written. */
export interface ExtensionNode {
  /** Half-bytes. */
  readonly path: Uint8Array;
  readonly value?: undefined;
  /** A branch. */
  readonly below: NodeLink;
}

/** Sixteen children. A branch has no value: no key is the beginning of another. */
export interface BranchNode {
  readonly children: (NodeLink | undefined)[];
  /** RLP before its children changed. */
  readonly before: Uint8Array;
  /** A bit for each child that differs from `before`. */
  changed: number;
}

export type PathNode = LeafNode | ExtensionNode;
export type NewNode = PathNode | BranchNode;
export type NodeLink = HeldNode | NewNode;

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
export function newBranch(): BranchNode {
  return { children: new Array<NodeLink | undefined>(CHILDREN).fill(undefined), before: EMPTY_BRANCH, changed: 0 };
}

export function setChild(branch: BranchNode, at: number, child: NodeLink | undefined): void {
  branch.children[at] = child;
  branch.changed |= 1 << at;
}

/** Children of a branch; undefined for another node. @throws UnknownNodeError */
export function branchChildren(link: HeldNode): readonly (HeldNode | undefined)[] | undefined {
  const { below } = known(link);
  return below.length === CHILDREN ? below : undefined;
}

/** The node for changes. @throws UnknownNodeError */
export function opened(link: HeldNode): NewNode {
  const node = known(link);
  const children = branchChildren(node);
  return children === undefined ? openedPath(node) : { children: children.slice(), before: node.bytes, changed: 0 };
}

/** A leaf or an extension. Its value is a view of the bytes. @throws UnknownNodeError */
export function openedPath(link: HeldNode): PathNode {
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
export function hashOf(node: HeldNode): Uint8Array {
  return node instanceof HashedNode ? node.hash : keccak256(node.bytes);
}

/**
 * Encodes a node and the new ones below it.
 *
 * @source yellow paper, appendix D
 */
export function held(node: NodeLink): HeldNode {
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
