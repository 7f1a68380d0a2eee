import type { TrustLevel } from '../chain/block.js';
import type { LayerOneEvidence } from '../chain/chain.js';
import type { Hex } from '../primitives/hex.js';

/**
 * Where an answer comes from. `proved`: an endpoint's data, checked against a header or a root on layer 1. `computed`: executed or
 * calculated here from such data. `held`: from the node's own chain, or about the node itself. `forwarded`: from an endpoint, not
 * verified.
 *
 * @source docs/decisions.md 1
 */
export type AnswerClass = 'proved' | 'computed' | 'held' | 'forwarded';

/** What one answer is based on. */
export interface AnswerReport {
  readonly method: string;
  readonly class: AnswerClass;
  /** The lowest trust level of the blocks that the answer is based on. Left out if there are no such blocks. */
  readonly level?: TrustLevel;
  /** Blocks from which the answer was read or computed, in the order in which they were needed. Of a long range, not all are listed. */
  readonly blocks: readonly { readonly number: number; readonly hash: Hex }[];
  /** Only for a zk proof: it shows the state after this block. Layer 1 holds the root of that block. */
  readonly zkBlock?: number;
  /**
   * Only for a zk proof at a tag: how far `zkBlock` is behind the newest finalized block, because no endpoint holds the state of that
   * block. Left out if `zkBlock` is that block.
   */
  readonly zkAge?: { readonly finalizations: number; readonly blocks: number };
  /**
   * At level `settled`: the finalized layer-1 block that the answer is based on, and the trusted beacon block behind it. At level
   * `attested`: the newest attested block.
   */
  readonly layerOne?: {
    readonly checkpoint: { readonly level: LayerOneEvidence['level']; readonly root: Hex };
    readonly slot: number;
    readonly blockHash: Hex;
    /** Unix time of the slot, in seconds. */
    readonly timestamp: number;
    /**
     * A warning, in the 30 days before the last layer-1 fork that this release or the profile knows: name of the fork, and its Unix
     * time in seconds. Look for a newer release: later forks are refused.
     */
    readonly lastFork?: { readonly name: string; readonly timestamp: number };
    /** A warning: the newest attested block is this many slots behind the present one. Only if it is more than three. */
    readonly behind?: number;
  };
  /**
   * Blocks left the chain, in a reorg or because all endpoints have lost them: the newest block before that, and the block that
   * replaced it. Only in the first answer after that.
   */
  readonly takenBack?: {
    readonly from: { readonly number: number; readonly hash: Hex };
    readonly to: { readonly number: number; readonly hash: Hex };
  };
  /**
   * Only for an estimate within ten minutes before a fork that changes prices: the gas limits by the present rules and by the rules of
   * the fork (null if none is found by them). The answer is the larger one.
   */
  readonly gasLimits?: {
    readonly fork: string;
    /** When it begins: Unix time in seconds. */
    readonly timestamp: number;
    readonly before: Hex;
    readonly after: Hex | null;
  };
  /** Only for `eth_simulateV1`: the state root of a block is not known. It is given as 32 zero bytes. */
  readonly stateRoot?: 'unknown';
  /**
   * The answer came through the node of another page, which writes the store that both share. That page claims everything above. Any
   * page of this origin can imitate it.
   */
  readonly relayed?: true;
  /** JSON-RPC code of an answer that is an error. */
  readonly errorCode?: number;
}
