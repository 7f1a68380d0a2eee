import type { CalldataSizer, Hasher, HashScheme } from '../../kernel/contracts.js';
import type { Network } from '../../networks/network.js';
import type { Activity } from '../../scheduling/activity.js';
import type { Clock } from '../../scheduling/clock.js';
import type { PageStore } from '../../store/page-store.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { RestGroup } from '../../upstream/rest-group.js';
import type { BlockTag } from '../block-reference.js';
import type { HeadLevel } from './heads/heads.js';
import type { LightCache } from './light-cache.js';

/** What a light chain is made of. */
export interface LightChainParts {
  readonly network: Network;
  /** Endpoints of layer 2. */
  readonly upstream: EndpointGroup;
  /** Endpoints of layer 1; without them nothing is finalized. */
  readonly layerOne?: EndpointGroup | undefined;
  /** Interface of Maru; without it only blocks of Clique can be sealed. */
  readonly maru?: RestGroup | undefined;
  /** Level a head has to reach. */
  readonly level: HeadLevel;
  /** Levels that blocks named by tags have to have reached; that of heads is `level` in any case. */
  readonly required: Partial<Readonly<Record<BlockTag, HeadLevel>>>;
  /** Origins that have to agree at level `linked`. */
  readonly agreeing: number;
  /** Blocks that the agreed head may be behind what endpoints claim. */
  readonly maxLagBlocks: number;
  /** Blocks that a re-organization may take back. */
  readonly maxReorgDepth: number;
  /** For how long a head is taken for the newest without a look, milliseconds. */
  readonly headMaxAgeMs: number;
  /** Time for one endpoint to tell its head, milliseconds. */
  readonly headTimeoutMs: number;
  /** Whether endpoints may be asked what a call touches. */
  readonly accessLists: boolean;
  /** For how long the newest finalization is taken for the newest without a look, milliseconds. */
  readonly finalityMaxAgeMs: number;
  /** Read the rollup contract by `eth_getProof` against the layer-1 header, and not by `eth_call`. */
  readonly proveLayerOne: boolean;
  /** Hash of the layer-1 block against whose header the rollup contract is proved, 32 bytes; the endpoints' when left out. */
  readonly layerOneHeader?: Uint8Array | undefined;
  /** Origins of layer 1 that have to agree. */
  readonly layerOneAgreeing: number;
  readonly store?: PageStore | undefined;
  /** What is kept in `store` for other sessions. */
  readonly cache?: LightCache | undefined;
  readonly activity: Activity;
  readonly clock: Clock;
  /** Verifies zk proofs; loaded when first needed. */
  loadHasher(scheme: HashScheme): Promise<Hasher>;
  /** Sizes transactions that are sent, for the margin of the pool. */
  loadSizer?(): Promise<CalldataSizer>;
}
