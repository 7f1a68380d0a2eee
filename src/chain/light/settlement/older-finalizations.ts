import { isPlumblineError } from '../../../errors.js';
import { isUnreachable } from '../refused.js';
import type { FinalizedBlock, LayerOneFinality } from './finality.js';
import type { FinalizationEvent } from './rollup-reader.js';

/** Most layer-1 blocks in one request for events. Reduced if endpoints refuse the range. */
const WIDEST = 2048;
/** Least width of a range. If endpoints refuse that, the range is not the reason. */
const NARROWEST = 16;
/**
 * Most requests. Finalizations are two hours apart, 600 blocks of layer 1, and 16 hours at most
 * (docs/spec/json-rpc.md 2.2).
 */
const REQUESTS = 24;

/**
 * Finds the finalization before another one by their events. An event only tells where to look: what it stores is read from the
 * contract, as for every block.
 *
 * @param at - the later one, with the layer-1 block at which it was read
 * @returns undefined if none was found
 * @throws PlumblineError as `LayerOneFinality.anchorOf`
 */
export async function finalizationBefore(
  finality: Pick<LayerOneFinality, 'events' | 'anchorOf'>,
  at: FinalizedBlock,
  signal?: AbortSignal,
): Promise<FinalizedBlock | undefined> {
  let [to, width] = [at.layerOneBlock, WIDEST];
  for (let request = 0; request < REQUESTS && to >= 0; request++) {
    const from = Math.max(0, to - width + 1);
    let events: readonly FinalizationEvent[];
    try {
      events = await finality.events(from, to, signal);
    } catch (error) {
      // Endpoints limit ranges and report that in different ways, so any error makes the range smaller.
      const isNarrow = width <= NARROWEST || isUnreachable(error) || isPlumblineError(error, 'ABORTED');
      if (isNarrow || !isPlumblineError(error, 'UPSTREAM_ERROR')) throw error;
      width = Math.max(NARROWEST, width >> 2);
      continue;
    }
    const ends = events.map(({ first, last }) => (last < at.number ? last : first - 1));
    const number = Math.max(-1, ...ends.filter((end) => end < at.number));
    if (number >= 0) {
      const anchor = await finality.anchorOf(number, signal);
      return anchor && { number, ...anchor, layerOneBlock: at.layerOneBlock };
    }
    to = from - 1;
  }
  return undefined;
}
