import { bytesToKey } from '../../../primitives/bytes.js';
import type { LightBlock } from './light-block.js';

/** Blocks that one endpoint reported. Each also counts as a vote for its parent, whose hash it contains. */
export interface Claim {
  readonly origin: string;
  readonly blocks: readonly LightBlock[];
}

/** A block that enough endpoints agree on. */
export interface AgreedBlock {
  readonly block: LightBlock;
  /** Origins that reported it or its child. */
  readonly origins: readonly string[];
}

/**
 * The highest block that enough origins reported.
 *
 * @param needed - number of origins; several claims of one origin count once
 */
export function agreedBlock(claims: readonly Claim[], needed: number): AgreedBlock | undefined {
  const support = new Map<string, Set<string>>();
  const key = (number: number, hash: Uint8Array) => `${number} ${bytesToKey(hash)}`;
  const add = (number: number, hash: Uint8Array, origin: string) => {
    const at = key(number, hash);
    const origins = support.get(at) ?? new Set();
    support.set(at, origins.add(origin));
  };
  for (const { origin, blocks } of claims) {
    for (const { header, hash } of blocks) {
      add(header.number, hash, origin);
      add(header.number - 1, header.parentHash, origin);
    }
  }
  const candidates = claims.flatMap(({ blocks }) => blocks).sort((a, b) => b.header.number - a.header.number);
  for (const block of candidates) {
    const origins = support.get(key(block.header.number, block.hash))!;
    if (origins.size >= needed) return { block, origins: [...origins] };
  }
  return undefined;
}

/** The greatest height that enough origins have reached; undefined if there are too few origins. */
export function sharedHeight(claims: readonly Claim[], needed: number): number | undefined {
  const heights = new Map<string, number>();
  for (const { origin, blocks } of claims) {
    for (const { header } of blocks) heights.set(origin, Math.max(heights.get(origin) ?? 0, header.number));
  }
  return [...heights.values()].sort((a, b) => b - a)[needed - 1];
}

/** The median of the claimed heights, of two the higher: one endpoint among several that invents blocks does not change it. */
export function medianHeight(claims: readonly Claim[]): number {
  const heights = claims.map(({ blocks }) => blocks[0]!.header.number).sort((a, b) => b - a);
  return heights[(heights.length - 1) >> 1]!;
}
