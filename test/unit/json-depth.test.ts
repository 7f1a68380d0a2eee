import { describe, expect, test } from 'vitest';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../src/primitives/bounded-input.js';
import { seededRandom } from '../support/random.js';

/** Depth of a parsed value: the second implementation. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const random = seededRandom(16);
const TEXTS = ['', '"', '\\', '\\"', '[', ']]', '{"a":[', '\\\\"[', 'é[', '\\u005b'];

function randomValue(depth: number): unknown {
  const kind = depth === 0 ? random(3) : random(6);
  if (kind < 2) return TEXTS[random(TEXTS.length)];
  if (kind === 2) return random(2) === 0 ? null : random(1000);
  const items = Array.from({ length: random(4) }, () => randomValue(depth - 1));
  if (kind < 5) return items;
  return Object.fromEntries(items.map((item, i) => [`${TEXTS[random(TEXTS.length)]}${i}`, item]));
}

describe('depth of JSON text', () => {
  test('is that of the parsed value, with brackets and quotes in strings', () => {
    for (let round = 0; round < 2000; round++) {
      const value = randomValue(6);
      const depth = depthOf(value);
      // Spaces, because a text that is no longer than the limit is never too deep.
      const text = `        ${JSON.stringify(value, null, random(2))}`;
      expect(isDeeperThan(text, depth), text).toBe(false);
      if (depth > 0) expect(isDeeperThan(text, depth - 1), text).toBe(true);
    }
  });

  test('ends at the limit', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(isDeeperThan(nested(MAX_JSON_DEPTH), MAX_JSON_DEPTH)).toBe(false);
    expect(isDeeperThan(nested(MAX_JSON_DEPTH + 1), MAX_JSON_DEPTH)).toBe(true);
    expect(isDeeperThan(nested(1_000_000), MAX_JSON_DEPTH)).toBe(true);
    expect(isDeeperThan('{"a":'.repeat(1_000_000), MAX_JSON_DEPTH)).toBe(true);
  });

  test('strings count for nothing, with an end or without', () => {
    for (const text of [
      `"${'['.repeat(1000)}"`,
      `"${'['.repeat(1000)}`,
      `"${'\\"['.repeat(1000)}"`,
      '"\\'.repeat(1000),
    ])
      expect(isDeeperThan(text, MAX_JSON_DEPTH)).toBe(false);
  });
});
