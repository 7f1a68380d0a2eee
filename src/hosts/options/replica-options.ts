import type { EndpointSource } from '../../upstream/options.js';
import type { LightChainOptions } from './light-options.js';

/** A light node that builds zk proofs from its own full state. It needs a Besu node of your own, and layer 1. */
export interface ReplicaChainOptions extends Omit<LightChainOptions, 'kind' | 'layerOne'> {
  readonly kind: 'replica';
  /** Besu nodes with the Shomei plugin and its methods enabled; trie logs are fetched from them. */
  readonly trieLogs: readonly EndpointSource[];
  /** Endpoints of layer 1. The state follows up to the newest block that layer 1 has finalized. */
  readonly layerOne: readonly EndpointSource[];
  /** Shomei endpoints; when given, their state roots are compared too. */
  readonly stateManager?: readonly EndpointSource[];
  /** Blocks of which trie logs are fetched in one request; 64 when left out, at most 1000. */
  readonly rangeBlocks?: number;
  /** Blocks between two commits where layer 1 confirms none; 32 when left out. */
  readonly commitBlocks?: number;
  /** Number of older confirmed states that stay provable; 256 when left out. The newest state is always provable. */
  readonly heldBlocks?: number;
  /** Whether layer 1 is asked for the root of every finalized block, not only of the newest. True when left out. */
  readonly intermediateRoots?: boolean;
  /** Time between two requests for a newer finalization, ms; 12 000 when left out. */
  readonly followIntervalMs?: number;
}
