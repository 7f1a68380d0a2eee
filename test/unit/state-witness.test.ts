import { describe, expect, it } from 'vitest';
import { emptyHashes } from '../../src/accumulator/empty-subtrees.js';
import { hashWord } from '../../src/accumulator/keys.js';
import { encodeLeaf, encodeTop, headLeaf, type LeafOpening, tailLeaf } from '../../src/accumulator/leaf-opening.js';
import type { ProofItemJson } from '../../src/accumulator/proof-shape.js';
import type { Hasher, HashScheme } from '../../src/kernel/contracts.js';
import { bigIntToBytes, compareBytes, concatBytes } from '../../src/primitives/bytes.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { referenceHasher } from '../../src/reference/hasher.js';
import type { BranchProof, TrieStep } from '../../src/state/trace.js';
import { WitnessNodes } from '../../src/state/witness-nodes.js';
import { witnessFromProofs } from '../../src/state/witness-proof.js';
import { WitnessTrie } from '../../src/state/witness-trie.js';
import { fixtureJson, fixturesPresent } from '../support/fixtures.js';
import { commitDrafts, emptyTree, findInTree, type Tree, TreeDraft } from '../support/plain-tree/tree.js';
import { leafAt } from '../support/plain-tree/tree-nodes.js';
import { proveKey } from '../support/plain-tree/tree-proof.js';
import { seededRandom } from '../support/random.js';

const poseidon = referenceHasher('poseidon2');
const word = (value: number) => bigIntToBytes(BigInt(value), 32);
const hkeyOf = (hasher: Hasher, key: number) => hashWord(hasher, word(key));
const content = (hasher: Hasher, key: number, value: number) => ({
  hkey: hkeyOf(hasher, key),
  hval: hashWord(hasher, word(value)),
  value: word(value),
});

function changed(hasher: Hasher, tree: Tree, change: (draft: TreeDraft) => void): Tree {
  const draft = new TreeDraft(tree);
  change(draft);
  return commitDrafts(hasher, [draft])[0]!;
}

/** A full tree with keys 0 to `count - 1`, holding `100 + key`. */
function fullTree(hasher: Hasher, count: number): Tree {
  return changed(hasher, emptyTree(hasher), (draft) => {
    for (let key = 0; key < count; key++) draft.put(content(hasher, key, 100 + key));
  });
}

/** What the full tree proves of a key, put on top of each other. */
function itemsOf(hasher: Hasher, tree: Tree, keys: readonly number[]): ProofItemJson[] {
  return keys.map((key) => proveKey(hasher, tree, hkeyOf(hasher, key), word(key)));
}

/** Sub root over a branch, by the definition. */
function folded(hasher: Hasher, leafHash: Uint8Array, { leafIndex, siblings }: BranchProof): Uint8Array {
  return siblings.reduce((hash, sibling, level) => {
    const right = (BigInt(leafIndex) >> BigInt(level)) & 1n;
    return hasher.hash(right ? concatBytes(sibling, hash) : concatBytes(hash, sibling));
  }, leafHash);
}

const error = (run: () => unknown) => {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
};

describe.each<[HashScheme, number, number]>([
  ['poseidon2', 3, 60],
  ['mimc', 1, 30],
])('%s: a witness trie and the full tree', (scheme, seeds, steps) => {
  const hasher = referenceHasher(scheme);

  it.each(Array.from({ length: seeds }, (_, seed) => seed + 1))('agree after every step (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const trie = WitnessTrie.empty(hasher);
    let tree = emptyTree(hasher);
    const kinds = new Set<string>();
    for (let i = 0; i < steps; i++) {
      const key = random(10);
      const hkey = hkeyOf(hasher, key);
      const found = findInTree(tree, hkey);
      let step: TrieStep;
      const dice = random(4);
      if (dice === 0) step = trie.read(hkey);
      else if (dice === 1 && found.present) {
        step = trie.remove(hkey);
        tree = changed(hasher, tree, (draft) => draft.remove(hkey));
      } else {
        const written = content(hasher, key, 1 + random(100));
        step = trie.put(written);
        tree = changed(hasher, tree, (draft) => draft.put(written));
      }
      kinds.add(step.type);
      expect(trie.subRoot).toEqual(tree.subRoot);
      expect(trie.topRoot).toEqual(tree.topRoot);
      expect(trie.nextFreeNode).toBe(tree.nextFreeNode);
      expect(trie.read(hkey).type).toBe(findInTree(tree, hkey).present ? 'read' : 'read-zero');
    }
    expect(kinds.size).toBe(5);
    for (let position = 0; position < tree.nextFreeNode; position++) {
      const leaf = leafAt(tree.root, position);
      const { prevLeaf, nextLeaf, hkey, hval } = leaf ?? {};
      expect(trie.leafAt(position)).toEqual(leaf && { prevLeaf, nextLeaf, hkey, hval });
    }
  });

  it('gives branches that fold to the roots of each moment', () => {
    const trie = WitnessTrie.empty(hasher);
    trie.put(content(hasher, 1, 1));
    const step = trie.put(content(hasher, 2, 2));
    if (step.type !== 'insert') throw new Error('not an insertion');
    const leaf = (opening: Parameters<typeof encodeLeaf>[1]) => hasher.hash(encodeLeaf(scheme, opening));
    const { priorLeftLeaf, priorRightLeaf, leftProof, newProof, rightProof } = step;
    expect(folded(hasher, leaf(priorLeftLeaf), leftProof)).toEqual(step.oldSubRoot);
    const second = folded(hasher, leaf({ ...priorLeftLeaf, nextLeaf: 3 }), leftProof);
    expect(folded(hasher, new Uint8Array(32), newProof)).toEqual(second);
    const third = folded(hasher, leaf(trie.leafAt(3)!), newProof);
    expect(folded(hasher, leaf(priorRightLeaf), rightProof)).toEqual(third);
    expect(folded(hasher, leaf({ ...priorRightLeaf, prevLeaf: 3 }), rightProof)).toEqual(step.newSubRoot);
  });
});

describe('a witness trie from proofs of a few keys', () => {
  const tree = fullTree(poseidon, 40);
  const known = [3, 17, 29];

  function partial(keys: readonly number[]): WitnessTrie {
    return witnessFromProofs(poseidon, tree.topRoot, itemsOf(poseidon, tree, keys));
  }

  it.each([1, 2, 3, 4])('updates what it knows as the full tree does (seed %i)', (seed) => {
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

  it('inserts between neighbours it knows and removes keys whose neighbours it knows, at the free position', () => {
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

  it('refuses what it does not know, and stays as it was', () => {
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

  it('takes an absent key for a mismatch when it is to be removed', () => {
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

  it('copies stand apart', () => {
    const trie = partial(known);
    const copy = trie.copy();
    copy.put(content(poseidon, 3, 1));
    expect(trie.topRoot).toEqual(tree.topRoot);
    expect(copy.topRoot).not.toEqual(tree.topRoot);
    expect(trie.read(hkeyOf(poseidon, 3))).toMatchObject({ value: word(103) });
  });
});

describe('a tree whose root is right and whose leaves are not', () => {
  /** Leaves at 0, 1, 2 and so on, all learned. */
  function broken(nextFreeNode: number, ...leaves: LeafOpening[]): WitnessTrie {
    const nodes = WitnessNodes.under(poseidon, emptyHashes(poseidon)[40]!);
    for (let position = 0; position < 8; position++) nodes.reach(position);
    for (const [position, leaf] of leaves.entries())
      nodes.write(position, poseidon.hash(encodeLeaf('poseidon2', leaf)));
    const trie = WitnessTrie.open(poseidon, nextFreeNode, nodes.subRoot);
    for (const [position, leaf] of leaves.entries()) trie.learn(position, leaf, nodes.siblings(position));
    const one = trie.leafAt(2);
    if (one !== undefined) trie.learn(2, one, nodes.siblings(2), word(1));
    return trie;
  }

  const head = { ...headLeaf(), nextLeaf: 2 };
  const tail = { ...tailLeaf('poseidon2'), prevLeaf: 2 };
  const { hkey, hval } = content(poseidon, 1, 1);
  const one = { prevLeaf: 0, nextLeaf: 1, hkey, hval };
  const conflict = expect.objectContaining({ code: 'WITNESS_CONFLICT' });

  it('is refused where its list is broken', () => {
    expect(broken(3, head, tail, one).remove(hkey).type).toBe('delete');
    expect(() => broken(3, { ...head, nextLeaf: 1 }, tail, one).remove(hkey)).toThrowError(conflict);
    expect(() => broken(3, head, { ...tail, prevLeaf: 0 }, one).remove(hkey)).toThrowError(conflict);
    expect(broken(3, head, tail, one).read(hkeyOf(poseidon, 2)).type).toBe('read-zero');
    for (const key of [2, 3, 4, 5]) {
      const ahead = compareBytes(hkeyOf(poseidon, key), hkey) < 0;
      const trie = ahead
        ? broken(3, head, tail, { ...one, prevLeaf: 1 })
        : broken(3, head, { ...tail, prevLeaf: 0 }, one);
      expect(() => trie.read(hkeyOf(poseidon, key))).toThrowError(conflict);
    }
  });

  it('is refused where the free position is in use, or one key stands twice', () => {
    expect(() => broken(2, head, tail, one).put(content(poseidon, 2, 2))).toThrowError(conflict);
    expect(() => broken(4, head, tail, one, one)).toThrowError(conflict);
  });
});

describe('far positions', () => {
  it.each([2 ** 40 - 2, 2 ** 39, 2 ** 33 + 5, 2 ** 32])('inserts at %i', (position) => {
    // A tree without keys whose next position is far out: only the top node differs from the empty one.
    const empty = WitnessTrie.empty(poseidon);
    const trie = WitnessTrie.open(poseidon, position, empty.subRoot);
    const none = empty.read(hkeyOf(poseidon, 1));
    if (none.type !== 'read-zero') throw new Error('not empty');
    trie.learn(0, none.leftLeaf, none.leftProof.siblings);
    trie.learn(1, none.rightLeaf, none.rightProof.siblings);
    const step = trie.put(content(poseidon, 1, 1));
    if (step.type !== 'insert') throw new Error('not an insertion');
    expect(step.newProof.leafIndex).toBe(position);
    const leaf = encodeLeaf('poseidon2', trie.leafAt(position)!);
    // The last write is of the tail, on the other side of the root for the far half.
    const empties = emptyHashes(poseidon);
    const far = folded(poseidon, poseidon.hash(leaf), { leafIndex: position, siblings: empties.slice(0, 40) });
    const near = folded(
      poseidon,
      poseidon.hash(encodeLeaf('poseidon2', { ...none.rightLeaf, prevLeaf: position })),
      step.rightProof,
    );
    expect(step.newSubRoot).toEqual(near);
    if (position >= 2 ** 39) {
      const half = { leafIndex: position, siblings: empties.slice(0, 39) };
      expect(step.rightProof.siblings[39]).toEqual(folded(poseidon, poseidon.hash(leaf), half));
    } else expect(far).not.toEqual(step.newSubRoot);
    expect(trie.topRoot).toEqual(poseidon.hash(encodeTop('poseidon2', position + 1, near)));
  });

  it('refuses to insert into a tree that is full', () => {
    const empty = WitnessTrie.empty(poseidon);
    const trie = WitnessTrie.open(poseidon, 2 ** 40, empty.subRoot);
    const none = empty.read(hkeyOf(poseidon, 1));
    if (none.type !== 'read-zero') throw new Error('not empty');
    trie.learn(0, none.leftLeaf, none.leftProof.siblings);
    trie.learn(1, none.rightLeaf, none.rightProof.siblings);
    expect(error(() => trie.put(content(poseidon, 1, 1)))).toMatchObject({ code: 'OUT_OF_RANGE' });
  });
});

describe.skipIf(!fixturesPresent)('recorded answers of linea_getProof', () => {
  const files = [
    'getproof/mimc-message-service.json',
    'getproof/poseidon2-devnet-contract.json',
    'getproof/poseidon2-missing-account.json',
  ];

  it.each(files)('%s opens a witness trie', (file) => {
    const { scheme, stateRoot, result } = fixtureJson<{
      scheme: HashScheme;
      stateRoot: string;
      result: { accountProof: ProofItemJson };
    }>(`state/${file}`);
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
