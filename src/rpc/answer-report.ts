import type { TrustLevel } from '../chain/block.js';
import type { LayerOneEvidence } from '../chain/chain.js';
import type { Hex } from '../primitives/hex.js';

/**
 * Where an answer comes from. `proved`: an endpoint's data, checked against a header or a root on layer 1. `computed`:
 * executed or calculated here from such data. `held`: from the node's own chain, or about the node itself. `forwarded`: from
 * an endpoint, not checked.
 *
 * @source docs/decisions.md 1
 */
export type AnswerClass = 'proved' | 'computed' | 'held' | 'forwarded';

/** What one answer rests on. */
export interface AnswerReport {
  readonly method: string;
  readonly class: AnswerClass;
  /** The lowest trust level of the blocks it rests on; left out if it rests on none. */
  readonly level?: TrustLevel;
  /** Blocks from which it was read or computed, in the order in which they were needed; not all of a long range. */
  readonly blocks: readonly { readonly number: number; readonly hash: Hex }[];
  /** Of a zk proof: number of the block after which it shows the state. Layer 1 holds the root of that block. */
  readonly zkBlock?: number;
  /**
   * Of a zk proof of a tag: how far `zkBlock` is behind the newest finalized block, whose state no endpoint holds. Left out if it is
   * that block.
   */
  readonly zkAge?: { readonly finalizations: number; readonly blocks: number };
  /**
   * At level `settled`: the finalized block of layer 1 that it rests on, and the trusted beacon block behind that one. At level `attested`:
   * the newest attested block.
   */
  readonly layerOne?: {
    readonly checkpoint: { readonly level: LayerOneEvidence['level']; readonly root: Hex };
    readonly slot: number;
    readonly blockHash: Hex;
    /** Unix time of the slot, in seconds. */
    readonly timestamp: number;
    /**
     * A warning, in the 30 days before the last fork of layer 1 that this release, or the profile, knows: its name, and its Unix time in
     * seconds. Look for a newer release: a fork after it is refused.
     */
    readonly lastFork?: { readonly name: string; readonly timestamp: number };
    /** A warning: the newest attested block is more than three slots behind the present one. How many. */
    readonly behind?: number;
  };
  /**
   * Blocks were taken back, in a reorg or because all endpoints have lost them: the newest block of before, and the one in its
   * place. Only of the first answer after that.
   */
  readonly takenBack?: {
    readonly from: { readonly number: number; readonly hash: Hex };
    readonly to: { readonly number: number; readonly hash: Hex };
  };
  /**
   * Only of an estimate within ten minutes before a fork that changes prices: the gas limits by the rules in force and by those of the
   * fork (null if none is found by them). The answer is the larger one.
   */
  readonly gasLimits?: {
    readonly fork: string;
    /** When it begins: Unix time in seconds. */
    readonly timestamp: number;
    readonly before: Hex;
    readonly after: Hex | null;
  };
  /** Only of `eth_simulateV1`: the state root of a block is not known, and given as 32 zero bytes. */
  readonly stateRoot?: 'unknown';
  /**
   * It came through the node of another page, which writes the store that both share. What is above is the word of that page: any
   * page of this origin can imitate it.
   */
  readonly relayed?: true;
  /** JSON-RPC code of an answer that is an error. */
  readonly errorCode?: number;
}
