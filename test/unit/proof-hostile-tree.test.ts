import { describe, expect, it } from 'vitest';
import { encodeLeaf, headLeaf, type LeafOpening, tailLeaf } from '../../src/accumulator/leaf-opening.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import { bigIntToBytes, compareBytes } from '../../src/primitives/bytes.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import { verifyTreeItem } from '../../src/proof/linea-proof.js';
import { type HostileLeaf, HostileTree } from '../support/hostile-tree.js';
import { rememberingHasher, wordQuestion } from '../support/proof-fixtures.js';
import { outcome } from '../support/refusal.js';

const word = (value: number) => bigIntToBytes(BigInt(value), 32);
const ZERO = word(0);

/** Trees that the rules do not lead to, with proofs that hash up to their root: only the other checks can refuse them. */
describe.each(['mimc', 'poseidon2'] as const)('%s trees that break a rule', (scheme) => {
  const hasher = rememberingHasher(scheme);
  const { indexBytes } = schemeFormat(scheme);
  const hash = (bytes: Uint8Array) => hasher.hash(bytes);
  // Three keys in the order of their hashes.
  const keys = [word(1), word(2), word(3)].sort((a, b) => compareBytes(hash(a), hash(b))) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const [low, middle, high] = keys;
  const at = (prevLeaf: number, nextLeaf: number, key: Uint8Array, value: Uint8Array): HostileLeaf => ({
    opening: { prevLeaf, nextLeaf, hkey: hash(key), hval: hash(value) },
    value,
  });
  const edge = (opening: LeafOpening | Uint8Array, value = ZERO): HostileLeaf => ({ opening, value });
  const head = { ...headLeaf(), nextLeaf: 2 };
  const tail = { ...tailLeaf(scheme), prevLeaf: 3 };
  /** Head, low, high, tail. */
  const honest = { 0: edge(head), 1: edge(tail), 2: at(0, 3, low, word(7)), 3: at(2, 1, high, word(8)) };

  /** Place and message of the last refusal. */
  let last = '';
  const told = <V extends ReturnType<typeof verifyTreeItem>>(verdict: V): V => {
    last = verdict.verified ? '' : `${verdict.at} ${verdict.message}`;
    return verdict;
  };

  type Leaves = Record<number, HostileLeaf>;
  const present = (leaves: Leaves, key: Uint8Array, leafIndex: number, nextFreeNode: number | Uint8Array = 4) => {
    const tree = new HostileTree(hasher, leaves, nextFreeNode);
    const item = { key: bytesToHex(key), leafIndex, proof: tree.branch(leafIndex) };
    return outcome(() => told(verifyTreeItem(hasher, tree.root, wordQuestion(key, hash), item)));
  };
  const absent = (
    leaves: Leaves,
    key: Uint8Array,
    left: number,
    right: number,
    nextFreeNode: number | Uint8Array = 4,
  ) => {
    const tree = new HostileTree(hasher, leaves, nextFreeNode);
    const [leftProof, rightProof] = [tree.branch(left), tree.branch(right)];
    const item = { key: bytesToHex(key), leftLeafIndex: left, rightLeafIndex: right, leftProof, rightProof };
    return outcome(() => told(verifyTreeItem(hasher, tree.root, wordQuestion(key, hash), item)));
  };

  it('accepts the honest tree', () => {
    expect(present(honest, low, 2)).toBe('accepted');
    expect(present(honest, high, 3)).toBe('accepted');
    expect(absent(honest, middle, 2, 3)).toBe('accepted');
    const one = { 0: edge(head), 1: edge({ ...tail, prevLeaf: 2 }), 2: at(0, 1, middle, word(7)) };
    expect(absent(one, low, 0, 2, 3)).toBe('accepted');
    expect(absent(one, high, 2, 1, 3)).toBe('accepted');
    expect(absent({ 0: edge(headLeaf()), 1: edge(tailLeaf(scheme)) }, high, 0, 1, 2)).toBe('accepted');
  });

  it('accepts a position at the far end, and refuses nextFreeNode beyond it', () => {
    const last = 2 ** 40 - 1;
    const far = {
      0: edge({ ...head, nextLeaf: last }),
      1: edge({ ...tail, prevLeaf: last }),
      [last]: at(0, 1, low, word(7)),
    };
    expect(present(far, low, last, 2 ** 40)).toBe('accepted');
    expect(present(far, low, last, 2 ** 40 + 1)).toBe('INDEX_OUT_OF_RANGE');
    expect(present(far, low, last, last)).toBe('INDEX_OUT_OF_RANGE');
  });

  it('refuses leaves and links at or above nextFreeNode', () => {
    expect(present(honest, high, 3, 3)).toBe('INDEX_OUT_OF_RANGE');
    expect(present({ ...honest, 3: at(2, 4, high, word(8)) }, high, 3)).toBe('INDEX_OUT_OF_RANGE');
    expect(present({ ...honest, 3: at(4, 1, high, word(8)) }, high, 3)).toBe('INDEX_OUT_OF_RANGE');
    expect(present({ 0: edge(head), 2: at(0, 0, low, word(7)) }, low, 2, 1)).toBe('INDEX_OUT_OF_RANGE');
  });

  it('refuses index words that are not the encoding of an index', () => {
    const wide = new Uint8Array(indexBytes);
    wide[indexBytes - 3] = scheme === 'mimc' ? 0 : 1; // A limb of 17 bits: the integer 65 536, written another way.
    wide[0] = scheme === 'mimc' ? 1 : 0;
    expect(present(honest, low, 2, wide)).toBe('INDEX_OUT_OF_RANGE');
    const raw = encodeLeaf(scheme, { prevLeaf: 0, nextLeaf: 3, hkey: hash(low), hval: hash(word(7)) });
    raw.set(wide, 0);
    expect(present({ ...honest, 2: { opening: raw, value: word(7) } }, low, 2, 2 ** 30)).toBe('INDEX_OUT_OF_RANGE');
    // The same as the sibling of the proven leaf.
    expect(present({ ...honest, 2: { opening: raw, value: word(7) } }, high, 3, 2 ** 30)).toBe('INDEX_OUT_OF_RANGE');
  });

  it('refuses a key kept at the position of head or tail', () => {
    expect(present({ 0: at(0, 1, low, word(7)), 1: edge(tail) }, low, 0)).toBe('INDEX_OUT_OF_RANGE');
    expect(present({ 0: edge(head), 1: at(0, 1, low, word(7)) }, low, 1)).toBe('INDEX_OUT_OF_RANGE');
  });

  it('refuses a stored zero, and a value that is not the one of the leaf', () => {
    expect(present({ ...honest, 2: at(0, 3, low, ZERO) }, low, 2)).toBe('ZERO_SLOT_STORED');
    expect(present({ ...honest, 2: { ...at(0, 3, low, word(7)), value: word(8) } }, low, 2)).toBe('VALUE_MISMATCH');
  });

  it('refuses neighbours that do not point at each other, or do not enclose the key', () => {
    expect(absent({ ...honest, 2: at(0, 1, low, word(7)) }, middle, 2, 3)).toBe('LINK_BROKEN');
    expect(absent({ ...honest, 3: at(0, 1, high, word(8)) }, middle, 2, 3)).toBe('LINK_BROKEN');
    expect(absent(honest, low, 2, 3)).toBe('LEAF_ORDER_BROKEN');
    expect(absent(honest, high, 2, 3)).toBe('LEAF_ORDER_BROKEN');
    expect(absent({ ...honest, 3: at(2, 1, middle, word(8)) }, high, 2, 3)).toBe('LEAF_ORDER_BROKEN');
    expect(absent({ ...honest, 2: at(0, 3, middle, word(8)) }, low, 2, 3)).toBe('LEAF_ORDER_BROKEN');
  });

  it('refuses neighbours shown with another value', () => {
    const other = (leaf: HostileLeaf) => ({ ...leaf, value: word(9) });
    expect(absent({ ...honest, 2: other(honest[2]) }, middle, 2, 3)).toBe('VALUE_MISMATCH');
    expect(absent({ ...honest, 3: other(honest[3]) }, middle, 2, 3)).toBe('VALUE_MISMATCH');
    const empty = { 0: edge(headLeaf()), 1: edge(tailLeaf(scheme)) };
    expect(absent({ ...empty, 0: other(empty[0]) }, low, 0, 1, 2)).toBe('VALUE_MISMATCH');
    expect(absent({ ...empty, 1: other(empty[1]) }, low, 0, 1, 2)).toBe('VALUE_MISMATCH');
  });

  it('refuses head and tail in another form or place', () => {
    const empty = { 0: edge(headLeaf()), 1: edge(tailLeaf(scheme)) };
    const broken = (leaves: Leaves, left = 0, right = 1, next = 4) =>
      absent({ ...empty, ...leaves }, low, left, right, next);
    expect(broken({ 0: edge({ ...headLeaf(), prevLeaf: 1 }) })).toBe('EDGE_LEAF_BROKEN');
    expect(broken({ 0: edge({ ...headLeaf(), hval: hash(ZERO) }) })).toBe('EDGE_LEAF_BROKEN');
    expect(broken({ 0: edge({ ...headLeaf(), hkey: word(1) }) })).toBe('EDGE_LEAF_BROKEN');
    expect(broken({ 1: edge({ ...tailLeaf(scheme), nextLeaf: 0 }) })).toBe('EDGE_LEAF_BROKEN');
    expect(broken({ 1: edge({ ...tailLeaf(scheme), hval: hash(ZERO) }) })).toBe('EDGE_LEAF_BROKEN');
    expect(broken({ 1: edge({ ...tailLeaf(scheme), hkey: hash(high) }) })).toBe('EDGE_LEAF_BROKEN');
    // Both at once: at the wrong ends of the tree, and a second head or tail further in.
    expect(
      broken({ 0: edge({ ...tailLeaf(scheme), prevLeaf: 1 }), 1: edge({ ...headLeaf(), nextLeaf: 0 }) }, 1, 0),
    ).toBe('EDGE_LEAF_BROKEN');
    expect(
      broken({ 1: edge({ ...tailLeaf(scheme), prevLeaf: 2 }), 2: edge({ ...headLeaf(), hval: hash(ZERO) }) }, 2, 1),
    ).toBe('EDGE_LEAF_BROKEN');
    expect(
      broken(
        { 0: edge({ ...headLeaf(), nextLeaf: 3 }), 3: edge({ ...tailLeaf(scheme), prevLeaf: 0, hval: hash(ZERO) }) },
        0,
        3,
      ),
    ).toBe('EDGE_LEAF_BROKEN');
  });

  it('says where each rule is broken', () => {
    const empty = { 0: edge(headLeaf()), 1: edge(tailLeaf(scheme)) };
    const of = (proof: string) => `item.${proof}.proofRelatedNodes[41]`;
    const cases: [() => string, string][] = [
      [
        () => present({ 0: edge(head), 2: at(0, 0, low, word(7)) }, low, 2, 1),
        'item.leafIndex leaf index 2 is not below nextFreeNode 1',
      ],
      [
        () => present({ 0: edge(head), 1: at(0, 1, low, word(7)) }, low, 1),
        'item.leafIndex positions 0 and 1 are head and tail',
      ],
      [
        () => present({ ...honest, 3: at(2, 4, high, word(8)) }, high, 3),
        `${of('proof')} a neighbour of the leaf is not a position below nextFreeNode`,
      ],
      [
        () => present({ ...honest, 2: at(0, 3, low, ZERO) }, low, 2),
        'item.proof.value a slot of value zero is not in the tree',
      ],
      [
        () => present({ ...honest, 2: { ...honest[2], value: word(8) } }, low, 2),
        'item.proof.value does not hash to the hval of the leaf',
      ],
      [() => present(honest, middle, 2), `${of('proof')} the leaf belongs to another key`],
      [
        () => absent({ ...honest, 2: at(0, 1, low, word(7)) }, middle, 2, 3),
        `${of('leftProof')} next is not the right neighbour`,
      ],
      [
        () => absent({ ...honest, 3: at(0, 1, high, word(8)) }, middle, 2, 3),
        `${of('rightProof')} prev is not the left neighbour`,
      ],
      [() => absent(honest, low, 2, 3), `${of('leftProof')} hkey is not below that of the key`],
      [() => absent(honest, high, 2, 3), `${of('rightProof')} hkey is not above that of the key`],
      [
        () => absent({ ...empty, 0: edge({ ...headLeaf(), prevLeaf: 1 }) }, low, 0, 1, 4),
        `${of('leftProof')} not the form of head or tail`,
      ],
      [
        () =>
          absent(
            {
              0: edge({ ...headLeaf(), nextLeaf: 3 }),
              3: edge({ ...tailLeaf(scheme), prevLeaf: 0, hval: hash(ZERO) }),
            },
            low,
            0,
            3,
          ),
        `${of('rightProof')} the key of head or tail at another position`,
      ],
      [
        () => absent({ ...empty, 1: edge(tailLeaf(scheme), word(9)) }, low, 0, 1, 2),
        'item.rightProof.value the value of head and tail is 32 zero bytes',
      ],
      [
        () => absent({ ...honest, 3: at(2, 5, high, word(8)) }, middle, 2, 3),
        `item.leftProof.proofRelatedNodes[40] a neighbour of the leaf is not a position below nextFreeNode`,
      ],
    ];
    for (const [judge, where] of cases) {
      judge();
      expect(last).toBe(where);
    }
  });
});
