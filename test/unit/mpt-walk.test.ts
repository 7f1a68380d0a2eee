import { createMerkleProof, createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { EMPTY_TRIE_ROOT } from '../../src/ethereum/constants.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { type PatriciaFailureReason, walkPatriciaProof } from '../../src/proof/ethereum-proof.js';
import { judge } from '../../src/proof/verdict.js';

type RlpItem = Uint8Array | RlpItem[];

/** Value as hex, `absent`, or the reason of the refusal. */
function walk(root: Uint8Array, key: Uint8Array, proof: readonly Uint8Array[]): string {
  const result = judge<string, PatriciaFailureReason>(() => {
    const value = walkPatriciaProof(root, key, proof, 'proof');
    return value === undefined ? 'absent' : bytesToHex(value);
  });
  return typeof result === 'string' ? result : result.reason;
}

/** The whole refusal as text; what `walk` gives where there is none. */
function refusal(root: Uint8Array, key: Uint8Array, proof: readonly Uint8Array[]): string {
  const result = judge<undefined, PatriciaFailureReason>(() => void walkPatriciaProof(root, key, proof, 'proof'));
  return result === undefined ? walk(root, key, proof) : `${result.reason} ${result.at} ${result.message}`;
}

/** Bytes from a seed, the same in every run. */
function bytesOf(seed: string, length = 32): Uint8Array {
  return keccak_256(new TextEncoder().encode(seed)).slice(0, length);
}

/** Keys that end alike, so that leaves are short enough to stand inside their parents. */
function crowdedKey(last: number): Uint8Array {
  const key = bytesOf('crowd');
  key[30] = last >> 8;
  key[31] = last & 255;
  return key;
}

async function trieOf(entries: readonly (readonly [Uint8Array, Uint8Array])[]) {
  const trie = await createMPT();
  for (const [key, value] of entries) await trie.put(key, value);
  return trie;
}

const CASES: [string, [Uint8Array, Uint8Array][], Uint8Array[]][] = [
  ['one leaf', [[bytesOf('a'), bytesOf('value')]], [bytesOf('b'), crowdedKey(1)]],
  [
    '300 scattered keys',
    Array.from({ length: 300 }, (_, i) => [bytesOf(`k${i}`), bytesOf(`v${i}`, 1 + (i % 32))]),
    Array.from({ length: 300 }, (_, i) => bytesOf(`missing${i}`)),
  ],
  [
    'nodes embedded in their parents',
    Array.from({ length: 40 }, (_, i) => [crowdedKey(i * 7), Uint8Array.of(1 + i)]),
    [crowdedKey(1), crowdedKey(0x0fff), crowdedKey(0xf000), bytesOf('far')],
  ],
];

describe('walkPatriciaProof agrees with the tries of @ethereumjs/mpt', () => {
  it.each(CASES)('%s', async (_, entries, missing) => {
    const trie = await trieOf(entries);
    for (const [key, value] of entries) {
      const proof = await createMerkleProof(trie, key);
      expect(walk(trie.root(), key, hashed(proof))).toBe(bytesToHex(value));
      expect(walk(trie.root(), key, proof)).toBe(bytesToHex(value));
    }
    for (const key of missing) {
      const proof = await createMerkleProof(trie, key);
      expect(walk(trie.root(), key, hashed(proof))).toBe('absent');
      expect(walk(trie.root(), key, proof)).toBe('absent');
    }
  });

  it('has seen a node embedded in its parent', async () => {
    const trie = await trieOf(CASES[2]![1]);
    const proof = await createMerkleProof(trie, crowdedKey(7));
    expect(proof.length).toBeGreaterThan(hashed(proof).length);
  });

  it('handles an empty trie, with and without its node', () => {
    expect(walk(EMPTY_TRIE_ROOT, bytesOf('a'), [])).toBe('absent');
    expect(walk(EMPTY_TRIE_ROOT, bytesOf('a'), [Uint8Array.of(0x80)])).toBe('absent');
    expect(walk(bytesOf('root'), bytesOf('a'), [])).toBe('NODE_MISSING');
  });
});

/** That library and anvil list short nodes by themselves as well; geth and Besu list those that parents name by hash. */
function hashed(proof: Uint8Array[]): Uint8Array[] {
  return proof.filter((node, i) => i === 0 || node.length >= 32);
}

describe('walkPatriciaProof refuses', () => {
  it('flipped bits, missing nodes, additional nodes, and another order', async () => {
    const trie = await trieOf(CASES[1]![1]);
    for (const [key, outcome] of [
      [bytesOf('k7'), bytesToHex(bytesOf('v7', 8))],
      [bytesOf('missing1'), 'absent'],
    ] as const) {
      const proof = await createMerkleProof(trie, key);
      expect(walk(trie.root(), key, proof)).toBe(outcome);
      for (const node of proof) {
        for (let bit = 0; bit < 8 * node.length; bit++) {
          node[bit >> 3]! ^= 1 << (bit & 7);
          expect(walk(trie.root(), key, proof)).toBe('NODE_HASH_MISMATCH');
          node[bit >> 3]! ^= 1 << (bit & 7);
        }
      }
      expect(walk(trie.root(), key, proof.slice(0, -1))).toBe('NODE_MISSING');
      expect(walk(trie.root(), key, proof.slice(1))).toBe('NODE_HASH_MISMATCH');
      expect(walk(trie.root(), key, [...proof].reverse())).toBe('NODE_HASH_MISMATCH');
      expect(walk(trie.root(), key, [...proof, proof[0]!])).toBe('NODE_UNUSED');
      expect(walk(trie.root(), key, [...proof, Uint8Array.of(0x80)])).toBe('NODE_UNUSED');
    }
  });

  it('an embedded node that is not the one of its place, that comes twice, or that is not in order', async () => {
    const trie = await trieOf(CASES[2]![1]);
    const own = await createMerkleProof(trie, crowdedKey(7));
    const embedded = own.filter((node) => node.length < 32);
    expect(embedded.length).toBeGreaterThan(0);
    const last = own.at(-1)!;
    const other = (await createMerkleProof(trie, crowdedKey(14))).at(-1)!;
    expect(other).not.toEqual(last);
    const refuses = (proof: Uint8Array[]) => expect(walk(trie.root(), crowdedKey(7), proof)).toBe('NODE_UNUSED');
    refuses([...own.slice(0, -1), other]);
    refuses([...own, last]);
    refuses([...own.slice(0, -1), last.with(last.length - 1, last.at(-1)! ^ 1)]);
    refuses([...hashed(own), ...embedded.reverse(), other]);
  });

  /** One hostile node, whose hash is the root. */
  const KEY = new Uint8Array(32).fill(0x11);
  const leaf = (path: Uint8Array, value: Uint8Array | Uint8Array[]) => RLP.encode([path, value]);
  const wholePath = Uint8Array.of(0x20, ...KEY);
  const branch = (child: unknown, own = new Uint8Array(0)) =>
    RLP.encode([new Uint8Array(0), child, ...Array(14).fill(new Uint8Array(0)), own] as Uint8Array[]);
  const COMPACT = 'has a path that is not in compact form';
  const LENGTH = 'has a path of the wrong length';
  const KIND = 'is neither branch, extension nor leaf';
  const VALUE = 'has no value';
  const CHILD = 'refers to a child by something that is not a hash';
  const EMBEDDED = 'embeds a child of 32 bytes or more';
  const SHORT = 'ends a key that is too short';
  const hostile: [string, Uint8Array, string][] = [
    ['(an honest leaf, as a control)', leaf(wholePath, Uint8Array.of(5)), '0x05'],
    ['a leaf with the wrong flag', leaf(Uint8Array.of(0x40, ...KEY), Uint8Array.of(5)), COMPACT],
    ['a leaf with a padded path', leaf(Uint8Array.of(0x21, ...KEY), Uint8Array.of(5)), COMPACT],
    ['an even path whose second half-byte is not zero', leaf(Uint8Array.of(0x2f, ...KEY), Uint8Array.of(5)), COMPACT],
    ['a leaf whose path is too short', leaf(wholePath.slice(0, 32), Uint8Array.of(5)), LENGTH],
    ['a leaf whose path is too long', leaf(Uint8Array.of(...wholePath, 0), Uint8Array.of(5)), LENGTH],
    ['a leaf without path', leaf(new Uint8Array(0), Uint8Array.of(5)), KIND],
    ['a leaf whose path is a list', RLP.encode([[wholePath], Uint8Array.of(5)]), KIND],
    ['a leaf without value', leaf(wholePath, new Uint8Array(0)), VALUE],
    ['a leaf whose value is a list', leaf(wholePath, [Uint8Array.of(5)]), VALUE],
    ['an extension along the whole key', leaf(Uint8Array.of(0, ...KEY), bytesOf('x')), LENGTH],
    ['an extension without path', leaf(Uint8Array.of(0), bytesOf('x')), LENGTH],
    ['an extension to nothing', leaf(Uint8Array.of(0, 0x11), new Uint8Array(0)), CHILD],
    ['a branch with a value of its own', branch(bytesOf('x'), Uint8Array.of(1)), SHORT],
    ['a branch with a child that is no hash', branch(bytesOf('x', 31)), CHILD],
    ['a long node inside its parent', branch([Uint8Array.of(0x31, ...KEY.slice(1)), Uint8Array.of(5)]), EMBEDDED],
    ['a node of three items', RLP.encode([wholePath, Uint8Array.of(5), Uint8Array.of(5)]), KIND],
    ['a string', RLP.encode(bytesOf('x')), 'is not a list'],
    ['an empty list', RLP.encode([]), KIND],
    ['bytes that are not RLP', Uint8Array.of(0xf8, 0x01, 0x02), 'is not RLP'],
    ['RLP with bytes left over', Uint8Array.of(...leaf(wholePath, Uint8Array.of(5)), 0), 'is not RLP'],
  ];
  it.each(hostile)('%s', (_, node, outcome) => {
    expect(refusal(keccak_256(node), KEY, [node])).toBe(
      outcome.startsWith('0x') ? outcome : `NODE_INVALID proof[0] ${outcome}`,
    );
  });

  it('a branch below the last half-byte of the key', () => {
    let node: RlpItem[] = Array(17).fill(new Uint8Array(0));
    const proof: Uint8Array[] = [];
    for (let depth = 64; depth > 0; depth--) {
      const encoded = RLP.encode(node as Uint8Array[]);
      // The lowest has 18 bytes and stands inside its parent.
      if (encoded.length >= 32) proof.unshift(encoded);
      node = Array(17).fill(new Uint8Array(0));
      node[1] = encoded.length < 32 ? (RLP.decode(encoded) as RlpItem) : keccak_256(encoded);
    }
    proof.unshift(RLP.encode(node as Uint8Array[]));
    expect(refusal(keccak_256(proof[0]!), KEY, proof)).toBe(`NODE_INVALID proof[63] ${SHORT}`);
  });

  it('says where, and what is wrong with the list of nodes', async () => {
    const trie = await trieOf(CASES[1]![1]);
    const proof = await createMerkleProof(trie, bytesOf('k7'));
    const last = proof.length - 1;
    expect(refusal(trie.root(), bytesOf('k7'), proof.slice(0, -1))).toBe(
      `NODE_MISSING proof ends after ${last} nodes, but the path goes on`,
    );
    expect(refusal(trie.root(), bytesOf('k7'), proof.with(last, proof[0]!))).toBe(
      `NODE_HASH_MISMATCH proof[${last}] does not have the hash in its parent`,
    );
    expect(refusal(trie.root(), bytesOf('k7'), [...proof, proof[0]!])).toBe(
      `NODE_UNUSED proof[${last + 1}] comes after the end of the path`,
    );
  });

  it('a short node referenced by its hash', () => {
    const key = crowdedKey(0);
    const short = leaf(Uint8Array.of(0x30 | (key[31]! & 15)), Uint8Array.of(5));
    // An extension over 62 half-bytes, a branch, a leaf of the last half-byte that should stand inside the branch.
    const inner = RLP.encode([keccak_256(short), ...Array(16).fill(new Uint8Array(0))] as Uint8Array[]);
    const top = RLP.encode([Uint8Array.of(0, ...key.slice(0, 31)), keccak_256(inner)]);
    expect(refusal(keccak_256(top), key, [top, inner, short])).toBe(
      'NODE_INVALID proof[2] is shorter than 32 bytes and must be embedded in its parent',
    );
    const honest = RLP.encode([...Array(16).fill(RLP.decode(short)), new Uint8Array(0)] as Uint8Array[]);
    const above = RLP.encode([Uint8Array.of(0, ...key.slice(0, 31)), keccak_256(honest)]);
    expect(walk(keccak_256(above), key, [above, honest])).toBe('0x05');
  });

  it('a node of 32 bytes inside its parent; by its hash it is accepted', () => {
    const key = crowdedKey(0);
    const value = bytesOf('exact', 29);
    const exact = leaf(Uint8Array.of(0x30 | (key[31]! & 15)), value);
    expect(exact).toHaveLength(32);
    const above = (child: RlpItem) => {
      const inner = RLP.encode([child, ...Array(16).fill(new Uint8Array(0))] as Uint8Array[]);
      return [RLP.encode([Uint8Array.of(0, ...key.slice(0, 31)), keccak_256(inner)]), inner] as const;
    };
    const [top, inner] = above(keccak_256(exact));
    expect(walk(keccak_256(top), key, [top, inner, exact])).toBe(bytesToHex(value));
    const [otherTop, other] = above(RLP.decode(exact) as RlpItem);
    expect(refusal(keccak_256(otherTop), key, [otherTop, other])).toBe(`NODE_INVALID proof[1] ${EMBEDDED}`);
  });
});
