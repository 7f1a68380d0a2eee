import { describe, expect, test } from 'vitest';
import { InOrder } from '../../src/scheduling/in-order.js';
import { nextTurn, turnToBegin } from '../../src/scheduling/turns.js';
import { turnsOf } from '../support/counted-turns.js';

/** More than a turn. */
const LONG_MS = 11;

function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Requests that find a turn that is over. */
async function beginAll(count: number, ms: number): Promise<{ turns: number; result: number[] }> {
  await new Promise((resolve) => setImmediate(resolve));
  const order: number[] = [];
  return turnsOf(async () => {
    nextTurn();
    work(LONG_MS);
    const begin = async (_: unknown, i: number) => {
      await turnToBegin();
      order.push(i);
      work(ms);
    };
    await Promise.all(Array.from({ length: count }, begin));
    return order;
  });
}

describe('requests that wait to begin', () => {
  test('share a turn if they are short: else each that comes later would wait for a turn of its own', async () => {
    const { turns, result } = await beginAll(300, 0);
    expect(result).toEqual(Array.from({ length: 300 }, (_, i) => i));
    expect(turns).toBeLessThan(30);
  });

  test('get a turn each if they are long', async () => {
    const { turns, result } = await beginAll(5, LONG_MS);
    expect(result).toEqual([0, 1, 2, 3, 4]);
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});

describe('values in order', () => {
  const filled = () => {
    const list = new InOrder<string>();
    return { list, places: ['a', 'b', 'c', 'd'].map((value) => list.add(value)) };
  };

  test('leave from any place', () => {
    const { list, places } = filled();
    const [a, b, c, d] = places as [(typeof places)[0], (typeof places)[0], (typeof places)[0], (typeof places)[0]];
    list.remove(b);
    expect([...list]).toEqual(['a', 'c', 'd']);
    list.remove(a);
    expect([list.first, [...list]]).toEqual(['c', ['c', 'd']]);
    list.remove(d);
    list.add('e');
    expect([...list]).toEqual(['c', 'e']);
    list.remove(c);
    expect(list.shift()).toBe('e');
    expect([list.first, list.shift(), [...list]]).toEqual([undefined, undefined, []]);
    list.add('f');
    expect([...list]).toEqual(['f']);
  });

  test('hold nothing of their neighbours once they have left', () => {
    const { list, places } = filled();
    for (const place of places) list.remove(place);
    expect(places.map(({ previous, next }) => [previous, next])).toEqual(places.map(() => [undefined, undefined]));
  });
});
