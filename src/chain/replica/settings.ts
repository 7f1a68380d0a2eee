import type { Hasher } from '../../kernel/contracts.js';
import type { TrieKernel } from '../../kernel/trie.js';
import type { Network } from '../../networks/network.js';
import type { TableOf, WithDefaults } from '../../primitives/option-table.js';
import type { PageStore } from '../../store/page-store.js';
import type { EndpointSource } from '../../upstream/options.js';
import { LIGHT_OPTIONS, type LightChainOptions } from '../light/light-options.js';
import type { LayerOneRoots, StateManagerRoots, TrieLogSource } from './sources.js';

/** Progress of a replica. */
export interface ReplicaProgress {
  /** The last applied block. */
  readonly block: number;
  /** The newest block that layer 1 finalized. The replica follows up to it. */
  readonly target: number;
  /** Newest applied block whose root layer 1 confirmed. */
  readonly confirmed: number | undefined;
}

/** A light node that builds zk proofs from its own full state. It needs your own Besu node, and layer-1 endpoints. */
export interface ReplicaChainOptions extends Omit<LightChainOptions, 'kind' | 'layerOne'> {
  readonly kind: 'replica';
  /** Besu nodes with the Shomei plugin and its methods enabled. The replica fetches trie logs from them. */
  readonly trieLogs: readonly EndpointSource[];
  /** Endpoints of layer 1. The state follows up to the newest block that layer 1 has finalized. */
  readonly layerOne: readonly EndpointSource[];
  /** Shomei endpoints. If you give them, the replica also compares their state roots. */
  readonly stateManager?: readonly EndpointSource[];
  /** How many blocks one request fetches trie logs for. Default: 64, at most 1000. */
  readonly rangeBlocks?: number;
  /** How many blocks there are between two commits if layer 1 confirms none of them. Default: 32. */
  readonly commitBlocks?: number;
  /** Number of older confirmed states that can be proved. Default: 256. The newest state can always be proved. */
  readonly heldBlocks?: number;
  /** Whether the replica asks layer 1 for the root of every finalized block, and not only of the newest. Default: true. */
  readonly intermediateRoots?: boolean;
  /** Time between two requests for a newer finalization, ms. Default: 12 000. */
  readonly followIntervalMs?: number;
}

/** What each option of a replica is. */
export const REPLICA_OPTIONS = {
  ...LIGHT_OPTIONS,
  trieLogs: { is: 'endpoints', needed: true },
  layerOne: { is: 'endpoints', needed: true },
  stateManager: { is: 'endpoints' },
  rangeBlocks: { is: 'wholeAboveZero', or: 64 },
  commitBlocks: { is: 'wholeAboveZero', or: 32 },
  heldBlocks: { is: 'count', or: 256 },
  intermediateRoots: { is: 'flag', or: true },
  followIntervalMs: { is: 'aboveZero', or: 12_000 },
} as const satisfies TableOf<ReplicaChainOptions>;

/** Options of a replica, with defaults. */
export type ReplicaSettings = WithDefaults<ReplicaChainOptions, typeof REPLICA_OPTIONS>;

/** Settings and dependencies of a follower. */
export interface FollowerSettings
  extends Pick<ReplicaSettings, 'rangeBlocks' | 'commitBlocks' | 'heldBlocks' | 'intermediateRoots'> {
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
