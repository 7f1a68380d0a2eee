import { beforeAll, describe, expect, it } from 'vitest';
import { emptyHashes } from '../../src/accumulator/empty-subtrees.js';
import { hashAddress } from '../../src/accumulator/keys.js';
import { encodeLeaf, encodeTop, headLeaf, type LeafOpening, tailLeaf } from '../../src/accumulator/leaf-opening.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bytesToBigInt } from '../../src/primitives/bytes.js';
import { encodeHeader, PageWriter, writeLeaves } from '../../src/state/page-format.js';
import { WitnessNodes } from '../../src/state/witness-trie.js';
import type { WorldState } from '../../src/state/world-state.js';
import { load, openWithPages, PageMap, readPaged } from '../support/paged-state.js';
import { keysOf, some } from '../support/small-pages.js';
import { address, change, set, state, word } from '../support/small-state.js';

const account = state(1n, 5n);
let hasher: Hasher;
let held: WorldState;
let store: PageMap;
beforeAll(async () => {
  hasher = await loadHasher('poseidon2');
});

/** A state and its pages after these blocks: the accounts that each creates. */
async function open(...blocks: number[][]): Promise<void> {
  held = await openWithPages('poseidon2');
  store = new PageMap();
  for (const block of blocks) apply(...block.map((n) => change(n, undefined, account)));
}

function apply(...changes: ReturnType<typeof change>[]): void {
  held.applyBlock((held.head ?? -1) + 1, changes);
  store.commit(held.takePages());
}

/** The pages prove of these accounts what the whole state proves. */
async function expectSame(...accounts: number[]): Promise<void> {
  const paged = await readPaged('poseidon2', store);
  for (const n of accounts) {
    expect(await paged.account(address(n))).toEqual(held.account(held.head!, address(n)));
    expect(await paged.prove(address(n), [word(1)])).toEqual(held.prove(held.head!, address(n), [word(1)]));
  }
}

const keyOf = (n: number) => bytesToBigInt(hashAddress(hasher, address(n)));
/** Neighbours of an absent account: leaf positions. */
const neighbours = (n: number) => {
  const { accountProof } = held.prove(held.head!, address(n), []);
  return 'leafIndex' in accountProof ? [] : [accountProof.leftLeafIndex, accountProof.rightLeafIndex];
};

describe('stored pages', () => {
  it('of a single page show keys that are in another order than their positions', async () => {
    await open(...some(1, 21).map((n) => [n]));
    expect(keysOf(store)).toEqual(['0', 'state']);
    const keys = some(1, 21)
      .map(keyOf)
      .sort((a, b) => (a < b ? -1 : 1));
    const outside = some(100, 1000).filter((n) => keyOf(n) < keys[0]! || keyOf(n) > keys.at(-1)!);
    const absent = [...some(100, 140), ...outside.slice(0, 20)];
    // Some of them stand before all keys, or after all.
    expect(absent.some((n) => neighbours(n)[0] === 0)).toBe(true);
    expect(absent.some((n) => neighbours(n)[1] === 1)).toBe(true);
    await expectSame(...some(1, 21), ...absent);
  });

  it('of exactly three pages of leaves show those of the last', async () => {
    await open(some(1, 95));
    expect(held.nextFreeNode()).toBe(96);
    expect(keysOf(store)).toEqual(['0', '0/5/0', '0/5/1', '0/5/2', '0/k1/0', '0/k1/1', 'state']);
    await expectSame(...some(1, 95), 500, 501, 502);
  });

  it('show an absent key that is smaller than all keys of its bucket', async () => {
    await open(some(1, 70));
    // Two buckets: the keys of one half and of the other.
    const half = (bytesToBigInt(schemeFormat('poseidon2').tailKey) + (1n << 224n)) / 2n;
    const upper = some(1, 70)
      .map(keyOf)
      .filter((key) => key >= half);
    const smallest = upper.reduce((a, b) => (a < b ? a : b));
    const between = some(100, 1500).filter((n) => keyOf(n) > half + (1n << 224n) && keyOf(n) < smallest);
    expect(between.length).toBeGreaterThan(0);
    await expectSame(...between);
  });

  it('show the leaves beside a page whose accounts are all gone', async () => {
    await open(some(1, 95));
    const at = new Map(
      some(1, 95).map((n) => {
        const { accountProof } = held.prove(0, address(n), []);
        return ['leafIndex' in accountProof ? accountProof.leafIndex : -1, n];
      }),
    );
    apply(...some(32, 64).map((position) => change(at.get(position)!, account, undefined, [], true)));
    // Four bytes of used positions, and no leaf.
    expect(store.pages.get('0/5/1')!.length).toBe(1 + 4 + 8);
    await expectSame(at.get(2)!, at.get(31)!, at.get(40)!, at.get(64)!, at.get(95)!, 500);
    expect((await load('poseidon2', store, { check: 'full' })).root()).toEqual(held.root());
  });

  it('know of storage that starts anew', async () => {
    await open();
    apply(change(1, undefined, account, [set(1, 0, 7)]), change(2, undefined, account));
    apply(change(1, account, account, [set(1, 7, 0)]));
    apply(change(1, account, account, [], true));
    const loaded = await load('poseidon2', store, { check: 'full' });
    const next = [change(1, account, account, [set(1, 0, 7)])];
    // As it was with the first value: the storage root is that of a trie with one slot at its first position.
    expect(loaded.applyBlock(3, next)).toEqual(held.applyBlock(3, next));
    expect(held.account(3, address(1))!.storageRoot).toEqual(held.account(0, address(1))!.storageRoot);
  });

  it('are written once for a block that changes nothing, or one account alone', async () => {
    await open();
    apply(change(1, undefined, account, [set(1, 0, 7)]), change(2, undefined, account));
    held.applyBlock(1, []);
    expect(held.takePages().puts.map(({ key }) => key)).toEqual(['state']);
    held.applyBlock(2, [change(1, account, state(2n, 5n))]);
    expect(
      held
        .takePages()
        .puts.map(({ key }) => key)
        .sort(),
    ).toEqual(['0', 'state']);
  });

  it('give values that are copies', async () => {
    await open();
    apply(change(1, undefined, account, [set(1, 0, 7)]), change(2, undefined, account));
    const paged = await readPaged('poseidon2', store);
    const slots = () =>
      Promise.all([paged.slot(address(1), word(1)), paged.slot(address(1), word(2)), paged.slot(address(2), word(1))]);
    for (const value of await slots()) value.fill(9);
    expect(await slots()).toEqual([word(7), new Uint8Array(32), new Uint8Array(32)]);
  });
});

describe('pages of a forged state, whose root is right, are refused', () => {
  const corrupt = expect.objectContaining({
    code: 'STORE_CORRUPT',
    message: 'stored state, page 0: the key index does not match the leaves',
  });
  const head = (nextLeaf: number): LeafOpening => ({ ...headLeaf(), nextLeaf });
  const tail = (prevLeaf: number): LeafOpening => ({ ...tailLeaf('poseidon2'), prevLeaf });

  /** What is said of an account, by a trie of any leaves at these positions. */
  async function askForged(leaves: [position: number, leaf: LeafOpening][]) {
    const nodes = WitnessNodes.under(hasher, emptyHashes(hasher)[40]!);
    for (let position = 0; position < 8; position++) nodes.expandEmpty(position);
    for (const [position, leaf] of leaves) nodes.write(position, hasher.hash(encodeLeaf('poseidon2', leaf)));
    const root = hasher.hash(encodeTop('poseidon2', 4, nodes.subRoot));
    const page = new PageWriter().u32(4);
    writeLeaves(
      page,
      0,
      leaves.map(([position, leaf]) => ({ position, leaf, stored: undefined })),
    );
    const pages = new Map([
      ['state', encodeHeader({ scheme: 'poseidon2', block: 0, root })],
      ['0', page.seal('0')],
    ]);
    return (await readPaged('poseidon2', new PageMap(pages))).account(address(1));
  }

  it.each<[string, [number, LeafOpening][]]>([
    ['without a head', [[1, tail(0)]]],
    [
      'whose head leads to a place without a leaf',
      [
        [0, head(3)],
        [1, tail(0)],
      ],
    ],
    [
      'whose head leads to itself',
      [
        [0, head(0)],
        [1, tail(0)],
      ],
    ],
    ['without a tail, past the end', [[0, head(4)]]],
  ])('%s', async (_, leaves) => {
    await expect(askForged(leaves)).rejects.toEqual(corrupt);
  });

  it('unless its list of leaves is right', async () => {
    expect(
      await askForged([
        [0, head(1)],
        [1, tail(0)],
      ]),
    ).toBeUndefined();
  });
});
