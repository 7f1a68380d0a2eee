import { describe, expect, it } from 'vitest';
import type { ProofItemJson } from '../../src/accumulator/proof-shape.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { witnessFromProofs } from '../../src/state/witness-state.js';
import { WitnessTrie } from '../../src/state/witness-trie.js';
import { referenceHasher } from '../reference/hasher.js';
import { fixtureJson } from '../support/fixtures.js';
import { ANSWERS } from '../support/proof-fixtures.js';
import { seededRandom } from '../support/random.js';
import { changed, content, error, fullTree, hkeyOf, itemsOf, poseidon, word } from '../support/witness-trees.js';

describe('a witness trie from proofs of a few keys', () => {
  const tree = fullTree(poseidon, 40);
  const known = [3, 17, 29];

  function partial(keys: readonly number[]): WitnessTrie {
    return witnessFromProofs(poseidon, tree.topRoot, itemsOf(poseidon, tree, keys));
  }

  it.each([1, 2, 3, 4])('updates known keys like the full trie (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const trie = partial(known);
    let full = tree;
    for (let i = 0; i < 8; i++) {
      const written = content(poseidon, known[random(3)]!, random(1000) + 1);
      expect(trie.put(written).type).toBe('update');
      full = changed(poseidon, full, (draft) => draft.put(written));
      expect(trie.topRoot).toEqual(full.topRoot);
    }
  });

  it('inserts at the free position between known neighbours, and removes keys with known neighbours', () => {
    let done = 0;
    for (let key = 40; key < 60; key++) {
      // The proof of an absent key gives both neighbours; the last leaf and what is beside it lead to the free position.
      const trie = witnessFromProofs(poseidon, tree.topRoot, itemsOf(poseidon, tree, [key, 39]));
      const written = content(poseidon, key, 7);
      expect(trie.put(written).type).toBe('insert');
      const full = changed(poseidon, tree, (draft) => draft.put(written));
      expect([trie.topRoot, trie.nextFreeNode]).toEqual([full.topRoot, full.nextFreeNode]);
      trie.remove(written.hkey);
      const removed = changed(poseidon, full, (draft) => draft.remove(written.hkey));
      expect(trie.topRoot).toEqual(removed.topRoot);
      done++;
    }
    expect(done).toBe(20);
  });

  it('refuses unknown keys, and is unchanged then', () => {
    const trie = partial(known);
    const root = trie.topRoot;
    const absent = content(poseidon, 50, 1);
    expect(error(() => trie.read(hkeyOf(poseidon, 4)))).toMatchObject({ code: 'WITNESS_MISSING' });
    expect(error(() => trie.put(absent))).toMatchObject({ code: 'WITNESS_MISSING' });
    expect(error(() => trie.remove(hkeyOf(poseidon, 3)))).toMatchObject({
      code: 'WITNESS_MISSING',
      details: { part: 'leaf' },
    });
    expect(trie.topRoot).toEqual(root);
    expect(trie.read(hkeyOf(poseidon, 3))).toMatchObject({ type: 'read', value: word(103) });
  });

  it('refuses keys and values that a trie cannot hold, and is unchanged then', () => {
    const trie = witnessFromProofs(poseidon, tree.topRoot, itemsOf(poseidon, tree, [3, 50, 39, 0]));
    const [root, held, absent] = [trie.topRoot, content(poseidon, 3, 1), content(poseidon, 50, 1)];
    // The last word of eight is that of the modulus.
    const tooLarge = (digest: Uint8Array) => Uint8Array.of(...digest.subarray(0, 28), 0x7f, 0, 0, 1);
    const notCanonical = [
      { ...held, hval: tooLarge(held.hval) },
      { ...absent, hval: tooLarge(absent.hval) },
      { ...absent, hkey: tooLarge(absent.hkey) },
    ];
    for (const written of notCanonical) {
      expect(error(() => trie.put(written))).toMatchObject({ code: 'HASH_INPUT_NOT_CANONICAL' });
      expect(trie.topRoot).toEqual(root);
    }
    const whole = WitnessTrie.empty(poseidon);
    const empty = whole.topRoot;
    for (const hkey of [new Uint8Array(32), schemeFormat('poseidon2').tailKey]) {
      expect(error(() => whole.put({ ...held, hkey }))).toMatchObject({ code: 'OUT_OF_RANGE' });
      expect(error(() => whole.remove(hkey))).toMatchObject({ code: 'OUT_OF_RANGE' });
      expect(whole.topRoot).toEqual(empty);
    }
    expect(trie.put(absent).type).toBe('insert');
    const full = changed(poseidon, tree, (draft) => draft.put(absent));
    expect(trie.topRoot).toEqual(full.topRoot);
  });

  it('refuses to insert when the free position is not known', () => {
    // 72 leaves with head and tail: these proofs show only a node high above the next position.
    const bigger = fullTree(poseidon, 70);
    const item = itemsOf(poseidon, bigger, [80]);
    const trie = witnessFromProofs(poseidon, bigger.topRoot, item);
    expect(error(() => trie.put(content(poseidon, 80, 1)))).toMatchObject({
      code: 'WITNESS_MISSING',
      details: { part: 'branch', position: 72 },
    });
    expect(trie.topRoot).toEqual(bigger.topRoot);
  });

  it('refuses to remove an absent key as a mismatch', () => {
    const trie = partial([41]);
    expect(error(() => trie.remove(hkeyOf(poseidon, 41)))).toMatchObject({ code: 'STATE_MISMATCH' });
  });

  it('refuses branches, values and leaves that contradict the root or each other', () => {
    const trie = partial(known);
    const step = trie.read(hkeyOf(poseidon, 17));
    if (step.type !== 'read') throw new Error('not there');
    const { proof, leaf } = step;
    const conflicts = (run: () => void) => expect(error(run)).toMatchObject({ code: 'WITNESS_CONFLICT' });
    for (const [level, sibling] of proof.siblings.entries()) {
      const damaged = [...proof.siblings];
      damaged[level] = sibling.map((byte, i) => (i === 3 ? byte ^ 1 : byte));
      conflicts(() => trie.learn(proof.leafIndex, leaf, damaged));
      conflicts(() => WitnessTrie.open(poseidon, 42, tree.subRoot).learn(proof.leafIndex, leaf, damaged));
    }
    conflicts(() => trie.learn(proof.leafIndex, { ...leaf, hval: word(1) }, proof.siblings));
    conflicts(() => trie.learn(proof.leafIndex, { ...leaf, prevLeaf: leaf.prevLeaf + 1 }, proof.siblings));
    conflicts(() => trie.learn(proof.leafIndex + 1, leaf, proof.siblings));
    conflicts(() => trie.learn(proof.leafIndex, leaf, proof.siblings, word(1)));
    conflicts(() => trie.learn(proof.leafIndex, undefined, proof.siblings));
    expect(trie.learnValue(proof.leafIndex, word(1))).toBe(false);
    trie.learn(proof.leafIndex, leaf, proof.siblings, step.value);
    const wrongRoot = tree.topRoot.map((byte) => byte ^ 1);
    conflicts(() => witnessFromProofs(poseidon, wrongRoot, itemsOf(poseidon, tree, [3])));
  });

  it('copies are independent', () => {
    const trie = partial(known);
    const copy = trie.copy();
    copy.put(content(poseidon, 3, 1));
    expect(trie.topRoot).toEqual(tree.topRoot);
    expect(copy.topRoot).not.toEqual(tree.topRoot);
    expect(trie.read(hkeyOf(poseidon, 3))).toMatchObject({ value: word(103) });
  });
});

describe('answers of linea_getProof', () => {
  it.each(ANSWERS)('%s opens a witness trie', (name) => {
    const { scheme, stateRoot, result } = fixtureJson<{
      scheme: HashScheme;
      stateRoot: string;
      result: { accountProof: ProofItemJson };
    }>(`state/getproof/${name}.json`);
    const hasher = referenceHasher(scheme);
    const item = result.accountProof;
    const root = hexToBytes(stateRoot, 32);
    const trie = witnessFromProofs(hasher, root, [item]);
    expect(trie.topRoot).toEqual(root);
    const position = 'leafIndex' in item ? item.leafIndex : item.leftLeafIndex;
    const step = trie.read(trie.leafAt(position)!.hkey);
    const value = 'proof' in item ? item.proof.value : item.leftProof.value;
    expect(step).toMatchObject({ type: 'read', value: hexToBytes(value), proof: { leafIndex: position } });
  });
});
