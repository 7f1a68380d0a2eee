import { RLP } from '@ethereumjs/rlp';
import { describe, expect, it } from 'vitest';
import { ReplicaStore } from '../../src/chain/replica/replica-state.js';
import { layerOneOf, parseTrieLogs, rootsIn } from '../../src/chain/replica/sources.js';
import { prefetchRanges } from '../../src/chain/replica/zk-follower.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import type { PageChanges, PageSource } from '../../src/state/page-format.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { dump, MortalStore } from '../support/mock-shomei-scene.js';
import { seededRandom } from '../support/random.js';

const never = new AbortController().signal;

describe('answers of shomei_getTrieLogsByRange', () => {
  const hash = (n: number) => new Uint8Array(32).fill(n + 1);
  const numberItem = (n: number) => (n === 0 ? new Uint8Array(0) : Uint8Array.of(n));
  /** A block in which nothing happened. */
  const log = (n: number, blockNumber: unknown = n) => ({
    blockNumber,
    blockHash: bytesToHex(hash(n)),
    trieLog: bytesToHex(RLP.encode([hash(n), numberItem(n)])),
  });
  const numbersOf = (answer: unknown, first: number, last: number) =>
    parseTrieLogs(answer, first, last).map(({ blockNumber }) => blockNumber);

  it('are blocks from the first on, fewer than requested if there are no more', () => {
    expect(numbersOf([log(0), log(1), log(2)], 0, 2)).toEqual([0, 1, 2]);
    expect(numbersOf([log(5), log(6)], 5, 9)).toEqual([5, 6]);
    expect(numbersOf([log(5, '5'), log(6, '0x6')], 5, 6)).toEqual([5, 6]);
  });

  it.each<[string, unknown, { code: string; details?: object }]>([
    ['nothing', [], { code: 'TRIE_LOG_MISSING', details: { block: 4 } }],
    ['without the first', [log(5), log(6)], { code: 'TRIE_LOG_MISSING', details: { block: 4 } }],
    ['with a gap', [log(4), log(6)], { code: 'TRIE_LOG_MISSING', details: { block: 5 } }],
    ['with two gaps', [log(4), log(6), log(8)], { code: 'TRIE_LOG_MISSING', details: { block: 5 } }],
    ['backwards', [log(5), log(4)], { code: 'TRIE_LOG_MALFORMED', details: { path: 'logs[1].blockNumber' } }],
    ['one twice', [log(4), log(4)], { code: 'TRIE_LOG_MALFORMED' }],
    ['below the range', [log(3), log(4)], { code: 'TRIE_LOG_MALFORMED', details: { path: 'logs[0].blockNumber' } }],
    ['above the range', [log(4), log(5), log(9)], { code: 'TRIE_LOG_MALFORMED' }],
    ['another number beside it', [log(4, 5)], { code: 'TRIE_LOG_MALFORMED' }],
    ['a number that is none', [log(4, '4.0')], { code: 'TRIE_LOG_MALFORMED' }],
    ['no number', [{ ...log(4), blockNumber: undefined }], { code: 'TRIE_LOG_MALFORMED' }],
    ['another hash beside it', [{ ...log(4), blockHash: log(5).blockHash }], { code: 'TRIE_LOG_MALFORMED' }],
    ['a log that is not hex', [{ ...log(4), trieLog: '0xzz' }], { code: 'TRIE_LOG_MALFORMED' }],
    ['a log that is not a string', [{ ...log(4), trieLog: 7 }], { code: 'TRIE_LOG_MALFORMED' }],
    ['null', null, { code: 'TRIE_LOG_MALFORMED', details: { path: 'logs' } }],
    ['a list of nulls', [null], { code: 'TRIE_LOG_MALFORMED', details: { path: 'logs[0]' } }],
  ])('are refused: %s', (_name, answer, { code, details = {} }) => {
    const expected = expect.objectContaining({ code, details: expect.objectContaining(details) });
    expect(() => parseTrieLogs(answer, 4, 8)).toThrow(expected);
  });
});

describe('prefetchRanges', () => {
  it('fetches the next range while one is used, and no further', async () => {
    const begun: number[] = [];
    const fetch = async (first: number) => {
      begun.push(first);
      return { last: Math.min(first + 2, 10) };
    };
    const seen: [number, number][] = [];
    for await (const { last } of prefetchRanges(0, 10, fetch, never)) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push([last, begun.length]);
    }
    expect(begun).toEqual([0, 3, 6, 9]);
    expect(seen).toEqual([
      [2, 2],
      [5, 3],
      [8, 4],
      [10, 4],
    ]);
  });

  it('goes on after a range that is shorter than expected', async () => {
    const begun: number[] = [];
    const lasts = new Map([
      [0, 0],
      [1, 4],
      [5, 5],
    ]);
    const fetch = async (first: number) => {
      begun.push(first);
      return { last: lasts.get(first)! };
    };
    for await (const _ of prefetchRanges(0, 5, fetch, never));
    expect(begun).toEqual([0, 1, 5]);
  });

  it('aborts running requests when its reader stops, with the reason', async () => {
    const signals: AbortSignal[] = [];
    const fetch = (first: number, signal: AbortSignal): Promise<{ last: number }> => {
      signals.push(signal);
      if (first === 0) return Promise.resolve({ last: 0 });
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    for await (const _ of prefetchRanges(0, 9, fetch, never)) break;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);

    const stop = new AbortController();
    const ranges = prefetchRanges(0, 9, fetch, stop.signal);
    await ranges.next();
    const second = ranges.next();
    stop.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
  });

  it('throws a failure when its range is awaited', async () => {
    const fetch = async (first: number) => {
      if (first > 0) throw new Error('gone');
      return { last: 0 };
    };
    const ranges = prefetchRanges(0, 9, fetch, never);
    expect(await ranges.next()).toEqual({ done: false, value: { last: 0 } });
    await new Promise((resolve) => setImmediate(resolve));
    await expect(ranges.next()).rejects.toThrow('gone');
  });
});

describe('roots of layer 1', () => {
  const root = new Uint8Array(32).fill(7);

  it('are read block by block if finalizations are not known', async () => {
    const asked: number[] = [];
    const finality = {
      newest: async () => ({ number: 9, root, layerOneBlock: 100 }),
      anchorOf: async (block: number) => {
        asked.push(block);
        return block % 3 === 0 ? { root } : undefined;
      },
    };
    const layerOne = layerOneOf(finality);
    expect(await layerOne.newestFinalized(never)).toBe(9);
    expect([...(await rootsIn(layerOne, 4, 9, never)).keys()]).toEqual([6, 9]);
    expect(asked).toEqual([4, 5, 6, 7, 8, 9]);
    expect((await rootsIn(layerOne, 5, 4, never)).size).toBe(0);
    const known = { ...layerOne, finalizationsIn: async () => [6, 9] };
    expect([...(await rootsIn(known, 4, 9, never)).keys()]).toEqual([6, 9]);
    expect(asked.length).toBe(8);
  });
});

describe('the store of a replica', () => {
  const page = (value: number) => new Uint8Array(9).fill(value);
  const keys = Array.from({ length: 700 }, (_, i) => (i === 0 ? 'state' : `0/5/${i}`));
  const everything = async (source: PageSource) => (await source.getMany(keys)).map((value) => value?.[0]);

  /** Puts and deletes some pages, as they are in `model` then. */
  function change(random: (bound: number) => number, model: Map<string, number>, count: number): PageChanges {
    const some = new Set(['state', ...Array.from({ length: count }, () => keys[random(keys.length)]!)]);
    const puts = [];
    const deletes = [];
    for (const key of some) {
      if (key !== 'state' && random(4) === 0) {
        deletes.push(key);
        model.delete(key);
      } else {
        const value = 1 + random(250);
        puts.push({ key, value: page(value) });
        model.set(key, value);
      }
    }
    return { puts, deletes };
  }

  it('holds the confirmed state and the newest, and discards the newest', async () => {
    const random = seededRandom(5);
    const memory = new MemoryStore();
    let store = await ReplicaStore.open(memory, 'a');
    let newest = new Map<string, number>();
    let confirmed = new Map<string, number>();
    for (let step = 0; step < 60; step++) {
      const kind = random(6);
      if (kind === 0) {
        await store.goBack();
        newest = new Map(confirmed);
      } else {
        const changes = change(random, newest, 1 + random(400));
        await store.commit(changes, kind === 1);
        if (kind === 1) confirmed = new Map(newest);
      }
      if (random(4) === 0) store = await ReplicaStore.open(memory, 'a');
      expect(await everything(store.newest)).toEqual(keys.map((key) => newest.get(key)));
      expect(await everything(store.confirmed)).toEqual(keys.map((key) => confirmed.get(key)));
    }
    await expect(ReplicaStore.open(memory, 'b')).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });

  it('goes back completely, even if it is interrupted repeatedly', async () => {
    const random = seededRandom(6);
    const memory = new MemoryStore();
    const store = await ReplicaStore.open(memory, 'a');
    const model = new Map<string, number>();
    await store.commit(change(random, model, 500), true);
    const confirmed = keys.map((key) => model.get(key));
    const before = await dump(memory);
    for (let i = 0; i < 4; i++) await store.commit(change(random, model, 300), false);
    for (let deaths = 0; deaths < 8; deaths++) {
      const mortal = new MortalStore(memory, { commit: deaths % 2, done: deaths < 4 });
      await ReplicaStore.open(mortal, 'a')
        .then((opened) => opened.goBack())
        .catch(() => {});
      if ((await memory.get('meta', 'replica-going-back')) === undefined) continue;
      const seen = { getMany: (wanted: readonly string[]) => readThrough(memory, wanted) };
      expect(await everything(seen)).toEqual(confirmed);
    }
    expect(await memory.get('meta', 'replica-going-back')).toBeDefined();
    const opened = await ReplicaStore.open(memory, 'a');
    expect(await everything(opened.newest)).toEqual(confirmed);
    expect(await everything(opened.confirmed)).toEqual(confirmed);
    expect(await dump(memory)).toEqual(before);
  });

  /** The confirmed pages without opening the store, which would finish what was broken off. */
  async function readThrough(memory: MemoryStore, wanted: readonly string[]) {
    const kept = await memory.getMany(
      'meta',
      wanted.map((key) => `replica-before/${key}`),
    );
    const now = await memory.getMany(
      'blocks',
      wanted.map((key) => `replica/${key}`),
    );
    return kept.map((value, i) => (value === undefined ? now[i] : value.length === 0 ? undefined : value));
  }

  it('reads its pages again after a commit that may have failed', async () => {
    for (const done of [false, true]) {
      const memory = new MemoryStore();
      const random = seededRandom(8);
      const model = new Map<string, number>();
      const first = await ReplicaStore.open(memory, 'a');
      await first.commit(change(random, model, 300), true);
      const confirmed = keys.map((key) => model.get(key));
      let fail = true;
      const once = new Proxy(memory, {
        get(target, name) {
          if (name !== 'commit' || !fail) return Reflect.get(target, name).bind(target);
          return async (commit: Parameters<MemoryStore['commit']>[0]) => {
            fail = false;
            if (done) await target.commit(commit);
            throw new Error('lost');
          };
        },
      });
      const store = await ReplicaStore.open(once, 'a');
      await expect(store.commit(change(random, model, 300), false)).rejects.toThrow('lost');
      await store.commit(change(random, model, 300), false);
      expect(await everything(store.confirmed)).toEqual(confirmed);
      await store.goBack();
      expect(await everything(store.newest)).toEqual(confirmed);
    }
  });
});
