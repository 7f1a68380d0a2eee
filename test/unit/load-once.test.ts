import { expect, test } from 'vitest';
import { loadOnce } from '../../src/scheduling/load-once.js';

test('what is loaded is loaded once, and again after a failure: a chunk may be out of reach for a moment', async () => {
  let asked = 0;
  const load = loadOnce(async () => {
    asked++;
    if (asked === 1) throw new Error('offline');
    return asked;
  });
  const both = await Promise.allSettled([load(), load()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([load(), load()])).toEqual([2, 2]);
  expect(await load()).toBe(2);
});
