import type { Hex } from '../../primitives/hex.js';

/** A log of a frame. */
export interface FrameLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** Among the logs of the block. */
  readonly index: Hex;
  /** Number of calls of the frame before it. */
  readonly position: Hex;
}

/** A call, creation or SELFDESTRUCT, and what it called. */
export interface CallFrame {
  readonly type: string;
  readonly from: Hex;
  to?: Hex;
  gas: Hex;
  gasUsed: Hex;
  readonly input: Hex;
  output?: Hex;
  error?: string;
  revertReason?: string;
  calls?: CallFrame[];
  logs?: FrameLog[];
  readonly value?: Hex;
}
