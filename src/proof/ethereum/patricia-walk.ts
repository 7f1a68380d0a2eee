import { RLP } from '@ethereumjs/rlp';
import { EMPTY_TRIE_ROOT } from '../../ethereum/constants.js';
import { nibblesOf } from '../../ethereum/patricia-path.js';
import { keccak256 } from '../../kernel/keccak.js';
import { equalBytes } from '../../primitives/bytes.js';
import { Refusal } from '../verdict.js';

/** Why a Merkle-Patricia proof is wrong. */
export type PatriciaFailureReason =
  /** A node does not have the hash in its parent, or the root hash. */
  | 'NODE_HASH_MISMATCH'
  /** The list of nodes ends before the path does. */
  | 'NODE_MISSING'
  /** There are nodes after the end of the path. */
  | 'NODE_UNUSED'
  /** A node has the right hash but is not valid in such a trie. */
  | 'NODE_INVALID';

/** A decoded RLP item: bytes, or a list of items. */
type RlpItem = Uint8Array | RlpItem[];

const BRANCH_ITEMS = 17;

/**
 * Follows a key of 32 bytes through a Merkle-Patricia trie in which all keys have that length, as in Ethereum's state and
 * storage tries. A node that is not valid at its position is refused even if its hash is right.
 *
 * It replaces `verifyMerkleProof` of `@ethereumjs/mpt` 10.1.3, which bundles to 32 KB gzip (this function with RLP and keccak:
 * 5 KB), accepts surplus nodes, and has one message for all failures.
 *
 * @param root - 32 bytes
 * @param key - hash of the address or slot, 32 bytes
 * @param proof - RLP of the nodes from the root down; empty for an empty trie. Embedded nodes may be listed too
 * @returns the bytes of the value, or undefined if the proof proves its absence. Throws a `Refusal` otherwise
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

  /** The next node of the list, which must have this hash. */
  function fetch(hash: Uint8Array): RlpItem {
    const place = `${at}[${used}]`;
    const bytes = proof[used];
    if (bytes === undefined) throw new Refusal('NODE_MISSING', at, `ends after ${used} nodes, but the path goes on`);
    if (!equalBytes(keccak256(bytes), hash))
      throw new Refusal('NODE_HASH_MISMATCH', place, 'does not have the hash in its parent');
    if (used > 0 && bytes.length < 32)
      throw invalid(place, 'is shorter than 32 bytes and must be embedded in its parent');
    used++;
    try {
      return RLP.decode(bytes) as RlpItem;
    } catch {
      throw invalid(place, 'is not RLP');
    }
  }

  /**
   * The child of a node: by hash, or embedded if it is shorter than a hash. The list may repeat an embedded node, as those of
   * anvil and @ethereumjs do.
   */
  function follow(reference: RlpItem, place: string): RlpItem {
    if (!Array.isArray(reference)) {
      if (reference.length !== 32) throw invalid(place, 'refers to a child by something that is not a hash');
      return fetch(reference);
    }
    const encoded = RLP.encode(reference);
    if (encoded.length >= 32) throw invalid(place, 'embeds a child of 32 bytes or more');
    const next = proof[used];
    if (next !== undefined && equalBytes(next, encoded)) used++;
    return reference;
  }

  function end(value: Uint8Array | undefined): Uint8Array | undefined {
    if (used !== proof.length) throw new Refusal('NODE_UNUSED', `${at}[${used}]`, 'comes after the end of the path');
    return value;
  }

  for (;;) {
    const place = `${at}[${used - 1}]`;
    if (!Array.isArray(node)) {
      // The empty trie as a node: RLP of the empty string, whose hash is the root.
      if (equalBytes(root, EMPTY_TRIE_ROOT)) return end(undefined);
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

/** Reads a leaf or extension: two items, the first a path in compact form (a flag nibble, then the path). */
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
