import { createMerkleProof, createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { EMPTY_TRIE_ROOT } from '../../src/ethereum/constants.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { type PatriciaFailureReason, walkPatriciaProof } from '../../src/proof/ethereum/patricia-walk.js';
import { judge } from '../../src/proof/verdict.js';

/** Value as hex, `absent`, or the reason of the refusal. */
function walk(root: Uint8Array, key: Uint8Array, proof: readonly Uint8Array[]): string {
  const result = judge<string, PatriciaFailureReason>(() => {
    const value = walkPatriciaProof(root, key, proof, 'proof');
    return value === undefined ? 'absent' : bytesToHex(value);
  });
  return typeof result === 'string' ? result : result.reason;
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
    }
    for (const key of missing) {
      expect(walk(trie.root(), key, hashed(await createMerkleProof(trie, key)))).toBe('absent');
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

/** That library lists short nodes by themselves as well; nodes of `eth_getProof` are those that parents name by hash. */
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

  /** One hostile node, whose hash is the root. */
  const KEY = new Uint8Array(32).fill(0x11);
  const leaf = (path: Uint8Array, value: Uint8Array | Uint8Array[]) => RLP.encode([path, value]);
  const wholePath = Uint8Array.of(0x20, ...KEY);
  const branch = (child: unknown, own = new Uint8Array(0)) =>
    RLP.encode([new Uint8Array(0), child, ...Array(14).fill(new Uint8Array(0)), own] as Uint8Array[]);
  const hostile: [string, Uint8Array, string][] = [
    ['(an honest leaf, as a control)', leaf(wholePath, Uint8Array.of(5)), '0x05'],
    ['a leaf with the wrong flag', leaf(Uint8Array.of(0x40, ...KEY), Uint8Array.of(5)), 'NODE_INVALID'],
    ['a leaf with a padded path', leaf(Uint8Array.of(0x21, ...KEY), Uint8Array.of(5)), 'NODE_INVALID'],
    [
      'an even path whose second half-byte is not zero',
      leaf(Uint8Array.of(0x2f, ...KEY), Uint8Array.of(5)),
      'NODE_INVALID',
    ],
    ['a leaf whose path is too short', leaf(wholePath.slice(0, 32), Uint8Array.of(5)), 'NODE_INVALID'],
    ['a leaf whose path is too long', leaf(Uint8Array.of(...wholePath, 0), Uint8Array.of(5)), 'NODE_INVALID'],
    ['a leaf without path', leaf(new Uint8Array(0), Uint8Array.of(5)), 'NODE_INVALID'],
    ['a leaf without value', leaf(wholePath, new Uint8Array(0)), 'NODE_INVALID'],
    ['a leaf whose value is a list', leaf(wholePath, [Uint8Array.of(5)]), 'NODE_INVALID'],
    ['an extension along the whole key', leaf(Uint8Array.of(0, ...KEY), bytesOf('x')), 'NODE_INVALID'],
    ['an extension without path', leaf(Uint8Array.of(0), bytesOf('x')), 'NODE_INVALID'],
    ['an extension to nothing', leaf(Uint8Array.of(0, 0x11), new Uint8Array(0)), 'NODE_INVALID'],
    ['a branch with a value of its own', branch(bytesOf('x'), Uint8Array.of(1)), 'NODE_INVALID'],
    ['a branch with a child that is no hash', branch(bytesOf('x', 31)), 'NODE_INVALID'],
    ['a long node inside its parent', branch([Uint8Array.of(0x31, ...KEY.slice(1)), Uint8Array.of(5)]), 'NODE_INVALID'],
    ['a node of three items', RLP.encode([wholePath, Uint8Array.of(5), Uint8Array.of(5)]), 'NODE_INVALID'],
    ['a string', RLP.encode(bytesOf('x')), 'NODE_INVALID'],
    ['an empty list', RLP.encode([]), 'NODE_INVALID'],
    ['bytes that are not RLP', Uint8Array.of(0xf8, 0x01, 0x02), 'NODE_INVALID'],
    ['RLP with bytes left over', Uint8Array.of(...leaf(wholePath, Uint8Array.of(5)), 0), 'NODE_INVALID'],
  ];
  it.each(hostile)('%s', (_, node, outcome) => {
    expect(walk(keccak_256(node), KEY, [node])).toBe(outcome);
  });

  it('a short node referenced by its hash', () => {
    const key = crowdedKey(0);
    const short = leaf(Uint8Array.of(0x30 | (key[31]! & 15)), Uint8Array.of(5));
    // An extension over 62 half-bytes, a branch, a leaf of the last half-byte that should stand inside the branch.
    const inner = RLP.encode([keccak_256(short), ...Array(16).fill(new Uint8Array(0))] as Uint8Array[]);
    const top = RLP.encode([Uint8Array.of(0, ...key.slice(0, 31)), keccak_256(inner)]);
    expect(walk(keccak_256(top), key, [top, inner, short])).toBe('NODE_INVALID');
    const honest = RLP.encode([...Array(16).fill(RLP.decode(short)), new Uint8Array(0)] as Uint8Array[]);
    const above = RLP.encode([Uint8Array.of(0, ...key.slice(0, 31)), keccak_256(honest)]);
    expect(walk(keccak_256(above), key, [above, honest])).toBe('0x05');
  });
});
