import type { LayerOneFinality } from '../light/settlement/finality.js';

/** What layer 1 says about the zk state. It has to be proved, or read at a layer-1 block that is final. */
export interface LayerOneRoots {
  /** Newest block that layer 1 holds a root of; undefined while it holds none. */
  newestFinalized(signal: AbortSignal): Promise<number | undefined>;

  /** State root after `block`, 32 bytes; undefined unless a finalization ended with it (docs/spec/state-trie.md 9). */
  rootOnLayerOne(block: number, signal: AbortSignal): Promise<Uint8Array | undefined>;

  /**
   * Blocks from `first` to `last` that finalizations ended with, ascending. Where this is left out, every block is asked
   * for.
   */
  finalizationsIn?(first: number, last: number, signal: AbortSignal): Promise<readonly number[]>;
}

/** Roots that layer 1 holds of the blocks `first` to `last`, by block, 32 bytes each. */
export async function rootsIn(
  layerOne: LayerOneRoots,
  first: number,
  last: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Uint8Array>> {
  if (first > last) return new Map();
  const ends =
    layerOne.finalizationsIn === undefined
      ? Array.from({ length: last - first + 1 }, (_, i) => first + i)
      : await layerOne.finalizationsIn(first, last, signal);
  const roots = new Map<number, Uint8Array>();
  await Promise.all(
    ends.map(async (block) => {
      const root = await layerOne.rootOnLayerOne(block, signal);
      if (root !== undefined) roots.set(block, root);
    }),
  );
  return roots;
}

/** What the light chain reads of layer 1, as a replica asks for it. It is asked for every block; see `rootsIn`. */
export function layerOneOf(finality: Pick<LayerOneFinality, 'newest' | 'rootOf'>): LayerOneRoots {
  return {
    newestFinalized: async () => (await finality.newest()).number,
    rootOnLayerOne: (block) => finality.rootOf(block),
  };
}
