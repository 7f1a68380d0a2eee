import { invalidParameter } from '../../errors.js';
import type { Hasher } from '../../kernel/contracts.js';
import type { TrieKernel } from '../../kernel/trie-contract.js';
import type { Network } from '../../networks/network.js';
import type { PageStore } from '../../store/page-store.js';
import type { LayerOneRoots } from './layer-one-roots.js';
import type { StateManagerRoots } from './state-manager-roots.js';
import { MAX_RANGE, type TrieLogSource } from './trie-log-source.js';

/** How far a replica has come. */
export interface ReplicaProgress {
  /** Block applied last. */
  readonly block: number;
  /** Block that layer 1 finalized last, where following ends for now. */
  readonly target: number;
  /** Newest block whose root layer 1 has confirmed here. */
  readonly confirmed: number | undefined;
}

/** How a replica is followed, as far as there is a choice. */
export interface FollowOptions {
  /** Blocks asked for at once; 64 unless told, 1000 at most. */
  readonly rangeBlocks?: number | undefined;
  /** Blocks between two commits where layer 1 confirms none; 32 unless told. */
  readonly commitBlocks?: number | undefined;
  /** How many blocks back confirmed states are held, to be proved; 256 unless told. The newest one always is. */
  readonly heldBlocks?: number | undefined;
  /**
   * Whether layer 1 is asked for the roots of all blocks on the way, one call for each where finalizations are not known, or
   * for that of the newest finalized block alone; true unless told.
   */
  readonly intermediateRoots?: boolean | undefined;
}

/** What a follower works with. */
export interface FollowerSettings extends FollowOptions {
  readonly network: Network;
  /** Where the state is kept. Nobody else writes its keys. */
  readonly store: PageStore;
  /** Of the network's newest scheme. */
  readonly hasher: Hasher;
  /** A fresh kernel of the same scheme, with the options `undo` and `nodes`. */
  readonly tries: () => Promise<TrieKernel>;
  readonly logs: TrieLogSource;
  readonly layerOne: LayerOneRoots;
  readonly stateManager?: StateManagerRoots | undefined;
  /** Hash a block is known to have, 32 bytes; undefined where none is known. */
  readonly blockHash?: ((block: number, signal: AbortSignal) => Promise<Uint8Array | undefined>) | undefined;
  readonly onProgress?: ((progress: ReplicaProgress) => void) | undefined;
}

/** @throws PlumblineError `INVALID_PARAMETER` for a number of blocks that is none */
export function checkNumbers({ rangeBlocks = 1, commitBlocks = 1, heldBlocks = 0 }: FollowOptions): void {
  const within = (parameter: string, value: number, least: number, most: number) => {
    if (Number.isInteger(value) && value >= least && value <= most) return;
    throw invalidParameter(parameter, `must be an integer from ${least} to ${most}`);
  };
  within('rangeBlocks', rangeBlocks, 1, MAX_RANGE);
  within('commitBlocks', commitBlocks, 1, Number.MAX_SAFE_INTEGER);
  within('heldBlocks', heldBlocks, 0, Number.MAX_SAFE_INTEGER);
}
