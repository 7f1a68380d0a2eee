import { isPlumblineError } from '../../errors.js';
import { hexToBytes } from '../../primitives/hex.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { LayerOneFinality } from '../light/settlement/finality.js';

/** Zk state roots on layer 1. They must be proved, or read at a final layer-1 block. */
export interface LayerOneRoots {
  /** Newest block whose root is on layer 1; undefined if there is none yet. */
  newestFinalized(signal: AbortSignal): Promise<number | undefined>;

  /** State root after `block`, 32 bytes; undefined unless a finalization ended there (docs/spec/state-trie.md 9). */
  rootOnLayerOne(block: number, signal: AbortSignal): Promise<Uint8Array | undefined>;

  /**
   * Blocks from `first` to `last` at which finalizations ended, ascending. Without this method, `rootOnLayerOne` is called for
   * every block.
   */
  finalizationsIn?(first: number, last: number, signal: AbortSignal): Promise<readonly number[]>;
}

/** Roots on layer 1 of the blocks `first` to `last`, 32 bytes each, by block number. */
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

/** Adapts the light chain's reader of layer 1. It has no `finalizationsIn`. */
export function layerOneOf(finality: Pick<LayerOneFinality, 'newest' | 'anchorOf'>): LayerOneRoots {
  return {
    newestFinalized: async () => (await finality.newest()).number,
    rootOnLayerOne: async (block) => (await finality.anchorOf(block))?.root,
  };
}

/** State roots of a state manager. They are only compared with computed roots; a match proves nothing. */
export interface StateManagerRoots {
  /** State root after `block`, 32 bytes; undefined if it is not available. */
  rootOf(block: number, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

/**
 * State roots of Shomei, by `rollup_getZkEVMStateMerkleProofV0` of single blocks. The traces are not used.
 *
 * @source docs/spec/state-trie.md 10
 */
export function shomeiRoots(group: EndpointGroup): StateManagerRoots {
  const method = 'rollup_getZkEVMStateMerkleProofV0';
  return {
    async rootOf(block, signal) {
      if (group.lacksMethod(method)) return undefined;
      try {
        return await group.request(method, [{ startBlockNumber: block, endBlockNumber: block }], {
          signal,
          accept: endRoot,
        });
      } catch (error) {
        // The block is missing, the method is switched off, or the endpoint is down.
        if (isPlumblineError(error) && error.code.startsWith('UPSTREAM_')) return undefined;
        if (isPlumblineError(error, 'REQUEST_TIMED_OUT')) return undefined;
        throw error;
      }
    },
  };
}

function endRoot(answer: unknown): Uint8Array | undefined {
  const root = (answer as { zkEndStateRootHash?: unknown } | null)?.zkEndStateRootHash;
  return typeof root === 'string' && /^0x[\da-f]{64}$/i.test(root) ? hexToBytes(root) : undefined;
}
