import { describe, expect, it } from 'vitest';
import { emptyHashes } from '../../src/accumulator/empty-subtrees.js';
import { encodeLeaf, encodeTop, headLeaf, type LeafOpening, tailLeaf } from '../../src/accumulator/leaf-opening.js';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { compareBytes } from '../../src/primitives/bytes.js';
import type { TrieStep } from '../../src/state/trace.js';
import { WitnessNodes, WitnessTrie } from '../../src/state/witness-trie.js';
import { referenceHasher } from '../reference/hasher.js';
import { emptyTree, findInTree } from '../support/plain-tree/tree.js';
import { leafAt } from '../support/plain-tree/tree-nodes.js';
import { seededRandom } from '../support/random.js';
import { changed, content, error, folded, hkeyOf, poseidon, word } from '../support/witness-trees.js';

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

  it('gives branches that lead to the root of each step', () => {
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

describe('a trie with a valid root and invalid leaves', () => {
  /** Leaves at 0, 1, 2 and so on, all learned. */
  function broken(nextFreeNode: number, ...leaves: LeafOpening[]): WitnessTrie {
    const nodes = WitnessNodes.under(poseidon, emptyHashes(poseidon)[40]!);
    for (let position = 0; position < 8; position++) nodes.expandEmpty(position);
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

  it('is refused if its list of leaves is broken', () => {
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
    // A list that leads back to the head, which is not above the key.
    const circle = broken(3, { ...head, prevLeaf: 2 }, tail, { ...one, nextLeaf: 0 });
    const above = [2, 3, 4, 5].filter((key) => compareBytes(hkeyOf(poseidon, key), hkey) > 0);
    expect(above.length).toBeGreaterThan(0);
    for (const key of above) expect(() => circle.read(hkeyOf(poseidon, key))).toThrowError(conflict);
  });

  it('is refused if the free position is in use, or a key occurs twice', () => {
    expect(error(() => broken(2, head, tail, one).put(content(poseidon, 2, 2)))).toMatchObject({
      code: 'WITNESS_CONFLICT',
      message: 'leaf position 2: the next free position is in use',
    });
    expect(() => broken(4, head, tail, one, one)).toThrowError(conflict);
  });
});

describe('high positions', () => {
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

  it('refuses to insert into a full trie', () => {
    const empty = WitnessTrie.empty(poseidon);
    const trie = WitnessTrie.open(poseidon, 2 ** 40, empty.subRoot);
    const none = empty.read(hkeyOf(poseidon, 1));
    if (none.type !== 'read-zero') throw new Error('not empty');
    trie.learn(0, none.leftLeaf, none.leftProof.siblings);
    trie.learn(1, none.rightLeaf, none.rightProof.siblings);
    expect(error(() => trie.put(content(poseidon, 1, 1)))).toMatchObject({ code: 'OUT_OF_RANGE' });
  });
});
