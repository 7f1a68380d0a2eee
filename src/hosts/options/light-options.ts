import type { BlockTag } from '../../chain/block-reference.js';
import type { HeadLevel } from '../../chain/light/heads/heads.js';
import type { LightChainParts } from '../../chain/light/light-options.js';
import { invalidParameter } from '../../errors.js';
import type { Network } from '../../networks/network.js';
import { type Hex, hexToBytes } from '../../primitives/hex.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { EndpointSource, UrlEndpoint } from '../../upstream/options.js';

/** A light node: endpoints supply data, and what they say is believed as far as it is proved. */
export interface LightChainOptions {
  readonly kind: 'light';
  /** Profile of the network: `linea`, `lineaSepolia`, or one of your own. */
  readonly network: Network;
  /** Endpoints of layer 2, in the order in which they are preferred. */
  readonly endpoints: readonly EndpointSource[];
  /** Endpoints of layer 1; without them nothing counts as finalized, and there are no zk proofs. */
  readonly layerOne?: readonly EndpointSource[];
  /** Interface of the consensus client Maru, for level `sealed`. */
  readonly maru?: readonly (string | UrlEndpoint)[];
  /**
   * How the head has to be vouched for. When left out: `linked` with endpoints of two origins and more, `plain` with one. A
   * head that is not is an error, whatever was asked.
   *
   * At `sealed` an older block has to be linked to the sealed head, header by header: down to 8192 blocks below it, which
   * takes up to 128 requests, once. One further below that has no seal of its own is `TRUST_LEVEL_NOT_REACHED`; so are
   * `finalized` and `safe` while what is finalized on layer 1 lies further behind than that.
   */
  readonly level?: HeadLevel;
  /** Origins that have to agree at level `linked`; 2 when left out. */
  readonly agreeing?: number;
  /** Origins of layer 1 that have to agree on what is finalized; 1 when left out. */
  readonly layerOneAgreeing?: number;
  /**
   * Levels that blocks named by a tag have to have reached. `finalized` is no level of a block here: layer 1 names a number
   * and a root of the zk state, no hash. Only what `linea_getProof` proves has it.
   */
  readonly required?: Partial<Readonly<Record<BlockTag, HeadLevel>>>;
  /** Blocks that the agreed head may be behind what endpoints claim; 32 when left out. */
  readonly maxLagBlocks?: number;
  /** Blocks that a re-organization may take back; 64 when left out. */
  readonly maxReorgDepth?: number;
  /** For how long a head is taken for the newest without a look, in ms; one slot when left out. */
  readonly headMaxAgeMs?: number;
  /**
   * Whether an endpoint is asked which accounts and slots a call touches (`eth_createAccessList`): one round trip in place of
   * several, and the endpoint learns the call. True when left out.
   */
  readonly accessLists?: boolean;
  /** For how long the newest finalization is taken for the newest without a look, in ms; 60 000 when left out. */
  readonly finalityMaxAgeMs?: number;
  /**
   * Read the rollup contract by proofs against the layer-1 header, and not by calls. False when left out.
   *
   * The header is the one that the endpoint of layer 1 names: only its hash is checked, and anyone can make a header that
   * has its hash. So this adds no trust beyond the endpoint's word for the header. It does with `layerOneHeader`, or with a
   * layer-1 light client as provider in `layerOne`.
   */
  readonly proveLayerOne?: boolean;
  /**
   * A layer-1 block that you trust, by its hash of 32 bytes in hex. The header the endpoints give has to have this hash, and
   * the rollup contract is proved against it, whatever `proveLayerOne` says, so that endpoints of layer 1 are trusted with
   * nothing. What is finalized is then what it was at this block, until a node is opened with a newer one. The endpoints have
   * to hold its state.
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
  const { network, layerOneHeader } = options;
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
    layerOneHeader: layerOneHeader && hexToBytes(layerOneHeader.hash, 32),
  } satisfies Partial<LightChainParts>;
}

const HEAD_LEVELS: readonly string[] = ['plain', 'linked', 'sealed'] satisfies HeadLevel[];
const TAGS: readonly string[] = ['latest', 'pending', 'earliest', 'safe', 'finalized'] satisfies BlockTag[];

/** Required levels by tag. @throws PlumblineError `INVALID_PARAMETER` for an unknown tag or level, which would have no effect */
function requiredOf({ required = {} }: Pick<LightChainOptions, 'required'>) {
  for (const [tag, level] of Object.entries(required)) {
    if (!TAGS.includes(tag)) throw invalidParameter('required', `${tag} is not a block tag; use ${TAGS.join(', ')}`);
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
