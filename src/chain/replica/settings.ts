import { invalidParameter } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import type { TrieKernel } from '../../kernel/trie.js';
import type { Network } from '../../networks/network.js';
import type { PageStore } from '../../store/page-store.js';
import type { LayerOneRoots, StateManagerRoots } from './layer-one-roots.js';
import { MAX_RANGE, type TrieLogSource } from './trie-log-source.js';

/** Progress of a replica. */
export interface ReplicaProgress {
  /** The last applied block. */
  readonly block: number;
  /** The newest block that layer 1 finalized, to which the replica follows. */
  readonly target: number;
  /** Newest applied block whose root layer 1 confirmed. */
  readonly confirmed: number | undefined;
}

/** Optional settings of a replica. */
export interface FollowOptions {
  /** Blocks in one request for trie logs, at most 1000. Default: 64. */
  readonly rangeBlocks?: number | undefined;
  /** Blocks between two commits while layer 1 confirms none. Default: 32. */
  readonly commitBlocks?: number | undefined;
  /** How many blocks back confirmed states are held for proofs. The newest one is always held. Default: 256. */
  readonly heldBlocks?: number | undefined;
  /**
   * Whether to read the roots of all blocks on the way from layer 1, not only that of the newest finalized block. It costs one
   * call for each block if finalizations are not known. Default: true.
   */
  readonly intermediateRoots?: boolean | undefined;
}

/** Settings and dependencies of a follower. */
export interface FollowerSettings extends FollowOptions {
  readonly network: Network;
  /** Stores the state. No other code may write its keys. */
  readonly store: PageStore;
  /** Hasher of the network's newest hash scheme. */
  readonly hasher: Hasher;
  /** Opens a new kernel of the same scheme, with the options `undo` and `nodes`. */
  readonly tries: () => Promise<TrieKernel>;
  readonly logs: TrieLogSource;
  readonly layerOne: LayerOneRoots;
  readonly stateManager?: StateManagerRoots | undefined;
  /** Known hash of a block, 32 bytes; undefined if it is not known. */
  readonly blockHash?: ((block: number, signal: AbortSignal) => Promise<Uint8Array | undefined>) | undefined;
  readonly onProgress?: ((progress: ReplicaProgress) => void) | undefined;
}

/** @throws PlumblineError `INVALID_PARAMETER` for a number of blocks outside its range */
export function checkNumbers({ rangeBlocks = 1, commitBlocks = 1, heldBlocks = 0 }: FollowOptions): void {
  const within = (parameter: string, value: number, least: number, most: number) => {
    if (Number.isInteger(value) && value >= least && value <= most) return;
    throw invalidParameter(parameter, `must be an integer from ${least} to ${most}`);
  };
  within('rangeBlocks', rangeBlocks, 1, MAX_RANGE);
  within('commitBlocks', commitBlocks, 1, Number.MAX_SAFE_INTEGER);
  within('heldBlocks', heldBlocks, 0, Number.MAX_SAFE_INTEGER);
}
