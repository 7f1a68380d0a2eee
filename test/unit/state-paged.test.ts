import { beforeAll, describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/kernel/hasher.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import type { WorldState } from '../../src/state/world-state.js';
import { load, openWithPages, PageMap, readPaged } from '../support/paged-state.js';
import { blocks, COUNT, keysOf, openSmallPages, slotsOf, some, textOf, unneeded } from '../support/small-pages.js';
import { address, change, set, state, word } from '../support/small-state.js';

let held: WorldState;
/** The pages after each block. */
let stores: PageMap[];
beforeAll(async () => {
  ({ held, stores } = await openSmallPages());
});

const KEYS = [1, 2, 44, 50];
const WORDS = KEYS.map(word);
const slots: Record<number, ReturnType<typeof slotsOf>> = { 5: slotsOf(5), 6: slotsOf(6) };
/** Some on each page. */
const many = [...some(1, COUNT).filter((n) => n % 4 === 1), 3, 6, 999];
const last = () => stores.at(-1)!;

describe('pages of a small state', () => {
  it('are one while it is small, and then as many as they need', () => {
    const storage = (store: PageMap) => keysOf(store).filter((key) => !/^(0|state)/.test(key));
    const accounts = (store: PageMap) => keysOf(store).filter((key) => key.startsWith('0'));
    const [position] = storage(stores[0]!);
    expect(keysOf(stores[0]!)).toEqual(['0', position, 'state']);
    expect(accounts(stores[1]!)).toEqual(['0', '0/5/0', '0/5/1', '0/k0/0']);
    expect(accounts(stores[2]!)).toEqual(['0', '0/5/0', '0/5/1', '0/5/2', '0/k1/0', '0/k1/1']);
    expect(storage(stores[1]!)).toContain(`${position}/k0/0`);
    // The storage that was destroyed is gone with its position.
    expect(storage(last())).not.toContain(position);
  });

  it.each(blocks.map((_, number) => number))('give what the state has, proved, after block %i', async (number) => {
    const hasher = await loadHasher('poseidon2');
    const paged = await readPaged('poseidon2', stores[number]!);
    expect([paged.block, paged.scheme, paged.root]).toEqual([number, 'poseidon2', held.root(number)]);
    for (const n of number === 4 ? many : [1, 3, 5, 6, 40, 999]) {
      const answer = await paged.prove(address(n), WORDS);
      expect(answer).toEqual(held.prove(number, address(n), WORDS));
      const request = { address: address(n), storageKeys: WORDS, stateRoot: paged.root };
      const verdict = verifyLineaProof(hasher, request, JSON.parse(JSON.stringify(answer)));
      if (!verdict.verified) throw new Error(verdict.reason);
      expect(await paged.account(address(n))).toEqual(held.account(number, address(n)));
      expect((await paged.account(address(n)))?.nonce).toBe(verdict.account?.nonce);
      for (const [i, key] of KEYS.entries()) {
        const value = word(slots[n]?.[number]?.get(key) ?? 0);
        expect([n, i, verdict.slots[i]!.value]).toEqual([n, i, value]);
        expect(await paged.slot(address(n), word(key))).toEqual(value);
        expect(held.slot(number, address(n), word(key))).toEqual(value);
      }
    }
  });

  it.each(blocks.map((_, number) => number))('load in full after block %i, and none is left over', async (number) => {
    const store = new PageMap(new Map(stores[number]!.pages));
    const seen: [number, number][] = [];
    const loaded = await load('poseidon2', store, { check: 'full', onProgress: (...told) => seen.push(told) });
    expect([...store.asked].sort()).toEqual(keysOf(store));
    expect([loaded.head, loaded.oldest, loaded.root()]).toEqual([number, number, held.root(number)]);
    const total = held.nextFreeNode(number);
    expect(loaded.nextFreeNode()).toBe(total);
    expect(seen.at(-1)).toEqual([total, total]);
    for (const [count, all] of seen) expect([count <= total, all]).toEqual([true, total]);
    expect(loaded.takePages().puts.map(({ key }) => key)).toEqual(['state']);
    const next = blocks[number + 1];
    if (next === undefined) return;
    expect(loaded.applyBlock(number + 1, next)).toEqual(held.root(number + 1));
    store.commit(loaded.takePages());
    expect(textOf(store)).toEqual(textOf(stores[number + 1]!));
  });

  it('of a block are those of the state before, after a revert', async () => {
    const other = await openWithPages('poseidon2');
    const store = new PageMap();
    for (const [number, block] of blocks.entries()) {
      other.applyBlock(number, block);
      store.commit(other.takePages());
    }
    for (const number of [3, 1, 0]) {
      other.revertTo(number);
      store.commit(other.takePages());
      expect(textOf(store)).toEqual(textOf(stores[number]!));
    }
    expect(other.takePages()).toEqual({ puts: [{ key: 'state', value: store.pages.get('state') }], deletes: [] });
  });

  it('are written only where they change, and deleted only where they are', async () => {
    const other = await openWithPages('poseidon2');
    const store = new PageMap();
    const expectNeeded = (what: string) => {
      const changes = other.takePages();
      expect([what, unneeded(store, changes)]).toEqual([what, []]);
      store.commit(changes);
    };
    // Nine accounts at a time, one of them with storage of several pages: the buckets are split one by one.
    const grown = (number: number) =>
      some(1000 + 9 * number, 1009 + 9 * number).map((n) =>
        change(n, undefined, state(1n, 5n), n % 9 === 1 ? some(1, 40).map((key) => set(key, 0, key)) : []),
      );
    const all = [...blocks, ...some(5, 26).map(grown)];
    for (const [number, block] of all.entries()) {
      other.applyBlock(number, block);
      expectNeeded(`after block ${number}`);
    }
    for (const number of [24, 21, 18, 11, 6, 4, 3, 2, 1, 0]) {
      other.revertTo(number);
      expectNeeded(`back at block ${number}`);
    }
    expect(textOf(store)).toEqual(textOf(stores[0]!));
  });

  it('are the same when blocks are stored together, or applied with traces', async () => {
    const [together, traced] = [await openWithPages('poseidon2'), await openWithPages('poseidon2')];
    const store = new PageMap();
    for (const [number, block] of blocks.entries()) {
      together.applyBlock(number, block);
      traced.applyBlockTraced(number, block);
    }
    for (const each of [together, traced]) {
      store.pages.clear();
      store.commit(each.takePages());
      expect(textOf(store)).toEqual(textOf(last()));
    }
  });

  it('are read once, and those of a request together', async () => {
    const store = new PageMap(new Map(last().pages));
    const paged = await readPaged('poseidon2', store);
    expect([paged.pagesRead, store.rounds]).toEqual([1, 1]);
    await paged.prove(address(5), WORDS);
    const { rounds } = store;
    expect(paged.pagesRead).toBe(store.asked.size);
    await paged.prove(address(5), WORDS);
    await paged.account(address(5));
    expect([store.rounds, paged.pagesRead]).toEqual([rounds, store.asked.size]);
  });

  it('of several slots are requested at once', async () => {
    const store = new PageMap(new Map(stores[2]!.pages));
    const paged = await readPaged('poseidon2', store);
    const { accountProof } = await paged.prove(address(5), WORDS);
    const name = 'leafIndex' in accountProof ? accountProof.leafIndex : 0;
    expect(store.requests.map((keys) => [...keys].sort())).toEqual([
      ['state'],
      ['0'],
      [expect.stringMatching(/^0\/k1\/[01]$/)],
      [`0/5/${name >> 5}`],
      [`${name}`],
      [`${name}/k0/0`],
      [`${name}/5/0`, `${name}/5/1`],
      // What the branch of the account has of the page beside its own.
      [`0/5/${(name >> 5) ^ 1}`],
    ]);
  });

  it('are not read for keys of another length', async () => {
    const paged = await readPaged('poseidon2', last());
    const refused = expect.objectContaining({ code: 'INVALID_LENGTH' });
    await expect(paged.account(new Uint8Array(19))).rejects.toEqual(refused);
    await expect(paged.slot(address(5), new Uint8Array(31))).rejects.toEqual(refused);
    await expect(paged.prove(address(5), [new Uint8Array(33)])).rejects.toEqual(refused);
  });
});

describe('loading', () => {
  it('can be aborted, and errors of the source pass through', async () => {
    const aborted = { code: 'ABORTED', message: 'loading the state was aborted' };
    await expect(load('poseidon2', last(), { signal: AbortSignal.abort() })).rejects.toMatchObject(aborted);
    const stop = new AbortController();
    const whole = load('poseidon2', last(), {
      check: 'full',
      signal: stop.signal,
      onProgress: (count, total) => count === total && stop.abort(),
    });
    await expect(whole).rejects.toMatchObject(aborted);
    const broken = { getMany: () => Promise.reject(new Error('no disk')) };
    await expect(load('poseidon2', broken)).rejects.toThrow('no disk');
    await expect(readPaged('poseidon2', broken)).rejects.toThrow('no disk');
  });

  it('needs a state of the same scheme', async () => {
    const scheme = 'the stored state has hash scheme poseidon2, expected mimc';
    await expect(load('mimc', last())).rejects.toThrow(`stored state, page state: ${scheme}`);
    await expect(readPaged('mimc', last())).rejects.toThrow(`stored state, page state: ${scheme}`);
    await expect(readPaged('mimc', new PageMap())).rejects.toThrow('stored state, page state: missing');
    expect((await load('poseidon2', last())).root()).toEqual(held.root());
  });
});
