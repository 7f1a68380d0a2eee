import { BlockFinder } from './heads/block-finder.js';
import { HeadFollower } from './heads/head-follower.js';
import { type FinalizedNumbers, HeaderChain, KEPT } from './heads/header-chain.js';
import { Heads } from './heads/heads.js';
import { openSeals } from './heads/seals.js';
import type { LightChainParts } from './light-parts.js';
import { notReached } from './refused.js';

/** The heads and headers of a light chain, wired together. */
export interface LightHeads {
  readonly heads: Heads;
  readonly headers: HeaderChain;
  readonly follower: HeadFollower;
  readonly finder: BlockFinder;
}

export function openHeads(parts: LightChainParts, finalized: FinalizedNumbers): LightHeads {
  const { network, upstream, maru, cache } = parts;
  const { consensus, clock, latestMaxAgeMs } = parts;
  const attested =
    consensus &&
    (async (signal?: AbortSignal) => {
      const block = await consensus.attested(signal);
      const age = clock.now() - block.timestamp * 1000;
      if (age <= latestMaxAgeMs) return block;
      const reason = `the newest attested block is ${Math.round(age / 1000)} seconds old: the beacon endpoints are behind, too few validators attest, or the clock of this device is ahead`;
      throw notReached('attested', undefined, reason);
    });
  const heads = new Heads(upstream, network, parts, openSeals(network, maru), attested);
  const store = cache?.headersOf(network);
  const headers = new HeaderChain(upstream, network, parts.maxReorgDepth, KEPT, store, finalized);
  const follower = new HeadFollower(heads, headers, parts);
  return { heads, headers, follower, finder: new BlockFinder(follower, headers, heads) };
}
