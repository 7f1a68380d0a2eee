import { beforeAll, describe, expect, it } from 'vitest';
import { rememberingHasher } from '../../conformance/remembering-hasher.js';
import { encodeAccountValue } from '../../src/accumulator/account-value.js';
import { emptyHashes } from '../../src/accumulator/empty-subtrees.js';
import { hashAccountValue, hashAddress } from '../../src/accumulator/keys.js';
import { encodeLeaf, encodeTop, headLeaf, type LeafOpening, tailLeaf } from '../../src/accumulator/leaf-opening.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { formatTrace } from '../../src/state/trace.js';
import { WitnessNodes } from '../../src/state/witness-trie.js';
import { outcome } from '../support/trace-outcome.js';

let hasher: Hasher;
beforeAll(async () => {
  hasher = rememberingHasher(await loadHasher('poseidon2'));
});

describe('traces of forged tries are refused', () => {
  const [a, b] = [bigIntToBytes(0xan, 20), bigIntToBytes(0xbn, 20)];
  const zero = new Uint8Array(32);
  const head = (nextLeaf: number): LeafOpening => ({ ...headLeaf(), nextLeaf });
  const tail = (prevLeaf: number): LeafOpening => ({ ...tailLeaf('poseidon2'), prevLeaf });
  const hashOf = (leaf: LeafOpening) => hasher.hash(encodeLeaf('poseidon2', leaf));

  /** A tree of any leaves whatever, at the positions 0, 1, 2 and so on. */
  function forgedTree(...leaves: LeafOpening[]) {
    const nodes = WitnessNodes.under(hasher, emptyHashes(hasher)[40]!);
    for (let position = 0; position < 8; position++) nodes.expandEmpty(position);
    for (const [position, leaf] of leaves.entries()) nodes.write(position, hashOf(leaf));
    const root = (nextFreeNode: number) => bytesToHex(hasher.hash(encodeTop('poseidon2', nextFreeNode, nodes.subRoot)));
    const proof = (leafIndex: number) => ({ leafIndex, siblings: nodes.siblings(leafIndex) });
    return { nodes, root, proof };
  }

  function readZero(left: LeafOpening, right: LeafOpening, key: Uint8Array): string {
    const leafA = { prevLeaf: 0, nextLeaf: 1, hkey: hashAddress(hasher, a), hval: zero };
    const { nodes, root, proof } = forgedTree(left, right, leafA);
    const step = { leftLeaf: left, rightLeaf: right, leftProof: proof(0), rightProof: proof(1) };
    const base = { type: 'read-zero', location: undefined, key, nextFreeNode: 3, subRoot: nodes.subRoot } as const;
    return outcome(hasher, root(3), [[formatTrace({ ...base, ...step })]]);
  }

  it('an absent key needs two leaves that link to each other', () => {
    expect(readZero(head(1), tail(0), b)).toBe('holds');
    expect(readZero(head(2), tail(2), a)).toBe('LEAF_LINK_BROKEN');
    expect(readZero(head(1), tail(2), b)).toBe('LEAF_LINK_BROKEN');
    expect(readZero(head(2), tail(0), b)).toBe('LEAF_LINK_BROKEN');
    // A key that is there is not absent: neither beside its left neighbour nor beside its right one.
    expect(readZero({ ...head(1), hkey: hashAddress(hasher, b) }, tail(0), b)).toBe('LEAF_ORDER_BROKEN');
    expect(readZero(head(1), { ...tail(0), hkey: hashAddress(hasher, b) }, b)).toBe('LEAF_ORDER_BROKEN');
  });

  it('a sub root is canonical, also that of storage whose account comes later', () => {
    const { root, proof } = forgedTree(head(1), tail(0));
    const step = { leftLeaf: head(1), rightLeaf: tail(0), leftProof: proof(0), rightProof: proof(1) };
    const base = { type: 'read-zero', nextFreeNode: 2, subRoot: new Uint8Array(32).fill(0xff) } as const;
    for (const of of [
      { location: undefined, key: b },
      { location: a, key: zero },
    ]) {
      const trace = formatTrace({ ...base, ...step, ...of });
      expect(outcome(hasher, root(2), [[trace]])).toBe('NOT_CANONICAL');
    }
  });

  /** An insertion at `position` that is right in all else. */
  function insertion(position: number, ...more: LeafOpening[]): string {
    const { nodes, root, proof } = forgedTree(head(1), tail(0), ...more);
    const parentRoot = root(2);
    const oldSubRoot = nodes.subRoot;
    const value = encodeAccountValue({
      ...{ nonce: 1n, balance: 0n, storageRoot: schemeFormat('poseidon2').emptyRoot, codeSize: 0n },
      ...{ zkCodeHash: schemeFormat('poseidon2').emptyCodeHash, keccakCodeHash: zero },
    });
    const leaf = { prevLeaf: 0, nextLeaf: 1, hkey: hashAddress(hasher, a), hval: hashAccountValue(hasher, value) };
    const leftProof = proof(0);
    nodes.write(0, hashOf(head(position)));
    const newProof = proof(position);
    nodes.write(position, hashOf(leaf));
    const rightProof = proof(1);
    const newSubRoot = nodes.write(1, hashOf(tail(position)));
    const proofs = { leftProof, newProof, rightProof, priorLeftLeaf: head(1), priorRightLeaf: tail(0) };
    const base = { type: 'insert', location: undefined, key: a, value, newNextFreeNode: 3 } as const;
    return outcome(hasher, parentRoot, [[formatTrace({ ...base, ...proofs, oldSubRoot, newSubRoot })]]);
  }

  it('an insertion uses the next free position, which must be unused', () => {
    expect(insertion(2)).toBe('holds');
    expect(insertion(5)).toBe('LEAF_INDEX_MISMATCH');
    expect(insertion(2, { prevLeaf: 0, nextLeaf: 1, hkey: hashAddress(hasher, b), hval: zero })).toBe(
      'BRANCH_MISMATCH',
    );
  });
});
