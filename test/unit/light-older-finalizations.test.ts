import { describe, expect, test } from 'vitest';
import type { FinalizationEvent } from '../../src/chain/light/settlement/rollup-reader.js';
import { finalizationBefore } from '../../src/chain/light/settlement/settled-proofs.js';
import { PlumblineError } from '../../src/errors.js';

const root = (block: number) => new Uint8Array(32).fill(block % 256);

/** Layer 1 with a finalization of 100 blocks at each of these heights, and a bound on ranges of events. */
function layerOne(heights: readonly number[], most = Number.POSITIVE_INFINITY) {
  const ranges: [number, number][] = [];
  const all = heights.map((height, i) => ({
    height,
    event: { first: i * 100 + 1, last: (i + 1) * 100 },
  }));
  return {
    ranges,
    all,
    async events(from: number, to: number): Promise<FinalizationEvent[]> {
      ranges.push([from, to]);
      if (to - from + 1 > most) {
        const details = { origin: 'http://l1', code: -32005, message: `query exceeds max block range ${most}` };
        throw new PlumblineError('UPSTREAM_ERROR', details.message, details);
      }
      return all.filter(({ height }) => height >= from && height <= to).map(({ event }) => event);
    },
    anchorOf: async (block: number) =>
      block % 100 === 0 && block <= heights.length * 100 ? { root: root(block) } : undefined,
  };
}

const newest = (number: number, layerOneBlock: number) => ({ number, root: root(number), layerOneBlock });

describe('the finalization before another', () => {
  test.each([
    [10_000, Number.POSITIVE_INFINITY],
    [10_000, 1_000],
    [10_000, 100],
    [10_000, 20],
    [9_700, 500],
  ])('its root is the one in the contract, for any range limit of the endpoint', async (pinned, most) => {
    const chain = layerOne([8_800, 9_200, 9_650, 9_695], most);
    expect(await finalizationBefore(chain, newest(400, pinned))).toEqual({
      number: 300,
      root: root(300),
      layerOneBlock: pinned,
    });
    const earlier = await finalizationBefore(layerOne([9_620, 9_690, 9_691], most), newest(200, pinned));
    expect(earlier).toMatchObject({ number: 100 });
  });

  test('is not found before the first one, nor if the events are too far back', async () => {
    const chain = layerOne([]);
    expect(await finalizationBefore(chain, newest(100, 200))).toBeUndefined();
    const far = layerOne([10, 20], 20);
    expect(await finalizationBefore(far, newest(200, 1_000_000))).toBeUndefined();
    // Ranges side by side, without gap or overlap, and not without end.
    const searched = far.ranges.filter(([from, to]) => to - from < 20);
    for (const [i, [, to]] of searched.slice(1).entries()) expect(to).toBe(searched[i]![0] - 1);
    expect(far.ranges.length).toBeLessThan(100);
  });

  test('an event of a block without a root leads to nothing, an event of a later block is skipped', async () => {
    const chain = layerOne([100, 200, 300]);
    const later = { first: 301, last: 400 };
    const withLater = { ...chain, events: async () => [...chain.all.map(({ event }) => event), later] };
    expect(await finalizationBefore(withLater, newest(300, 350))).toMatchObject({ number: 200 });
    const invented = { ...chain, events: async () => [{ first: 1, last: 250 }] };
    expect(await finalizationBefore(invented, newest(300, 350))).toBeUndefined();
  });

  test('an endpoint that refuses all ranges, or does not answer, ends the search', async () => {
    const none = layerOne([100, 200], 0);
    await expect(finalizationBefore(none, newest(200, 300))).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
    const away = {
      ...none,
      events: () => Promise.reject(new PlumblineError('UPSTREAM_UNAVAILABLE', 'away', { endpoints: [] })),
    };
    await expect(finalizationBefore(away, newest(200, 300))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});
