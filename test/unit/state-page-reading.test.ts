import { beforeAll, describe, expect, it } from 'vitest';
import { requirePages } from '../../src/state/page-format.js';
import { PageCache } from '../../src/state/paged-state.js';
import type { PageMap } from '../support/paged-state.js';
import { openSmallPages } from '../support/small-pages.js';

describe('the pages of a whole state', () => {
  let stores: PageMap[];
  beforeAll(async () => {
    ({ stores } = await openSmallPages());
  });
  const census = ({ pages }: PageMap) => requirePages((key) => pages.get(key));
  const corrupt = (key: string, reason: string) =>
    expect.objectContaining({ code: 'STORE_CORRUPT', message: `stored state, page ${key}: ${reason}` });

  it('are there after each block', () => {
    for (const store of stores) expect(() => census(store)).not.toThrow();
  });

  it('are named when one is missing or damaged', () => {
    for (const store of stores) {
      for (const [key, page] of store.pages) {
        expect(() => census(store.with(key, undefined))).toThrow(corrupt(key, 'missing'));
        const damaged = page.with(page.length >> 1, page[page.length >> 1]! ^ 1);
        expect(() => census(store.with(key, damaged))).toThrow(corrupt(key, 'damaged, its checksum does not match'));
      }
    }
  });

  it('are asked for by name, each of them', () => {
    for (const { pages } of stores) {
      const asked = new Set<string>();
      requirePages((key) => {
        asked.add(key);
        return pages.get(key);
      });
      expect([...asked].sort()).toEqual([...pages.keys()].sort());
    }
  });
});

describe('a cache of pages', () => {
  /** A cache over pages that are their own names, the rounds of requests, and how often it was cleared. */
  function open() {
    const rounds: (readonly string[])[] = [];
    const cleared: number[] = [];
    const getMany = async (keys: readonly string[]) => {
      rounds.push(keys);
      return keys.map((key) => (key === 'none' ? undefined : new TextEncoder().encode(key)));
    };
    const cache = new PageCache({ getMany }, () => cleared.push(rounds.length));
    return { cache, rounds, cleared };
  }
  const text = (page: Uint8Array | undefined) => page && new TextDecoder().decode(page);

  it('loads a page once, and one that is not there, too', async () => {
    const { cache, rounds } = open();
    for (let i = 0; i < 2; i++) {
      expect(await cache.run(() => [text(cache.page('a')), cache.page('none')])).toEqual(['a', undefined]);
    }
    expect(rounds).toEqual([['a'], ['none']]);
    expect(cache.pagesRead).toBe(2);
  });

  it('loads with a page what will be needed next, unless it is there', async () => {
    const { cache, rounds } = open();
    await cache.run(() => cache.page('a'));
    expect(await cache.run(() => text(cache.page('b', ['a', 'c'])))).toBe('b');
    expect(await cache.run(() => text(cache.page('c')))).toBe('c');
    expect(rounds).toEqual([['a'], ['b', 'c']]);
  });

  it('loads together what independent readings need', async () => {
    const { cache, rounds } = open();
    const seen = await cache.run(() => {
      const found: (string | undefined)[] = [];
      cache.together([() => found.push(text(cache.page('a'))), () => found.push(text(cache.page('b', ['a'])))]);
      return found;
    });
    expect(seen).toEqual(['a', 'b']);
    expect(rounds).toEqual([['a', 'b']]);
    await cache.run(() => cache.together([]));
    expect(rounds).toHaveLength(1);
  });

  it('passes errors on', async () => {
    const { cache } = open();
    const broken = () => {
      throw new Error('broken');
    };
    await expect(cache.run(broken)).rejects.toThrow('broken');
    await expect(cache.run(() => cache.together([broken]))).rejects.toThrow('broken');
  });

  it('begins anew when a request begins with more than 8192 pages', async () => {
    const { cache, rounds, cleared } = open();
    const names = Array.from({ length: 8192 }, (_, i) => String(i));
    await cache.run(() => cache.together(names.map((name) => () => cache.page(name))));
    await cache.run(() => cache.page('0'));
    expect([rounds.length, cleared]).toEqual([1, []]);
    await cache.run(() => [cache.page('one'), cache.page('two')]);
    expect([rounds.length, cleared]).toEqual([3, []]);
    await cache.run(() => cache.page('0'));
    expect([rounds.length, cleared]).toEqual([4, [3]]);
  });
});
