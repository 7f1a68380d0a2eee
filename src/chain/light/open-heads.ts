import { BlockFinder } from './heads/block-finder.js';
import { HeadFollower } from './heads/head-follower.js';
import { type FinalizedNumbers, HeaderChain, KEPT } from './heads/header-chain.js';
import { Heads } from './heads/heads.js';
import { openSeals } from './heads/seals.js';
import type { LightChainParts } from './light-parts.js';

/** The heads and headers of a light chain, wired together. */
export interface LightHeads {
  readonly heads: Heads;
  readonly headers: HeaderChain;
  readonly follower: HeadFollower;
  readonly finder: BlockFinder;
}

export function openHeads(parts: LightChainParts, finalized: FinalizedNumbers): LightHeads {
  const { network, upstream, maru, cache } = parts;
  const heads = new Heads(upstream, network, parts, openSeals(network, maru));
  const store = cache?.headersOf(network);
  const headers = new HeaderChain(upstream, network, parts.maxReorgDepth, KEPT, store, finalized);
  const follower = new HeadFollower(heads, headers, parts);
  return { heads, headers, follower, finder: new BlockFinder(follower, headers, heads) };
}
