import { invalidParameter } from '../../errors.js';
import type { CalldataSizer, Hasher, HashScheme } from '../../kernel/contracts.js';
import { isLayerOne } from '../../networks/network.js';
import { hexToBytes } from '../../primitives/hex.js';
import { withDefaults } from '../../primitives/option-table.js';
import type { Activity } from '../../scheduling/activity.js';
import type { Clock } from '../../scheduling/clock.js';
import type { PageStore } from '../../store/page-store.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { RestGroup } from '../../upstream/rest-group.js';
import type { HeadLevel } from '../block.js';
import { BLOCK_TAGS, type BlockTag } from '../block.js';
import type { ConsensusAnswers } from './consensus-answers.js';
import type { AttestedLayerOne, FollowedLayerOne } from './layer-one-follower.js';
import type { LightCache } from './light-cache.js';
import { isFollowed, LIGHT_OPTIONS, type LightChainOptions, type LightSettings } from './light-options.js';

/** What a light chain needs of a follower of layer-1 consensus. Its code is loaded when it is first used. */
export interface ConsensusSource {
  /** @throws PlumblineError as `LayerOneFollower.finalized` */
  finalized(signal?: AbortSignal): Promise<FollowedLayerOne>;
  /** @throws PlumblineError as `LayerOneFollower.attested` */
  attested(signal?: AbortSignal): Promise<AttestedLayerOne>;
  /** The answers of beacon nodes that lead from the trusted block to a final one. @throws PlumblineError as `finalized` */
  answers(): Promise<ConsensusAnswers>;
  /** Oldest finalized header that is used, milliseconds. */
  readonly maxAgeMs: number;
  close(): void;
}

/** Settings and dependencies of a light chain. */
export interface LightChainParts
  extends Omit<LightSettings, 'kind' | 'endpoints' | 'layerOne' | 'maru' | 'level' | 'layerOneHeader'> {
  /** Endpoints of layer 2. */
  readonly upstream: EndpointGroup;
  /** Endpoints of layer 1. Without them there is no finalized block. */
  readonly layerOne?: EndpointGroup | undefined;
  /** Follows the consensus of layer 1. Without it, the endpoints of layer 1 say which of its blocks is final. */
  readonly consensus?: ConsensusSource | undefined;
  /** As in `LayerOneOptions`. */
  readonly maxWalkBack?: number | undefined;
  /** Endpoints of Maru. Without them only Clique blocks can reach level `sealed`. */
  readonly maru?: RestGroup | undefined;
  readonly level: HeadLevel;
  /** Hash of a trusted layer-1 block, 32 bytes. */
  readonly layerOneHeader?: Uint8Array | undefined;
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

/**
 * The settings of a light chain that its options decide.
 *
 * @param upstream - the endpoints of layer 2
 * @throws PlumblineError `INVALID_PARAMETER`; `INVALID_HEX`, `INVALID_LENGTH` for the hash of the trusted block
 */
export function lightSettings(
  options: Omit<LightChainOptions, 'kind'>,
  upstream: EndpointGroup,
): Omit<LightSettings, 'kind' | 'layerOneHeader'> & Pick<LightChainParts, 'level' | 'maxWalkBack' | 'layerOneHeader'> {
  const { layerOneHeader, layerOne } = options;
  if (isFollowed(layerOne) && (layerOneHeader !== undefined || options.layerOneAgreeing !== undefined))
    throw invalidParameter(
      'layerOneHeader',
      'and layerOneAgreeing are for endpoints whose word counts; consensus decides here',
    );
  const settings = withDefaults(LIGHT_OPTIONS, options);
  requireSources(settings);
  requireLevels(settings);
  return {
    ...settings,
    level: levelOf(settings, upstream),
    maxWalkBack: isFollowed(layerOne) ? layerOne.maxWalkBack : undefined,
    layerOneHeader: layerOneHeader && hexToBytes(layerOneHeader.hash, 32),
  };
}

/** @throws PlumblineError `INVALID_PARAMETER` for endpoints of layer 1 that a network has no use for, or that it needs */
function requireSources({ network, layerOne }: Pick<LightSettings, 'network' | 'layerOne'>): void {
  if (layerOne === undefined) return;
  const followed = isFollowed(layerOne) ? layerOne : undefined;
  if (!isLayerOne(network)) {
    if (followed === undefined || followed.execution !== undefined) return;
    throw invalidParameter(
      'layerOne.execution',
      'is missing: give endpoints of layer 1, which holds the rollup contract',
    );
  }
  const own = `${network.name} is its own layer 1, and endpoints has its nodes`;
  if (followed === undefined) throw invalidParameter('layerOne', `must be { consensus }: ${own}`);
  if (followed.execution !== undefined) throw invalidParameter('layerOne.execution', `must be left out: ${own}`);
}

const HEAD_LEVELS: readonly string[] = ['plain', 'linked', 'attested', 'sealed'] satisfies HeadLevel[];
const SETTLED_TAGS: readonly string[] = ['finalized', 'safe'] satisfies BlockTag[];
const TAGS: readonly string[] = BLOCK_TAGS;

/** @throws PlumblineError `INVALID_PARAMETER` for an unknown tag or level, which would have no effect */
function requireLevels({ required, layerOne }: Pick<LightSettings, 'required' | 'layerOne'>): void {
  for (const [tag, level] of Object.entries(required)) {
    if (!TAGS.includes(tag)) throw invalidParameter('required', `${tag} is not a block tag; use ${TAGS.join(', ')}`);
    if (level === 'settled') {
      if (isFollowed(layerOne) && SETTLED_TAGS.includes(tag)) continue;
      const reason = 'settled can be required of finalized and safe alone, with layerOne.consensus';
      throw invalidParameter(`required.${tag}`, reason);
    }
    if (level !== undefined) requireHeadLevel(`required.${tag}`, level);
  }
}

function requireHeadLevel(path: string, level: string): void {
  if (!HEAD_LEVELS.includes(level)) throw invalidParameter(path, `must be one of ${HEAD_LEVELS.join(', ')}`);
}

/** @throws PlumblineError `INVALID_PARAMETER` for an unknown level, or fewer origins than must agree */
function levelOf(
  { level: given, agreeing, network, layerOne }: Pick<LightSettings, 'level' | 'agreeing' | 'network' | 'layerOne'>,
  { endpoints }: EndpointGroup,
): HeadLevel {
  const origins = new Set(endpoints.map(({ origin }) => origin)).size;
  const canBeAttested = isLayerOne(network) && isFollowed(layerOne);
  const level = given ?? (canBeAttested ? 'attested' : origins > 1 ? 'linked' : 'plain');
  requireHeadLevel('level', level);
  if (level === 'attested' && !canBeAttested)
    throw invalidParameter('level', 'attested is for a network that is its own layer 1, with layerOne.consensus');
  if (level === 'linked' && origins < 2) throw invalidParameter('level', 'linked needs endpoints of two hosts or more');
  if (level === 'linked' && (!Number.isInteger(agreeing) || agreeing < 2 || agreeing > origins)) {
    throw invalidParameter(
      'agreeing',
      `must be from 2 to ${origins}, the number of origins in endpoints; got ${agreeing}`,
    );
  }
  return level;
}
