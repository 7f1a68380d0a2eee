import { equalBytes } from '../../../primitives/bytes.js';
import type { LightBlock } from './light-block.js';

/** Headers between two heads that are linked whether somebody asks for them or not. */
export const LINKED_LEAP = 256;

/** Headers that are linked without a gap from `top` down to `lowest`. */
export interface Stretch {
  readonly segment: Map<number, LightBlock>;
  readonly lowest: number;
  readonly top: LightBlock;
}

/**
 * How a stretch above relates to the one that was known before it: `met` at a height where both have the same block,
 * `apart` where they differ as deep as a re-organization may go, `nothing` where the older one does not reach as deep as
 * that, `open` while headers down to `down` have to be linked to tell.
 */
export type Meeting =
  | { readonly kind: 'met'; readonly at: number }
  | { readonly kind: 'apart' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'open'; readonly down: number };

/** @param maxReorgDepth - blocks that a re-organization may take back from the top of `older` */
export function meeting(upper: Omit<Stretch, 'top'>, older: Stretch, maxReorgDepth: number): Meeting {
  const top = older.top.header.number;
  const deepest = Math.max(0, top - maxReorgDepth);
  const floor = Math.max(deepest, older.lowest - 1);
  for (let at = top; at >= Math.max(floor, upper.lowest - 1); at--) {
    const [hash, known] = [hashAt(upper, at), hashAt(older, at)];
    if (hash !== undefined && known !== undefined && equalBytes(hash, known)) return { kind: 'met', at };
  }
  if (upper.lowest - 1 <= floor) return { kind: older.lowest - 1 <= deepest ? 'apart' : 'nothing' };
  return { kind: 'open', down: upper.lowest > top + 1 ? top + 1 : floor + 1 };
}

/** Whether a block contradicts a stretch below what a re-organization may take back from it. */
export function contradicts({ header, hash }: LightBlock, known: Stretch, maxReorgDepth: number): boolean {
  const { number } = header;
  const there = number <= known.top.header.number - maxReorgDepth ? hashAt(known, number) : undefined;
  return there !== undefined && !equalBytes(there, hash);
}

/** The stretch without what lies deeper than a re-organization may go. */
export function shortened({ segment, lowest, top }: Stretch, maxReorgDepth: number): Stretch {
  const from = Math.max(lowest, top.header.number - maxReorgDepth);
  return { segment: new Map([...segment].filter(([number]) => number >= from)), lowest: from, top };
}

/** Hash of a block of the stretch, or of the one right below it. */
function hashAt({ segment, lowest }: Omit<Stretch, 'top'>, number: number): Uint8Array | undefined {
  return segment.get(number)?.hash ?? (number === lowest - 1 ? segment.get(lowest)?.header.parentHash : undefined);
}
