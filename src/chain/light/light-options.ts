import type { Network } from '../../networks/network.js';
import type { Hex } from '../../primitives/hex.js';
import type { TableOf, WithDefaults } from '../../primitives/option-table.js';
import type { EndpointSource, UrlEndpoint } from '../../upstream/options.js';
import type { BlockLevel, BlockTag, HeadLevel } from '../block.js';

/** A light node: it fetches data from endpoints, and verifies it before it answers. */
export interface LightChainOptions {
  readonly kind: 'light';
  /** Profile of the network, such as `linea`, or one of your own. */
  readonly network: Network;
  /** Endpoints of layer 2, in order of preference. */
  readonly endpoints: readonly EndpointSource[];
  /**
   * Layer 1: JSON-RPC endpoints whose word counts, or its consensus, which is verified. Without it no block is finalized, and
   * there are no zk proofs.
   */
  readonly layerOne?: LayerOneSource;
  /** REST endpoints of the consensus client Maru, for level `sealed`. */
  readonly maru?: readonly (string | UrlEndpoint)[];
  /**
   * Trust level that the head must have. Default: `attested` on layer 1 with its consensus, else `linked` with endpoints of two or more
   * origins, `plain` with one. A head below this level is an error, whatever `required` says.
   *
   * At `sealed`, an older block is verified by its links to the sealed head, header by header: down to 8192 blocks below it,
   * which takes up to 128 requests, once. A block further below without a seal of its own is `TRUST_LEVEL_NOT_REACHED`; so are
   * `finalized` and `safe` while the newest finalized block is further behind than that.
   */
  readonly level?: HeadLevel;
  /** At level `attested`: age from which on the newest attested block is not used, ms; 5 minutes when left out. */
  readonly latestMaxAgeMs?: number;
  /** Origins that must agree at level `linked`; 2 when left out. */
  readonly agreeing?: number;
  /** Origins of layer 1 that must agree on the newest finalized block; 1 when left out. */
  readonly layerOneAgreeing?: number;
  /**
   * Trust levels that blocks named by a tag must have. `settled` can be required of `finalized` and `safe` where the consensus of
   * layer 1 is followed. `finalized` cannot be required: endpoints of layer 1 name a block number and a root of the zk state, but
   * no hash. Only the answer of `linea_getProof` has that level.
   */
  readonly required?: Partial<Readonly<Record<BlockTag, BlockLevel>>>;
  /** Blocks that the agreed head may be behind the highest head that an endpoint claims; 32 when left out. */
  readonly maxLagBlocks?: number;
  /** Largest depth of a reorg that is followed, in blocks; 64 when left out. */
  readonly maxReorgDepth?: number;
  /** Time for which a head is used without asking the endpoints again, ms; one slot when left out. */
  readonly headMaxAgeMs?: number;
  /**
   * Whether to ask an endpoint which accounts and slots a call touches (`eth_createAccessList`). This takes one round trip in
   * place of several, and shows the call to the endpoint. True when left out.
   */
  readonly accessLists?: boolean;
  /** Time for which the newest finalization is used without asking layer 1 again, ms; 60 000 when left out. */
  readonly finalityMaxAgeMs?: number;
  /**
   * Read the rollup contract by proofs against a layer-1 header instead of by calls. False when left out.
   *
   * The endpoint of layer 1 chooses the header, and only its hash is checked; the endpoint can make up a header that has its
   * hash. So this alone adds no trust. It does with `layerOneHeader`, or with a layer-1 light client as provider in `layerOne`.
   */
  readonly proveLayerOne?: boolean;
  /**
   * A layer-1 block that you trust, by its hash: 32 bytes in hex. The header from the endpoints must have this hash, and the
   * rollup contract is proved against it, with any value of `proveLayerOne`. The endpoints of layer 1 are then not trusted at
   * all. The finalized block stays the one at this layer-1 block, until a node is opened with a newer one. The endpoints must have
   * the state of this block.
   */
  readonly layerOneHeader?: { readonly hash: Hex };
}

/** What each option of a light node is. */
export const LIGHT_OPTIONS = {
  kind: { is: 'text', needed: true },
  network: { is: 'profile', needed: true },
  endpoints: { is: 'endpoints', needed: true },
  layerOne: { is: 'layerOne' },
  maru: { is: 'endpoints' },
  level: { is: 'text' },
  latestMaxAgeMs: { is: 'aboveZero', or: 300_000 },
  agreeing: { is: 'count', or: 2 },
  layerOneAgreeing: { is: 'wholeAboveZero', or: 1 },
  required: { is: 'textsByName', or: {} },
  maxLagBlocks: { is: 'count', or: 32 },
  maxReorgDepth: { is: 'count', or: 64 },
  headMaxAgeMs: {
    is: 'notNegative',
    or: ({ network }: Pick<LightChainOptions, 'network'>) => network.slotSeconds * 1000,
  },
  accessLists: { is: 'flag', or: true },
  finalityMaxAgeMs: { is: 'notNegative', or: 60_000 },
  proveLayerOne: { is: 'flag', or: false },
  layerOneHeader: { is: { hash: { is: 'hex', needed: true } } },
} as const satisfies TableOf<LightChainOptions>;

/** Options of a light node, with defaults. */
export type LightSettings = WithDefaults<LightChainOptions, typeof LIGHT_OPTIONS>;

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
