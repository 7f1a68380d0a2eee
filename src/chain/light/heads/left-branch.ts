import type { Network } from '../../../networks/network.js';
import { bytesToHex } from '../../../primitives/hex.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { requestFirstFound } from '../first-found.js';
import { notReached } from '../refused.js';
import type { HeaderStore } from './header-store.js';
import type { BlockLevel } from './heads.js';
import { type LightBlock, readLightBlock } from './light-block.js';
import { requireLink } from './linked-headers.js';

/*
 * Headers of a branch that the endpoints may have left: read when a head of another branch comes before enough headers were
 * linked. A chunk of its own, because that is rare.
 */

/** What such headers are read from, and for. */
export interface LeftBranch {
  readonly group: EndpointGroup;
  readonly network: Network;
  readonly store: HeaderStore | undefined;
  readonly maxReorgDepth: number;
  /** Level of the head of the other branch. */
  readonly level: BlockLevel;
}

/**
 * The parent of a block, stored or by its hash.
 *
 * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if no endpoint has it any more; `ANSWER_REFUSED`, of the endpoints
 */
export async function leftParent(
  { group, network, store, maxReorgDepth, level }: LeftBranch,
  child: LightBlock,
  signal: AbortSignal | undefined,
): Promise<LightBlock> {
  const [number, hash] = [child.header.number - 1, child.header.parentHash];
  const [stored] = (await store?.below(child, number)) ?? [];
  const parent =
    stored ??
    (await requestFirstFound(group, 'eth_getBlockByHash', [bytesToHex(hash), false], {
      agreeing: group.endpoints.length,
      ...(signal !== undefined && { signal }),
      accept: (answer) => readLightBlock(network, answer, { number, hash }),
    }));
  if (parent === undefined) {
    const reason = `the new head is of another branch, and no endpoint has block ${number} of the known one any more`;
    throw notReached(level, undefined, `${reason}: it may replace more than ${maxReorgDepth} blocks (maxReorgDepth)`);
  }
  requireLink(parent, child);
  return parent;
}
