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
   * Layer 1: JSON-RPC endpoints, which are believed, or layer-1 consensus, which is verified. Without it, no block is finalized, and
   * there are no zk proofs.
   */
  readonly layerOne?: LayerOneSource;
  /** REST endpoints of the consensus client Maru, for level `sealed`. */
  readonly maru?: readonly (string | UrlEndpoint)[];
  /**
   * Trust level that the head must have. Default: `attested` for a layer 1 with its consensus; otherwise `linked` with endpoints of
   * two or more origins, and `plain` with one. A head below this level is an error, also if `required` allows less.
   *
   * At `sealed`, an older block is verified by its links to the sealed head, header by header. This works down to 8192 blocks below
   * the head, and takes up to 128 requests, once. If a block is further below and has no seal of its own, you get
   * `TRUST_LEVEL_NOT_REACHED`. You also get it for `finalized` and `safe` if the newest finalized block is further below.
   */
  readonly level?: HeadLevel;
  /** At level `attested`: the newest attested block is not used if it is older than this, ms. Default: 5 minutes. */
  readonly latestMaxAgeMs?: number;
  /** Number of origins that must agree at level `linked`. Default: 2. */
  readonly agreeing?: number;
  /** Number of layer-1 origins that must agree on the newest finalized block. Default: 1. */
  readonly layerOneAgreeing?: number;
  /**
   * Trust level that the block of each tag must have. If the node follows layer-1 consensus, you can require `settled` for `finalized`
   * and `safe`. You cannot require `finalized`: layer-1 endpoints name a block number and a root of the zk state, but no block hash.
   * Only an answer of `linea_getProof` has that level.
   */
  readonly required?: Partial<Readonly<Record<BlockTag, BlockLevel>>>;
  /** How many blocks the agreed head may be behind the highest head that an endpoint claims. Default: 32. */
  readonly maxLagBlocks?: number;
  /** Largest depth of a reorg that the node follows, in blocks. Default: 64. */
  readonly maxReorgDepth?: number;
  /** How long a head is used before the endpoints are asked again, ms. Default: one slot. */
  readonly headMaxAgeMs?: number;
  /**
   * Whether to ask an endpoint which accounts and slots a call touches (`eth_createAccessList`). This takes one round trip and not
   * several, but shows the call to the endpoint. Default: true.
   */
  readonly accessLists?: boolean;
  /** How long the newest finalization is used before layer 1 is asked again, ms. Default: 60 000. */
  readonly finalityMaxAgeMs?: number;
  /**
   * Whether to read the rollup contract with proofs against a layer-1 header, and not with calls. Default: false.
   *
   * The layer-1 endpoint chooses the header, and only the hash is checked. The endpoint can invent a header with its hash. So this
   * option alone adds no trust. It adds trust together with `layerOneHeader`, or with a layer-1 light client as provider in
   * `layerOne`.
   */
  readonly proveLayerOne?: boolean;
  /**
   * A layer-1 block that you trust, by its hash: 32 bytes in hex. The header from the endpoints must have this hash. The rollup
   * contract is proved against it, with any value of `proveLayerOne`. Then the layer-1 endpoints need no trust. The finalized block
   * does not move on from this layer-1 block until you open a node with a newer one. The endpoints must have the state of this block.
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
 * Layer 1 with its consensus. The node starts from a beacon block that you trust. The signatures of sync committees say which block is
 * final. The node believes nothing that the endpoints say without proof.
 */
export interface LayerOneOptions {
  /** Beacon-API endpoints that serve the light-client routes (`/eth/v1/beacon/light_client/…`). */
  readonly consensus: readonly (string | UrlEndpoint)[];
  /** JSON-RPC endpoints of layer 1, for headers and proofs of the rollup contract. Needed, unless the network is its own layer 1. */
  readonly execution?: readonly EndpointSource[];
  /**
   * A finalized beacon block that you trust, by its root: 32 bytes in hex. Without it, the node tries the state of an earlier session,
   * then the checkpoint of the network's profile, then the servers of `checkpointServers`.
   */
  readonly checkpoint?: { readonly root: Hex };
  /** Servers of different operators. The node asks them for a finalized beacon block (`/eth/v1/beacon/headers/finalized`). */
  readonly checkpointServers?: readonly (string | UrlEndpoint)[];
  /** Number of origins of `checkpointServers` that must name the same block. Default: more than half of them, and at least 2. */
  readonly checkpointAgreeing?: number;
  /** A checkpoint, or the state of an earlier session, is not used if it is older than this, ms. Default: 14 days. */
  readonly checkpointMaxAgeMs?: number;
  /**
   * The newest finalized header of layer 1 is not used if it is older than this, ms. Default: 45 minutes. If `execution` cannot be
   * reached, data that was read from it earlier has the same limit.
   */
  readonly maxAgeMs?: number;
  /**
   * The zk state proves the hashes of recent blocks. This many blocks below the oldest of them are also settled, as its ancestors.
   * Default: 8191. The first read of such a block fetches all headers between them, 64 with each request.
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

/** Layer-1 endpoints, which are believed, or layer 1 with its consensus. */
export type LayerOneSource = readonly EndpointSource[] | LayerOneOptions;

/** Whether the node follows layer-1 consensus. */
export function isFollowed(source: LayerOneSource | undefined): source is LayerOneOptions {
  return source !== undefined && !Array.isArray(source);
}
