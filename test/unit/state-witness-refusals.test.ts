import { beforeAll, describe, expect, it } from 'vitest';
import type { ProofItemJson } from '../../src/accumulator/proof-shape.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import type { ReadStep } from '../../src/state/trace.js';
import { witnessFromProofs } from '../../src/state/witness-state.js';
import { WitnessTrie } from '../../src/state/witness-trie.js';
import type { Tree } from '../support/plain-tree/tree.js';
import { changed, content, error, fullTree, hkeyOf, itemsOf, word } from '../support/witness-trees.js';

let hasher: Hasher;
let tree: Tree;
beforeAll(async () => {
  hasher = await loadHasher('poseidon2');
  tree = fullTree(hasher, 12);
});

const name = (key: number) => bytesToHex(hkeyOf(hasher, key));
const trieOf = (...keys: number[]) => witnessFromProofs(hasher, tree.topRoot, itemsOf(hasher, tree, keys));
const missingKey = (key: number) => ({
  code: 'WITNESS_MISSING',
  message: `neither the leaf of key hash ${name(key)} nor both its neighbours are known`,
  details: { part: 'leaf', hkey: name(key) },
});
const missing = (part: string, position: number, message: string) => ({
  code: 'WITNESS_MISSING',
  message,
  details: { part, position },
});
const conflict = (position: number, reason: string) => ({
  code: 'WITNESS_CONFLICT',
  message: `leaf position ${position}: ${reason}`,
  details: { position, reason },
});
const readOf = (trie: WitnessTrie, key: number) => trie.read(hkeyOf(hasher, key)) as ReadStep;

describe('a witness trie says what it does not know:', () => {
  it('a key', () => {
    expect(error(() => trieOf(3).read(hkeyOf(hasher, 4)))).toMatchObject(missingKey(4));
    expect(error(() => WitnessTrie.open(hasher, 14, tree.subRoot).read(hkeyOf(hasher, 4)))).toMatchObject(
      missingKey(4),
    );
  });

  it('the leaf beside a key that is removed', () => {
    const full = readOf(trieOf(...Array(12).keys()), 3);
    const lonely = WitnessTrie.open(hasher, 14, tree.subRoot);
    lonely.learn(full.proof.leafIndex, full.leaf, full.proof.siblings, full.value);
    const { prevLeaf } = full.leaf;
    expect(error(() => lonely.remove(hkeyOf(hasher, 3)))).toMatchObject(
      missing('leaf', prevLeaf, `leaf ${prevLeaf} is not known; add its branch`),
    );
  });

  it('a value', () => {
    const { proof, leaf } = readOf(trieOf(3), 3);
    const trie = WitnessTrie.open(hasher, 14, tree.subRoot);
    trie.learn(proof.leafIndex, leaf, proof.siblings);
    const at = proof.leafIndex;
    const none = missing('value', at, `the value of leaf ${at} is not known; add it`);
    expect(error(() => trie.read(hkeyOf(hasher, 3)))).toMatchObject(none);
    expect(error(() => trie.put(content(hasher, 3, 1)))).toMatchObject(none);
    expect(error(() => trie.remove(hkeyOf(hasher, 3)))).toMatchObject(none);
    expect([trie.learnValue(at, word(1)), trie.learnValue(at + 1, word(103))]).toEqual([false, false]);
    expect([trie.learnValue(at, word(103)), trie.learnValue(at, word(103)), trie.learnValue(at, word(1))]).toEqual([
      true,
      true,
      false,
    ]);
    expect(trie.read(hkeyOf(hasher, 3))).toMatchObject({ type: 'read', value: word(103) });
  });

  it('the free position', () => {
    const bigger = fullTree(hasher, 70);
    const trie = witnessFromProofs(hasher, bigger.topRoot, itemsOf(hasher, bigger, [80]));
    expect(error(() => trie.put(content(hasher, 80, 1)))).toMatchObject(
      missing('branch', 72, 'the branch of leaf position 72 is not known'),
    );
  });
});

describe('a witness trie names what contradicts it:', () => {
  it('a branch', () => {
    const trie = trieOf(3);
    const { proof, leaf, value } = readOf(trie, 3);
    const at = proof.leafIndex;
    const with7 = proof.siblings.with(7, word(1));
    const none = conflict(at, 'its branch does not match the known node at level 0');
    expect(error(() => trie.learn(at, { ...leaf, hval: word(1) }, proof.siblings))).toMatchObject(none);
    expect(error(() => trie.learn(at, undefined, proof.siblings))).toMatchObject(none);
    const sibling = conflict(at, 'its sibling at level 7 differs from the known one');
    expect(error(() => trie.learn(at, leaf, with7))).toMatchObject(sibling);
    const open = () => WitnessTrie.open(hasher, 14, tree.subRoot);
    const root = conflict(at, 'its branch does not match the known node at level 40');
    expect(error(() => open().learn(at, leaf, with7))).toMatchObject(root);
    expect(error(() => trie.learn(at, leaf, proof.siblings, value))).toBeUndefined();
  });

  it('a key at another position', () => {
    const trie = trieOf(3);
    const { proof, leaf } = readOf(trie, 3);
    const at = proof.leafIndex;
    expect(error(() => trie.learn(at + 1, leaf, proof.siblings))).toMatchObject(
      conflict(at + 1, `its key is already at leaf position ${at}`),
    );
  });

  it('a value', () => {
    const trie = trieOf(3);
    const { proof, leaf } = readOf(trie, 3);
    const at = proof.leafIndex;
    const wrong = conflict(at, 'its value does not match the hash in the leaf');
    for (const held of [trie, WitnessTrie.open(hasher, 14, tree.subRoot)]) {
      expect(error(() => held.learn(at, leaf, proof.siblings, word(1)))).toMatchObject(wrong);
    }
    const whole = WitnessTrie.empty(hasher);
    const head = whole.leafAt(0)!;
    const none = whole.read(hkeyOf(hasher, 1));
    if (none.type !== 'read-zero') throw new Error('not empty');
    const bare = WitnessTrie.open(hasher, 2, whole.subRoot);
    const notZero = conflict(0, 'its value does not match the hash in the leaf');
    expect(error(() => bare.learn(0, head, none.leftProof.siblings, word(1)))).toMatchObject(notZero);
    bare.learn(0, head, none.leftProof.siblings, new Uint8Array(32));
    expect(bare.read(head.hkey)).toMatchObject({ type: 'read', value: new Uint8Array(32) });
  });

  it('an absent key to remove, a key of head or tail, and a full trie', () => {
    const trie = trieOf(41);
    expect(error(() => trie.remove(hkeyOf(hasher, 41)))).toMatchObject({
      code: 'STATE_MISMATCH',
      message: 'a key to remove is not in the trie',
      details: { what: `key of hash ${name(41)}`, expected: 'none', actual: 'to be removed' },
    });
    for (const hkey of [new Uint8Array(32), schemeFormat('poseidon2').tailKey]) {
      for (const run of [() => trie.remove(hkey), () => trie.put({ ...content(hasher, 1, 1), hkey })]) {
        expect(error(run)).toMatchObject({
          code: 'OUT_OF_RANGE',
          message: 'hkey is that of head or tail',
          details: { what: 'hkey', value: 'that of head or tail', limit: 'between the keys of head and tail' },
        });
      }
    }
    const empty = WitnessTrie.empty(hasher);
    const full = WitnessTrie.open(hasher, 2 ** 40, empty.subRoot);
    const none = empty.read(hkeyOf(hasher, 1));
    if (none.type !== 'read-zero') throw new Error('not empty');
    full.learn(0, none.leftLeaf, none.leftProof.siblings);
    full.learn(1, none.rightLeaf, none.rightProof.siblings);
    expect(error(() => full.put(content(hasher, 1, 1)))).toMatchObject({
      code: 'OUT_OF_RANGE',
      message: 'the trie is full',
      details: { what: 'leaf position', value: String(2 ** 40), limit: '2^40 - 1' },
    });
  });
});

describe('a trie from proofs', () => {
  it('knows the leaves of the items, and those beside them', () => {
    const whole = trieOf(...Array(12).keys());
    const known = (trie: WitnessTrie) =>
      Array.from({ length: 14 }, (_, position) => trie.leafAt(position) !== undefined);
    for (const key of [0, 3, 11]) {
      const trie = trieOf(key);
      const { leafIndex } = readOf(trie, key).proof;
      const beside = leafIndex ^ 1;
      expect(known(trie)).toEqual(Array.from({ length: 14 }, (_, at) => at === leafIndex || at === beside));
      expect([trie.leafAt(leafIndex), trie.leafAt(beside)]).toEqual([whole.leafAt(leafIndex), whole.leafAt(beside)]);
    }
  });

  it('may begin at the head', () => {
    const empty = fullTree(hasher, 0);
    const trie = witnessFromProofs(hasher, empty.topRoot, itemsOf(hasher, empty, [5]));
    expect([trie.leafAt(0)?.nextLeaf, trie.leafAt(1)?.prevLeaf]).toEqual([1, 0]);
    const step = trie.put(content(hasher, 5, 1));
    expect([step.type, trie.topRoot]).toEqual([
      'insert',
      changed(hasher, empty, (draft) => draft.put(content(hasher, 5, 1))).topRoot,
    ]);
  });
});

describe('items of a proof that are refused:', () => {
  type Item = Extract<ProofItemJson, { leafIndex: number }>;
  const item = () => structuredClone(itemsOf(hasher, tree, [3])[0]!) as Item;
  const withNodes = (change: (nodes: readonly Hex[]) => readonly Hex[]): ProofItemJson => {
    const { key, leafIndex, proof } = item();
    return { key, leafIndex, proof: { ...proof, proofRelatedNodes: [...change(proof.proofRelatedNodes)] } };
  };
  const refused = (items: readonly ProofItemJson[]) => error(() => witnessFromProofs(hasher, tree.topRoot, items));
  const malformed = (path: string, reason: string) => ({
    code: 'PROOF_MALFORMED',
    message: `malformed proof: ${path} ${reason}`,
    details: { path, reason },
  });

  it('none', () => {
    expect(refused([])).toMatchObject(malformed('items', 'must not be empty'));
  });

  it('a position that is none', () => {
    for (const leafIndex of [-1, 0.5, 2 ** 40, Number.NaN]) {
      expect(refused([item(), { ...item(), leafIndex }])).toMatchObject(
        malformed('items[1].proof', 'must have a leaf position from 0 to 2^40 - 1'),
      );
    }
    const [absent] = itemsOf(hasher, tree, [50]);
    for (const side of ['left', 'right']) {
      expect(refused([{ ...absent!, [`${side}LeafIndex`]: -1 } as ProofItemJson])).toMatchObject(
        malformed(`items[0].${side}Proof`, 'must have a leaf position from 0 to 2^40 - 1'),
      );
    }
  });

  it('another number of nodes, or nodes of another length', () => {
    for (const nodes of [withNodes((all) => all.slice(1)), withNodes((all) => [...all, '0x'])]) {
      expect(refused([nodes])).toMatchObject(malformed('items[0].proof', 'must have 42 nodes'));
    }
    for (const at of [0, 1, 20, 40, 41]) {
      const one = withNodes((all) => all.with(at, `${all[at]!}00` as Hex));
      expect(refused([one])).toMatchObject({ code: 'INVALID_LENGTH' });
    }
    expect(refused([withNodes((all) => all.with(41, `0x${'00'.repeat(32)}`))])).toMatchObject({
      code: 'INVALID_LENGTH',
    });
  });

  it('a leaf that is none', () => {
    const leaf = withNodes((all) => all.with(41, `0x${'ff'.repeat(all[41]!.length / 2 - 1)}`));
    expect(refused([leaf])).toMatchObject(malformed('items[0].proof', 'has a leaf with invalid neighbour positions'));
  });

  it('another top root', () => {
    const { leafIndex } = item();
    const other = changed(hasher, tree, (draft) => draft.put(content(hasher, 3, 1)));
    const [elsewhere] = itemsOf(hasher, other, [3]);
    const reason = 'its proof leads to another top root';
    expect(refused([elsewhere!])).toMatchObject(conflict(leafIndex, reason));
    expect(refused([item(), elsewhere!])).toMatchObject(conflict(leafIndex, reason));
  });

  it('a top node without a position', () => {
    const top = new Uint8Array(schemeFormat('poseidon2').topBytes).fill(1);
    const { key, leafIndex, proof } = item();
    const nodes = proof.proofRelatedNodes.with(0, bytesToHex(top));
    const forged = { key, leafIndex, proof: { ...proof, proofRelatedNodes: nodes } };
    expect(error(() => witnessFromProofs(hasher, hasher.hash(top), [forged]))).toMatchObject(
      malformed('items[0]', 'has a top node without a valid nextFreeNode'),
    );
  });
});
