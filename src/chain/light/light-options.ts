import type { CalldataSizer, Hasher, HashScheme } from '../../kernel/contracts.js';
import type { Network } from '../../networks/network.js';
import type { Activity } from '../../scheduling/activity.js';
import type { Clock } from '../../scheduling/clock.js';
import type { PageStore } from '../../store/page-store.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { RestGroup } from '../../upstream/rest-group.js';
import type { BlockTag } from '../block-reference.js';
import type { BlockLevel, HeadLevel } from './heads/heads.js';
import type { ConsensusAnswers } from './layer-one/consensus-answers.js';
import type { FollowedLayerOne } from './layer-one/layer-one-follower.js';
import type { LightCache } from './light-cache.js';

/** What a light chain needs of a follower of layer-1 consensus. Its code is loaded when it is first used. */
export interface ConsensusSource {
  /** @throws PlumblineError as `LayerOneFollower.finalized` */
  finalized(signal?: AbortSignal): Promise<FollowedLayerOne>;
  /** The answers of beacon nodes that lead from the trusted block to a final one. @throws PlumblineError as `finalized` */
  answers(): Promise<ConsensusAnswers>;
  /** Oldest finalized header that is used, milliseconds. */
  readonly maxAgeMs: number;
  close(): void;
}

/** Settings and dependencies of a light chain. */
export interface LightChainParts {
  readonly network: Network;
  /** Endpoints of layer 2. */
  readonly upstream: EndpointGroup;
  /** Endpoints of layer 1. Without them there is no finalized block. */
  readonly layerOne?: EndpointGroup | undefined;
  /** Follows the consensus of layer 1. Without it, the endpoints of layer 1 say which of its blocks is final. */
  readonly consensus?: ConsensusSource | undefined;
  /** Most headers that are followed by parent hashes from the oldest block that the zk state proves; 8191 when left out. */
  readonly maxWalkBack?: number | undefined;
  /** Endpoints of Maru. Without them only Clique blocks can reach level `sealed`. */
  readonly maru?: RestGroup | undefined;
  /** Trust level that a head must reach. */
  readonly level: HeadLevel;
  /** Trust levels that blocks named by tags must reach. Heads must always reach `level`. */
  readonly required: Partial<Readonly<Record<BlockTag, BlockLevel>>>;
  /** Number of origins that must agree at level `linked`. */
  readonly agreeing: number;
  /** Blocks that an accepted head may be below the median of the heights that endpoints claim. */
  readonly maxLagBlocks: number;
  /** Blocks that a reorg may replace. */
  readonly maxReorgDepth: number;
  /** How long a head counts as the newest without another read, milliseconds. */
  readonly headMaxAgeMs: number;
  /** Time limit for one endpoint to return its head, milliseconds. */
  readonly headTimeoutMs: number;
  /** Whether endpoints may be asked for the access list of a call. */
  readonly accessLists: boolean;
  /** How long a finalization counts as the newest without another read, milliseconds. */
  readonly finalityMaxAgeMs: number;
  /** Whether the rollup contract is read by `eth_getProof` and verified, not by `eth_call`. */
  readonly proveLayerOne: boolean;
  /**
   * Hash of a trusted layer-1 block, 32 bytes: the rollup contract is proved against its header. Default: the endpoints' newest
   * final block.
   */
  readonly layerOneHeader?: Uint8Array | undefined;
  /** Number of layer-1 origins that must agree. */
  readonly layerOneAgreeing: number;
  readonly store?: PageStore | undefined;
  /** Tables in `store` for later sessions. */
  readonly cache?: LightCache | undefined;
  /** Most bytes of zk proofs that are kept in memory, 8 MiB when left out. */
  readonly keptProofBytes?: number | undefined;
  readonly activity: Activity;
  readonly clock: Clock;
  /** Loads the hasher that verifies zk proofs, when it is first needed. */
  loadHasher(scheme: HashScheme): Promise<Hasher>;
  /** Loads the sizer for transactions that are sent; without it the pool's profitability margin is not checked. */
  loadSizer?(): Promise<CalldataSizer>;
}
