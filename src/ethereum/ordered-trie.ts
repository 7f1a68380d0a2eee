import { RLP } from '@ethereumjs/rlp';
import { PlumblineError } from '../errors.js';
import { keccak256 } from '../kernel/keccak.js';
import { bigIntToMinimalBytes, bytesToBigInt } from '../primitives/bytes.js';
import { EMPTY_TRIE_ROOT } from './constants.js';

type Item = Uint8Array | Item[];

interface Entry {
  /** Half-bytes of the key. No key is a prefix of another, because keys are RLP. */
  readonly path: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * Root of the trie from RLP-encoded index to item: transactions root and receipts root of a block.
 *
 * This is our own code because the whole list is known: a trie of `@ethereumjs/mpt` 10.1.3 is written once per item,
 * and it would be most of the download of a page that only verifies block bodies.
 *
 * @source yellow paper, appendix D
 */
export function orderedTrieRoot(items: readonly Uint8Array[]): Uint8Array {
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

/** Flag in the first half-byte of an encoded path. */
export const LEAF_FLAG = 2;

/** Half-bytes of a key. */
export function nibblesOf(key: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(2 * key.length);
  for (let i = 0; i < key.length; i++) {
    nibbles[2 * i] = key[i]! >> 4;
    nibbles[2 * i + 1] = key[i]! & 15;
  }
  return nibbles;
}

/**
 * Encodes the path of a leaf or an extension: a half-byte of flags, one of padding if the path is even, then the path.
 *
 * @param path - half-bytes
 * @source yellow paper, appendix C
 */
export function compactPath(path: Uint8Array, isLeaf: boolean): Uint8Array {
  const odd = path.length % 2;
  const compact = new Uint8Array(1 + (path.length - odd) / 2);
  compact[0] = ((isLeaf ? LEAF_FLAG : 0) + odd) * 16 + (odd === 1 ? path[0]! : 0);
  for (let i = odd, at = 1; i < path.length; i += 2) compact[at++] = path[i]! * 16 + path[i + 1]!;
  return compact;
}

/** A withdrawal from the beacon chain to an account (EIP-4895). */
export interface Withdrawal {
  readonly index: bigint;
  readonly validatorIndex: bigint;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** In gwei. */
  readonly amount: bigint;
}

/** The items of a withdrawal's RLP list. */
export function withdrawalFields({ index, validatorIndex, address, amount }: Withdrawal): Uint8Array[] {
  return [bigIntToMinimalBytes(index), bigIntToMinimalBytes(validatorIndex), address, bigIntToMinimalBytes(amount)];
}

/** @throws PlumblineError `INVALID_LENGTH` unless the items are a withdrawal */
export function withdrawalFromFields(items: readonly Uint8Array[]): Withdrawal {
  const [index, validatorIndex, address, amount] = items;
  if (items.length !== 4 || address!.length !== 20) {
    throw new PlumblineError('INVALID_LENGTH', 'a withdrawal has 4 fields, the third an address of 20 bytes', {
      what: 'withdrawal fields',
      expected: '4',
      actual: items.length,
    });
  }
  return {
    index: bytesToBigInt(index!),
    validatorIndex: bytesToBigInt(validatorIndex!),
    address: address!,
    amount: bytesToBigInt(amount!),
  };
}

/** `withdrawalsRoot` of a header, 32 bytes. */
export function withdrawalsRoot(withdrawals: readonly Withdrawal[]): Uint8Array {
  return orderedTrieRoot(withdrawals.map((withdrawal) => RLP.encode(withdrawalFields(withdrawal))));
}
