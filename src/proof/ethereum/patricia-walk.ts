import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { EMPTY_TRIE_ROOT } from '../../ethereum/constants.js';
import { equalBytes } from '../../primitives/bytes.js';
import { Refusal } from '../verdict.js';

/** Why a Merkle-Patricia proof does not hold. */
export type PatriciaFailureReason =
  /** A node does not have the hash by which its parent, or the root, names it. */
  | 'NODE_HASH_MISMATCH'
  /** The path goes on and the list of nodes ends. */
  | 'NODE_MISSING'
  /** Nodes are left over at the end of the path. */
  | 'NODE_UNUSED'
  /** A node has the right hash and is not a node of such a trie. */
  | 'NODE_INVALID';

/** A decoded RLP item: bytes, or a list of items. */
type RlpItem = Uint8Array | RlpItem[];

const BRANCH_ITEMS = 17;

/** Half-bytes of `bytes`, high one first. */
function nibblesOf(bytes: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    nibbles[2 * i] = bytes[i]! >> 4;
    nibbles[2 * i + 1] = bytes[i]! & 15;
  }
  return nibbles;
}

/**
 * Follows a key of 32 bytes through a Merkle-Patricia trie whose keys all have that length, as those of Ethereum's
 * state and storage do. A node that may not stand where it stands is refused even when its hash is right.
 *
 * Our own, over `@ethereumjs/rlp`, because of what `verifyMerkleProof` of `@ethereumjs/mpt` 10.1.3 costs and lacks: by
 * itself it bundles to 32 KB gzip against 5 KB of this walk with RLP and keccak; it accepts nodes that are left
 * over, and reports every failure by one sentence.
 *
 * @param root - 32 bytes
 * @param key - hash of the address or slot, 32 bytes
 * @param proof - RLP of the nodes from the root down; empty for an empty trie
 * @returns the value's bytes, or undefined when the proof shows that there is none. Throws a `Refusal` otherwise
 */
export function walkPatriciaProof(
  root: Uint8Array,
  key: Uint8Array,
  proof: readonly Uint8Array[],
  at: string,
): Uint8Array | undefined {
  if (proof.length === 0 && equalBytes(root, EMPTY_TRIE_ROOT)) return undefined;
  const path = nibblesOf(key);
  let used = 0;
  let depth = 0;
  let node = fetch(root);

  /** The next node of the list, which has to have this hash. */
  function fetch(hash: Uint8Array): RlpItem {
    const place = `${at}[${used}]`;
    const bytes = proof[used];
    if (bytes === undefined) throw new Refusal('NODE_MISSING', at, `ends after ${used} nodes, the path goes on`);
    if (!equalBytes(keccak_256(bytes), hash))
      throw new Refusal('NODE_HASH_MISMATCH', place, 'is not the node referred to');
    if (used > 0 && bytes.length < 32) throw invalid(place, 'is short and has to stand inside its parent');
    used++;
    try {
      return RLP.decode(bytes) as RlpItem;
    } catch {
      throw invalid(place, 'is not RLP');
    }
  }

  /** The node that a parent refers to: by hash, or whole when it is shorter than a hash. */
  function follow(reference: RlpItem, place: string): RlpItem {
    if (!Array.isArray(reference)) {
      if (reference.length !== 32) throw invalid(place, 'refers to a node by something that is not a hash');
      return fetch(reference);
    }
    if (RLP.encode(reference).length >= 32) throw invalid(place, 'holds a node too long to stand inside it');
    return reference;
  }

  function end(value: Uint8Array | undefined): Uint8Array | undefined {
    if (used !== proof.length) throw new Refusal('NODE_UNUSED', `${at}[${used}]`, 'stands after the end of the path');
    return value;
  }

  for (;;) {
    const place = `${at}[${used - 1}]`;
    if (!Array.isArray(node)) {
      // The empty trie as a node of its own: RLP of nothing.
      if (used === 1 && node.length === 0 && equalBytes(root, EMPTY_TRIE_ROOT)) return end(undefined);
      throw invalid(place, 'is not a list');
    }
    if (node.length === BRANCH_ITEMS) {
      const [child, own] = [node[path[depth] ?? 16]!, node[16]!];
      if (depth === path.length || own.length !== 0) throw invalid(place, 'ends a key that is too short');
      depth++;
      if (child.length === 0) return end(undefined);
      node = follow(child, place);
      continue;
    }
    const { isLeaf, nibbles, content } = readShortNode(node, place);
    const rest = path.subarray(depth);
    if (isLeaf ? nibbles.length !== rest.length : nibbles.length === 0 || nibbles.length >= rest.length) {
      throw invalid(place, 'has a path of the wrong length');
    }
    const shared = equalBytes(nibbles, rest.subarray(0, nibbles.length));
    if (!shared) return end(undefined);
    if (isLeaf) {
      if (Array.isArray(content) || content.length === 0) throw invalid(place, 'has no value');
      return end(content);
    }
    depth += nibbles.length;
    node = follow(content, place);
  }
}

/** A leaf or extension: two items, the first a path in compact form (flag half-byte, then the path). */
function readShortNode(node: readonly RlpItem[], place: string) {
  const [compact, content] = node;
  if (node.length !== 2 || !(compact instanceof Uint8Array) || compact.length === 0 || content === undefined) {
    throw invalid(place, 'is neither branch, extension nor leaf');
  }
  const halves = nibblesOf(compact);
  const flag = halves[0]!;
  const odd = flag % 2 === 1;
  if (flag > 3 || (!odd && halves[1] !== 0)) throw invalid(place, 'has a path that is not in compact form');
  return { isLeaf: flag >= 2, nibbles: halves.subarray(odd ? 1 : 2), content };
}

function invalid(place: string, message: string): Refusal<PatriciaFailureReason> {
  return new Refusal('NODE_INVALID', place, message);
}
