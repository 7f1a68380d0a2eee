import type { EndpointSource } from '../../upstream/options.js';
import type { LightChainOptions } from './light-options.js';

/** A light node that builds its zk proofs from its own full state. It follows a self-run node, and needs layer 1. */
export interface ReplicaChainOptions extends Omit<LightChainOptions, 'kind' | 'layerOne'> {
  readonly kind: 'replica';
  /** Besu nodes with the Shomei plugin, its methods switched on, from which trie logs are fetched. */
  readonly trieLogs: readonly EndpointSource[];
  /** Endpoints of layer 1: the state goes as far as it has finalized. */
  readonly layerOne: readonly EndpointSource[];
  /** Shomei; where it is given, its roots are compared as well. */
  readonly stateManager?: readonly EndpointSource[];
  /** Blocks whose trie logs are asked for at once; 64 when left out, 1000 at most. */
  readonly rangeBlocks?: number;
  /** Blocks between two commits where layer 1 confirms none; 32 when left out. */
  readonly commitBlocks?: number;
  /** How many blocks back confirmed states can be proved; 256 when left out. The newest one always can. */
  readonly heldBlocks?: number;
  /** Whether layer 1 is asked about every block on the way, not the newest finalized one alone. True when left out. */
  readonly intermediateRoots?: boolean;
  /** Time between two looks for a newer finalization, in ms; 12 000 when left out. */
  readonly followIntervalMs?: number;
}
