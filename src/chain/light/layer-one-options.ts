import type { Hex } from '../../primitives/hex.js';
import type { TableOf } from '../../primitives/option-table.js';
import type { EndpointSource, UrlEndpoint } from '../../upstream/options.js';

/**
 * Layer 1, followed by its consensus: the signatures of its sync committees say which block is final, from a beacon block on that
 * you trust. Nothing of the endpoints is believed.
 */
export interface LayerOneOptions {
  /** Beacon-API endpoints that serve the light-client routes (`/eth/v1/beacon/light_client/…`). */
  readonly consensus: readonly (string | UrlEndpoint)[];
  /** JSON-RPC endpoints of layer 1, for headers and proofs of the rollup contract. Needed, but on a network that is its own layer 1. */
  readonly execution?: readonly EndpointSource[];
  /**
   * A finalized beacon block that you trust, by its root: 32 bytes in hex. Without it, the state of an earlier session is used,
   * then the checkpoint of the network's profile, then the servers of `checkpointServers`.
   */
  readonly checkpoint?: { readonly root: Hex };
  /** Servers that are asked for a finalized beacon block (`/eth/v1/beacon/headers/finalized`), of different operators. */
  readonly checkpointServers?: readonly (string | UrlEndpoint)[];
  /** Origins of `checkpointServers` that must name the same block: more than half of them when left out, at least 2. */
  readonly checkpointAgreeing?: number;
  /** Age from which on a checkpoint, or the state of an earlier session, is not used, ms; 14 days when left out. */
  readonly checkpointMaxAgeMs?: number;
  /**
   * Age from which on the newest finalized header of layer 1 is not used, ms; 45 minutes when left out. While `execution` cannot be
   * reached, it is also the age from which on what was read there is not used.
   */
  readonly maxAgeMs?: number;
  /**
   * Blocks below the oldest one whose hash the zk state proves that are settled too, as its ancestors; 8191 when left out. The first
   * read so far back fetches all headers between them, 64 with one request.
   */
  readonly maxWalkBack?: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** What each option of layer 1 is, if its consensus is followed. */
export const LAYER_ONE_OPTIONS = {
  consensus: { is: 'endpoints', needed: true },
  execution: { is: 'endpoints' },
  checkpoint: { is: { root: { is: 'hex', needed: true } } },
  checkpointServers: { is: 'endpoints' },
  // Its default goes by the number of servers.
  checkpointAgreeing: { is: 'wholeAboveZero' },
  checkpointMaxAgeMs: { is: 'aboveZero', or: 14 * DAY_MS },
  maxAgeMs: { is: 'aboveZero', or: 45 * MINUTE_MS },
  maxWalkBack: { is: 'count' },
} as const satisfies TableOf<LayerOneOptions>;

/** Endpoints of layer 1 whose word counts, or layer 1 followed by its consensus. */
export type LayerOneSource = readonly EndpointSource[] | LayerOneOptions;

/** Whether the consensus of layer 1 is followed. */
export function isFollowed(source: LayerOneSource | undefined): source is LayerOneOptions {
  return source !== undefined && !Array.isArray(source);
}
