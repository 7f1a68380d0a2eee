import { equalBytes } from '../../../primitives/bytes.js';
import type { LightBlock } from './light-block.js';

/** Widest gap between two heads whose headers are linked even if no request needs them. */
export const MAX_LINKED_GAP = 256;

/** Headers that are linked without a gap from `top` down to `lowest`, by number. */
export interface HeaderSegment {
  readonly headers: Map<number, LightBlock>;
  readonly lowest: number;
  readonly top: LightBlock;
}

/**
 * How a newer segment relates to an older one:
 *
 * - `joined`: both have the same block at the height `at`
 * - `forked`: they differ down to the deepest block that a reorg may replace
 * - `unknown`: the older segment is too short to tell
 * - `gap`: headers down to `down` have to be linked first
 */
export type SegmentRelation =
  | { readonly kind: 'joined'; readonly at: number }
  | { readonly kind: 'forked' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'gap'; readonly down: number };

/** @param maxReorgDepth - blocks below the top of `older` that a reorg may replace */
export function compareSegments(
  newer: Omit<HeaderSegment, 'top'>,
  older: HeaderSegment,
  maxReorgDepth: number,
): SegmentRelation {
  const top = older.top.header.number;
  const deepest = Math.max(0, top - maxReorgDepth);
  const floor = Math.max(deepest, older.lowest - 1);
  for (let at = top; at >= Math.max(floor, newer.lowest - 1); at--) {
    const [hash, known] = [hashAt(newer, at), hashAt(older, at)];
    if (hash !== undefined && known !== undefined && equalBytes(hash, known)) return { kind: 'joined', at };
  }
  if (newer.lowest - 1 <= floor) return { kind: older.lowest - 1 <= deepest ? 'forked' : 'unknown' };
  return { kind: 'gap', down: newer.lowest > top + 1 ? top + 1 : floor + 1 };
}

/** Whether a block contradicts a segment deeper than a reorg may replace blocks. */
export function contradicts({ header, hash }: LightBlock, known: HeaderSegment, maxReorgDepth: number): boolean {
  const { number } = header;
  const there = number <= known.top.header.number - maxReorgDepth ? hashAt(known, number) : undefined;
  return there !== undefined && !equalBytes(there, hash);
}

/** The segment without headers deeper than a reorg may replace blocks. */
export function shortened({ headers, lowest, top }: HeaderSegment, maxReorgDepth: number): HeaderSegment {
  const from = Math.max(lowest, top.header.number - maxReorgDepth);
  return { headers: new Map([...headers].filter(([number]) => number >= from)), lowest: from, top };
}

/** Hash of a block of the segment, or of the block right below it. */
function hashAt({ headers, lowest }: Omit<HeaderSegment, 'top'>, number: number): Uint8Array | undefined {
  return headers.get(number)?.hash ?? (number === lowest - 1 ? headers.get(lowest)?.header.parentHash : undefined);
}
