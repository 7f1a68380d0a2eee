import type { TrustLevel } from '../../chain/chain.js';
import type { Hex } from '../../primitives/hex.js';

/**
 * Where an answer comes from: `proved`, upstream data checked against a header or a root on layer 1; `computed`, executed
 * or calculated here from such data; `held`, of our own chain or of no chain at all; `forwarded`, passed on and not checked.
 *
 * @source DESIGN.md 2
 */
export type AnswerClass = 'proved' | 'computed' | 'held' | 'forwarded';

/** What one answer rests on. */
export interface AnswerReport {
  readonly method: string;
  readonly class: AnswerClass;
  /** The lowest level of the blocks it rests on; left out where it rests on none. */
  readonly level?: TrustLevel;
  /** Blocks it was read or computed from, in the order in which they were needed; not all of a long range. */
  readonly blocks: readonly { readonly number: number; readonly hash: Hex }[];
  /** Of a zk proof: number of the block after which the state is that it shows, and whose root layer 1 holds. */
  readonly zkBlock?: number;
  /** JSON-RPC code of an answer that is an error. */
  readonly errorCode?: number;
}
