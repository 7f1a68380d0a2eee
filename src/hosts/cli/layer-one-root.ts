import type { FinalizedBlock, RootedBlock } from '../../chain/light/settlement/finality.js';
import { finalizationBefore } from '../../chain/light/settlement/older-finalizations.js';
import { RollupReader } from '../../chain/light/settlement/rollup-reader.js';
import { PlumblineError } from '../../errors.js';
import type { RollupNetwork } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { EndpointGroup } from '../../upstream/group.js';

/** Most finalizations that are looked through for a root. */
const SEARCHED = 64;

/** Roots of the zk state on layer 1. */
export interface FoundRoot {
  /** The root that fits, or the newest one where none does. */
  readonly at: RootedBlock;
  readonly fits: boolean;
  /** Oldest block whose root was compared. 0: there is none before it. */
  readonly oldest: number;
  /** Origins that were asked. */
  readonly origins: readonly string[];
}

/**
 * Reads the rollup contract by the word of layer-1 endpoints, which must agree: the root of a block, or else the one among the
 * newest finalized blocks that a proof leads to.
 *
 * @param claimed - the root that the proof leads to, 32 bytes; undefined fits none
 * @param block - the only block whose root counts
 * @throws PlumblineError `BLOCK_NOT_PROVABLE` if layer 1 has no root for the block; of the endpoints
 */
export async function rootsOnLayerOne(
  endpoints: readonly string[],
  { rollup }: Pick<RollupNetwork, 'rollup'>,
  claimed: Uint8Array | undefined,
  block: number | undefined,
): Promise<FoundRoot> {
  const group = new EndpointGroup({ role: 'l1', endpoints });
  try {
    const origins = [...new Set(group.endpoints.map(({ origin }) => origin))];
    const reader = new RollupReader(group, { rollup, prove: false, agreeing: origins.length });
    const pinned = await reader.pin();
    const anchorOf = (number: number) => reader.anchorAt(pinned, number);
    const newest = await reader.currentAt(pinned);
    const number = block ?? newest;
    const anchor = await anchorOf(number);
    if (anchor?.root === undefined) {
      const text = `layer 1 has no root of block ${number}: no finalization ended there; the newest finalized block is ${newest}`;
      throw new PlumblineError('BLOCK_NOT_PROVABLE', text, { block: String(number) });
    }
    const first = { number, root: anchor.root, layerOneBlock: pinned.header.number };
    const finality = { events: reader.events.bind(reader), anchorOf };
    let [at, oldest]: [FinalizedBlock | undefined, number] = [first, number];
    for (let searched = 0; at !== undefined && searched < SEARCHED; searched++) {
      const { root } = at;
      if (claimed !== undefined && root !== undefined && equalBytes(root, claimed))
        return { at: { ...at, root }, fits: true, oldest: at.number, origins };
      oldest = at.number;
      at = block === undefined ? await finalizationBefore(finality, at) : undefined;
    }
    return { at: first, fits: false, oldest, origins };
  } finally {
    group.close();
  }
}
