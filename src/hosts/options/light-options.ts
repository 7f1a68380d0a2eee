import type { BlockTag } from '../../chain/block-reference.js';
import type { BlockLevel, HeadLevel } from '../../chain/light/heads/heads.js';
import type { LightChainParts } from '../../chain/light/light-options.js';
import { invalidParameter } from '../../errors.js';
import type { Network } from '../../networks/network.js';
import { type Hex, hexToBytes } from '../../primitives/hex.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { EndpointSource, UrlEndpoint } from '../../upstream/options.js';
import { isFollowed, type LayerOneSource } from './layer-one-options.js';

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
   * Trust level that the head must have. Default: `linked` with endpoints of two or more origins, `plain` with one. A head
   * below this level is an error, whatever `required` says.
   *
   * At `sealed`, an older block is verified by its links to the sealed head, header by header: down to 8192 blocks below it,
   * which takes up to 128 requests, once. A block further below without a seal of its own is `TRUST_LEVEL_NOT_REACHED`; so are
   * `finalized` and `safe` while the newest finalized block is further behind than that.
   */
  readonly level?: HeadLevel;
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

const HEAD_TIMEOUT_MS = 8_000;

/**
 * The parts of a light chain that its options decide, with defaults.
 *
 * @param upstream - the endpoints of layer 2
 * @throws PlumblineError `INVALID_PARAMETER`; `INVALID_HEX`, `INVALID_LENGTH` for the hash of the trusted block
 */
export function lightChainParts(options: Omit<LightChainOptions, 'kind'>, upstream: EndpointGroup) {
  const { network, layerOneHeader, layerOne } = options;
  if (isFollowed(layerOne) && (layerOneHeader !== undefined || options.layerOneAgreeing !== undefined))
    throw invalidParameter(
      'layerOneHeader',
      'and layerOneAgreeing are for endpoints whose word counts; consensus decides here',
    );
  const walk = isFollowed(layerOne) ? (layerOne.maxWalkBack ?? 0) : 0;
  if (!Number.isSafeInteger(walk) || walk < 0)
    throw invalidParameter('layerOne.maxWalkBack', `must be a number of blocks, zero or above; got ${walk}`);
  return {
    network,
    ...levelOf(options, upstream),
    required: requiredOf(options),
    maxLagBlocks: options.maxLagBlocks ?? 32,
    maxReorgDepth: options.maxReorgDepth ?? 64,
    headMaxAgeMs: options.headMaxAgeMs ?? network.slotSeconds * 1000,
    headTimeoutMs: HEAD_TIMEOUT_MS,
    accessLists: options.accessLists ?? true,
    finalityMaxAgeMs: options.finalityMaxAgeMs ?? 60_000,
    proveLayerOne: options.proveLayerOne ?? false,
    layerOneAgreeing: options.layerOneAgreeing ?? 1,
    maxWalkBack: isFollowed(layerOne) ? layerOne.maxWalkBack : undefined,
    layerOneHeader: layerOneHeader && hexToBytes(layerOneHeader.hash, 32),
  } satisfies Partial<LightChainParts>;
}

const HEAD_LEVELS: readonly string[] = ['plain', 'linked', 'sealed'] satisfies HeadLevel[];
const SETTLED_TAGS: readonly string[] = ['finalized', 'safe'] satisfies BlockTag[];
const TAGS: readonly string[] = ['latest', 'pending', 'earliest', 'safe', 'finalized'] satisfies BlockTag[];

/** Required levels by tag. @throws PlumblineError `INVALID_PARAMETER` for an unknown tag or level, which would have no effect */
function requiredOf({ required = {}, layerOne }: Pick<LightChainOptions, 'required' | 'layerOne'>) {
  for (const [tag, level] of Object.entries(required)) {
    if (!TAGS.includes(tag)) throw invalidParameter('required', `${tag} is not a block tag; use ${TAGS.join(', ')}`);
    if (level === 'settled') {
      if (isFollowed(layerOne) && SETTLED_TAGS.includes(tag)) continue;
      const reason = 'settled can be required of finalized and safe alone, with layerOne.consensus';
      throw invalidParameter(`required.${tag}`, reason);
    }
    if (level !== undefined && !HEAD_LEVELS.includes(level))
      throw invalidParameter(`required.${tag}`, `must be one of ${HEAD_LEVELS.join(', ')}`);
  }
  return required;
}

/** @throws PlumblineError `INVALID_PARAMETER` for an unknown level, or fewer origins than must agree */
function levelOf({ level, agreeing = 2 }: Pick<LightChainOptions, 'level' | 'agreeing'>, { endpoints }: EndpointGroup) {
  const origins = new Set(endpoints.map(({ origin }) => origin)).size;
  const chosen = level ?? (origins > 1 ? 'linked' : 'plain');
  if (!HEAD_LEVELS.includes(chosen)) throw invalidParameter('level', `must be one of ${HEAD_LEVELS.join(', ')}`);
  if (chosen === 'linked' && (!Number.isInteger(agreeing) || agreeing < 2 || agreeing > origins)) {
    throw invalidParameter(
      'agreeing',
      `must be from 2 to ${origins}, the number of origins in endpoints; got ${agreeing}`,
    );
  }
  return { level: chosen, agreeing };
}

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

/** The network that a devnet is a fork of: a light chain's options, and the block. */
export interface ForkOptions extends Omit<LightChainOptions, 'kind'> {
  /**
   * The block that the fork begins with: its number, its hash of 32 bytes, or a tag. The newest one when left out. `finalized` and
   * `safe` need `layerOne`. The endpoints must have the state after it for as long as the fork reads what it has not read before.
   */
  readonly block?: number | Hex | 'latest' | 'finalized' | 'safe';
}

/** What a fork has of the network, so that it cannot be given. */
export type NotOfForks = 'network' | 'scheme' | 'genesis' | 'importBlocks' | 'prices';
