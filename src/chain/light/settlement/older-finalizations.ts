import { isPlumblineError } from '../../../errors.js';
import { isUnreachable, type LayerOneFinality } from './finality.js';
import type { FinalizationEvent } from './finality-events.js';
import type { FinalizedBlock } from './finality-store.js';

/** Layer-1 blocks whose events are asked for at once, as long as endpoints take it. */
const WIDEST = 2048;
/** A narrower range than this is not tried: it is not the range that endpoints refuse. */
const NARROWEST = 16;
/**
 * Requests in all. Finalizations are two hours apart, 600 blocks of layer 1, and 16 hours at most
 * (docs/spec/json-rpc.md 2.2).
 */
const REQUESTS = 24;

/**
 * The finalization before another, by their events. An event is a hint where to look and nothing else: the root is read
 * from the contract, as that of every block.
 *
 * @param at - the later one, with the layer-1 block at which it was read
 * @returns undefined where none can be found
 * @throws PlumblineError as `LayerOneFinality.rootOf`
 */
export async function finalizationBefore(
  finality: Pick<LayerOneFinality, 'events' | 'rootOf'>,
  at: FinalizedBlock,
): Promise<FinalizedBlock | undefined> {
  let [to, width] = [at.layerOneBlock, WIDEST];
  for (let request = 0; request < REQUESTS && to >= 0; request++) {
    const from = Math.max(0, to - width + 1);
    let events: readonly FinalizationEvent[];
    try {
      events = await finality.events(from, to);
    } catch (error) {
      // Endpoints bound ranges, each in its own words.
      const isNarrow = width <= NARROWEST || isUnreachable(error) || isPlumblineError(error, 'ABORTED');
      if (isNarrow || !isPlumblineError(error, 'UPSTREAM_ERROR')) throw error;
      width = Math.max(NARROWEST, width >> 2);
      continue;
    }
    const ends = events.map(({ first, last }) => (last < at.number ? last : first - 1));
    const number = Math.max(-1, ...ends.filter((end) => end < at.number));
    if (number >= 0) {
      const root = await finality.rootOf(number);
      return root && { number, root, layerOneBlock: at.layerOneBlock };
    }
    to = from - 1;
  }
  return undefined;
}
