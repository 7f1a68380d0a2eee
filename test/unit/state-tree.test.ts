import { describe, expect, it } from 'vitest';
import { emptyHashes } from '../../src/accumulator/empty-subtrees.js';
import { hashWord } from '../../src/accumulator/keys.js';
import { encodeLeaf, encodeTop, headLeaf, tailLeaf } from '../../src/accumulator/leaf-opening.js';
import type { MerkleProofJson } from '../../src/accumulator/proof-shape.js';
import type { Hasher, HashScheme } from '../../src/kernel/contracts.js';
import { bigIntToBytes, compareBytes, concatBytes, isZeroBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { floorEntry, type KeyIndex, withKey, withoutKey } from '../../src/state/witness-trie.js';
import { referenceHasher } from '../reference/hasher.js';
import { commitDrafts, emptyTree, type Leaf, type Tree, TreeDraft } from '../support/plain-tree/tree.js';
import { leafAt } from '../support/plain-tree/tree-nodes.js';
import { proveKey } from '../support/plain-tree/tree-proof.js';
import { seededRandom } from '../support/random.js';

const word = (value: number | bigint) => bigIntToBytes(BigInt(value), 32);

/** The check values of docs/spec/state-trie.md 2, from Shomei and the prover. */
const PUBLISHED: Record<HashScheme, Record<string, string>> = {
  mimc: {
    z1: '022efa6a7d3f639a3831916b27daaa5cbcaf1165e47f04ffbe1e707e30a32469',
    z39: '09e70d042c8766d9609b6d8169e4e99c664be32a9a4d6461726723723118cfbe',
    z40: '09c43afd684b1243cc64af08b18565a71a7f504ecf9721f3c1cd3704f71bdff6',
    head: '0891fa77c3d0c9b745840d71d41dcb58b638d4734bb4f0bba4a3d1a2d847b672',
    tail: '10ba2286f648a549b50ea5f1b6e1155d22c31eb4727c241e76c420200cd5dbe0',
    emptySubRoot: '0951bfcd4ac808d195af8247140b906a4379b3f2d37ec66e34d2f4a5d35fa166',
    emptyTopRoot: '07977874126658098c066972282d4c85f230520af3847e297fe7524f976873e5',
    oneSubRoot: '033872bed089870f2cdf8f7225e788529b462728411979d6d8daf6b4238b9523',
    oneTopRoot: '0cb64b38d8631a95c7b57be839251759e73775b9cf09205eb33175915b3cb7fe',
    removedTopRoot: '0bcb88342825fa7a079a5cf5f77d07b1590a140c311a35acd765080eea120329',
  },
  poseidon2: {
    z1: '225471e76dca970375f18cc4222539bf1893f40b2c28b7d62119af207704c426',
    z39: '639bef4d255b33103543742212d4e7710dbd582b47ece1c76a481f3e7dea1639',
    z40: '05cc626913eeae6f2178e67d4a4725a73653a33c3e5f61ca6e95cccf0a590fde',
    head: '2f5de7ad279a134761de0d89702e52743b2f04f41b86cc5400dfae1d4b981340',
    tail: '5c73480b5e85fc2c3ab61fc155cf475b74590d005d8916b85fdd5c32773b1255',
    emptySubRoot: '3a00a8e34a16f8a1225fee734816edb326f783bd6678d793345a28f046586ba6',
    emptyTopRoot: '2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7',
    oneSubRoot: '6076c4251ce973301fe3acbe16f45a39678a67836e2f07c512ef80592a67ec8b',
    oneTopRoot: '621c231b265b04b87157ce2871c6285d4e1e92751a18e12626f8ab472717acbb',
    removedTopRoot: '391010e55fad441a1e3a33b11fb8271f68e86b6c1812ebd402d678d343fded62',
  },
};

function changed(hasher: Hasher, tree: Tree, change: (draft: TreeDraft) => void): Tree {
  const draft = new TreeDraft(tree);
  change(draft);
  return commitDrafts(hasher, [draft])[0]!;
}

const slot = (hasher: Hasher, key: number, value: number) => ({
  hkey: hashWord(hasher, word(key)),
  hval: hashWord(hasher, word(value)),
  value: word(value),
});

describe.each(['mimc', 'poseidon2'] as const)('%s tree', (scheme) => {
  const hasher = referenceHasher(scheme);
  const bare = (bytes: Uint8Array) => bytesToHex(bytes).slice(2);

  it('gives the published values', () => {
    const empties = emptyHashes(hasher);
    const empty = emptyTree(hasher);
    const one = changed(hasher, empty, (draft) => draft.put(slot(hasher, 0, 1)));
    const removed = changed(hasher, one, (draft) => draft.remove(hashWord(hasher, word(0))));
    expect(removed.subRoot).toEqual(empty.subRoot);
    expect({
      z1: bare(empties[1]!),
      z39: bare(empties[39]!),
      z40: bare(empties[40]!),
      head: bare(hasher.hash(encodeLeaf(scheme, headLeaf()))),
      tail: bare(hasher.hash(encodeLeaf(scheme, tailLeaf(scheme)))),
      emptySubRoot: bare(empty.subRoot),
      emptyTopRoot: bare(empty.topRoot),
      oneSubRoot: bare(one.subRoot),
      oneTopRoot: bare(one.topRoot),
      removedTopRoot: bare(removed.topRoot),
    }).toEqual(PUBLISHED[scheme]);
  });
});

/** Sub root of leaves by position, straight from the definition. */
function definedSubRoot(hasher: Hasher, leaves: ReadonlyMap<number, Leaf>): Uint8Array {
  let level = new Map([...leaves].map(([at, leaf]) => [at, hasher.hash(encodeLeaf(hasher.scheme, leaf))]));
  let empty: Uint8Array = new Uint8Array(32);
  for (let depth = 0; depth < 40; depth++) {
    const parents = new Map<number, Uint8Array>();
    for (const position of new Set([...level.keys()].map((at) => Math.floor(at / 2)))) {
      const [left, right] = [level.get(2 * position) ?? empty, level.get(2 * position + 1) ?? empty];
      parents.set(position, hasher.hash(concatBytes(left, right)));
    }
    level = parents;
    empty = hasher.hash(concatBytes(empty, empty));
  }
  return level.get(0)!;
}

function leavesOf(tree: Tree): Map<number, Leaf> {
  const leaves = new Map<number, Leaf>();
  for (let at = 0; at < tree.nextFreeNode; at++) {
    const leaf = leafAt(tree.root, at);
    if (leaf !== undefined) leaves.set(at, leaf);
  }
  return leaves;
}

/** Root that a branch leads to, folded by the rule of docs/spec/state-trie.md 8. */
function foldedRoot(hasher: Hasher, index: number, { proofRelatedNodes }: MerkleProofJson): Uint8Array {
  const nodes = proofRelatedNodes.map((node) => hexToBytes(node));
  let hash = hasher.hash(nodes[41]!);
  for (let level = 0; level < 40; level++) {
    const sibling = nodes[40 - level]!;
    const digest = level === 0 && isZeroBytes(sibling) ? sibling : hasher.hash(sibling);
    const right = (BigInt(index) >> BigInt(level)) & 1n;
    hash = hasher.hash(right ? concatBytes(digest, hash) : concatBytes(hash, digest));
  }
  expect(nodes[0]!.subarray(-32)).toEqual(hash);
  return hasher.hash(nodes[0]!);
}

describe('operations', () => {
  const hasher = referenceHasher('poseidon2');

  function randomStep(random: (below: number) => number, draft: TreeDraft): void {
    const key = random(24);
    if (random(3) === 0) draft.remove(hashWord(hasher, word(key)));
    else draft.put(slot(hasher, key, 1 + random(100)));
  }

  it.each([1, 2, 3])(
    'many operations at once give the same trie as one by one, and as its definition (seed %i)',
    (seed) => {
      const [first, second] = [seededRandom(seed), seededRandom(seed)];
      let stepped = emptyTree(hasher);
      for (let i = 0; i < 60; i++) stepped = changed(hasher, stepped, (draft) => randomStep(first, draft));
      const batched = changed(hasher, emptyTree(hasher), (draft) => {
        for (let i = 0; i < 60; i++) randomStep(second, draft);
      });
      expect(batched.topRoot).toEqual(stepped.topRoot);
      expect(leavesOf(batched)).toEqual(leavesOf(stepped));
      expect(batched.subRoot).toEqual(definedSubRoot(hasher, leavesOf(batched)));
    },
  );

  it('leaves are linked in the order of their keys', () => {
    const tree = changed(hasher, emptyTree(hasher), (draft) => {
      for (let key = 0; key < 30; key++) draft.put(slot(hasher, key, 7));
      for (let key = 0; key < 30; key += 3) draft.remove(hashWord(hasher, word(key)));
    });
    const leaves = leavesOf(tree);
    const walk: Uint8Array[] = [];
    for (let at = 0, before = 0; ; before = at, at = leaves.get(at)!.nextLeaf) {
      const leaf = leaves.get(at)!;
      expect(leaf.prevLeaf).toBe(at === 0 ? 0 : before);
      walk.push(leaf.hkey);
      if (at === 1) break;
    }
    expect(walk).toEqual([...leaves.values()].map(({ hkey }) => hkey).sort(compareBytes));
    expect(walk).toHaveLength(22);
  });

  it('a trie is unchanged when the next one is made', () => {
    const key = word(5);
    const hkey = hashWord(hasher, key);
    const old = changed(hasher, emptyTree(hasher), (draft) => {
      for (let i = 0; i < 8; i++) draft.put(slot(hasher, i, 1));
    });
    const before = JSON.stringify([proveKey(hasher, old, hkey, key), bytesToHex(old.topRoot)]);
    const next = changed(hasher, old, (draft) => {
      draft.remove(hkey);
      for (let i = 4; i < 20; i++) draft.put(slot(hasher, 10 * i, 2));
    });
    expect(next.topRoot).not.toEqual(old.topRoot);
    expect(JSON.stringify([proveKey(hasher, old, hkey, key), bytesToHex(old.topRoot)])).toBe(before);
  });

  it('works at positions above 2^32, up to the last one', () => {
    const draft = new TreeDraft(emptyTree(hasher));
    draft.nextFreeNode = 2 ** 39 + 5;
    draft.put(slot(hasher, 1, 1));
    draft.nextFreeNode = 2 ** 40 - 1;
    draft.put(slot(hasher, 2, 2));
    expect(() => draft.put(slot(hasher, 3, 3))).toThrow(expect.objectContaining({ code: 'OUT_OF_RANGE' }));
    const [tree] = commitDrafts(hasher, [draft]);
    const leaves = new Map([0, 1, 2 ** 39 + 5, 2 ** 40 - 1].map((at) => [at, leafAt(tree!.root, at)!]));
    expect(tree!.subRoot).toEqual(definedSubRoot(hasher, leaves));
    expect(tree!.topRoot).toEqual(hasher.hash(encodeTop('poseidon2', 2 ** 40, tree!.subRoot)));
    const item = proveKey(hasher, tree!, hashWord(hasher, word(2)), word(2));
    if (!('leafIndex' in item)) throw new Error('the key is there');
    expect(item.leafIndex).toBe(2 ** 40 - 1);
    expect(foldedRoot(hasher, item.leafIndex, item.proof)).toEqual(tree!.topRoot);
  });

  it('proves present and absent keys against the top root', () => {
    const tree = changed(hasher, emptyTree(hasher), (draft) => {
      for (let key = 0; key < 9; key++) draft.put(slot(hasher, key, key + 1));
      for (let key = 0; key < 9; key += 3) draft.remove(hashWord(hasher, word(key)));
    });
    for (let key = 0; key < 12; key++) {
      const item = proveKey(hasher, tree, hashWord(hasher, word(key)), word(key));
      expect('leafIndex' in item).toBe(key < 9 && key % 3 !== 0);
      const branches: [number, MerkleProofJson][] =
        'leafIndex' in item
          ? [[item.leafIndex, item.proof]]
          : [
              [item.leftLeafIndex, item.leftProof],
              [item.rightLeafIndex, item.rightProof],
            ];
      for (const [index, proof] of branches) expect(foldedRoot(hasher, index, proof)).toEqual(tree.topRoot);
    }
  });

  it('commits many drafts like one', () => {
    const drafts = () =>
      [1, 2, 3].map((count) => {
        const draft = new TreeDraft(emptyTree(hasher));
        for (let i = 0; i < count; i++) draft.put(slot(hasher, i, count));
        return draft;
      });
    const untouched = new TreeDraft(emptyTree(hasher));
    const together = commitDrafts(hasher, [...drafts(), untouched]);
    const alone = drafts().map((draft) => commitDrafts(hasher, [draft])[0]!.topRoot);
    expect(together.map(({ topRoot }) => topRoot)).toEqual([...alone, untouched.base.topRoot]);
  });
});

describe('key index', () => {
  it('finds floors like a sorted list, and old versions are unchanged', () => {
    const random = seededRandom(11);
    // Few distinct bytes, so that keys share long prefixes.
    const randomKey = () =>
      hexToBytes(`0x${Array.from({ length: 32 }, () => ['00', '01', 'f0', 'ff'][random(4)]).join('')}`);
    const pool = Array.from({ length: 120 }, (_, i) => {
      const key = randomKey();
      if (i % 2 === 0) key.fill(0, 0, 30);
      return key;
    });
    const versions: { index: KeyIndex | undefined; keys: Map<string, number> }[] = [
      { index: undefined, keys: new Map() },
    ];
    for (let step = 0; step < 400; step++) {
      const { index, keys } = versions.at(-1)!;
      const hkey = pool[random(pool.length)]!;
      const next = new Map(keys);
      if (random(3) === 0) {
        next.delete(bytesToHex(hkey));
        versions.push({ index: withoutKey(index, hkey), keys: next });
      } else {
        next.set(bytesToHex(hkey), step);
        versions.push({ index: withKey(index, { hkey, position: step }), keys: next });
      }
    }
    // A key that is not there changes nothing.
    for (const { index, keys } of versions) {
      const none = pool.find((hkey) => !keys.has(bytesToHex(hkey))) ?? randomKey();
      expect(withoutKey(index, none)).toBe(index);
    }
    for (const { index, keys } of versions) {
      const sorted = [...keys].sort(([a], [b]) => (a < b ? -1 : 1));
      for (const probe of [randomKey(), pool[random(pool.length)]!, pool[random(pool.length)]!]) {
        const expected = sorted.findLast(([key]) => key <= bytesToHex(probe));
        const floor = floorEntry(index, probe);
        expect(floor && [bytesToHex(floor.hkey), floor.position]).toEqual(expected);
      }
    }
  });
});
