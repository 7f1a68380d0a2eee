import type { LightCache } from '../../chain/light/light-cache.js';
import { LAYER_ONE_OPTIONS, type LayerOneOptions } from '../../chain/light/light-options.js';
import type { ConsensusSource } from '../../chain/light/light-parts.js';
import type { Settlement } from '../../chain/light/settlement/settlement.js';
import { invalidParameter } from '../../errors.js';
import type { EvidenceSources } from '../../evidence/collect-evidence.js';
import type { EvidenceClaim } from '../../evidence/evidence-bundle.js';
import type { Network } from '../../networks/network.js';
import { hexToBytes } from '../../primitives/hex.js';
import { withDefaults } from '../../primitives/option-table.js';
import type { Clock } from '../../scheduling/clock.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { GroupOptions, UrlEndpoint } from '../../upstream/options.js';
import { RestGroup } from '../../upstream/rest-group.js';

/** What all groups of endpoints of a node have in common. */
export type EndpointSettings = Pick<GroupOptions, 'fetch' | 'observer'> & { readonly clock: Clock };

/** What a light node has for following layer 1. */
export interface ConsensusParts {
  readonly network: Network;
  readonly cache: LightCache | undefined;
  readonly common: EndpointSettings;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/** Sixteen updates of 128 KB at most, which is twice what they need. */
const MAX_ANSWER_BYTES = 2 ** 21;

/**
 * Opens the endpoints for following the consensus of layer 1. No request is sent, and the verifying code is not loaded, until
 * the first finalized block is asked for.
 *
 * @throws PlumblineError `INVALID_PARAMETER`; `INVALID_HEX`, `INVALID_LENGTH` for the root of the checkpoint
 */
export function openConsensus(options: LayerOneOptions, { network, cache, ...parts }: ConsensusParts) {
  const { layerOne } = network;
  if (layerOne === undefined) {
    const reason = `cannot be used: the profile ${network.name} does not name its layer 1 (layerOne)`;
    throw invalidParameter('chain.layerOne.consensus', reason);
  }
  const open = (role: string, endpoints: readonly (string | UrlEndpoint)[]) =>
    new RestGroup({ role, endpoints: endpoints.map(withLimit), ...parts.common });
  const beacon = open('l1-consensus', options.consensus);
  const servers = options.checkpointServers && open('l1-checkpoint', options.checkpointServers);
  const { checkpointServers = [], ...given } = withDefaults(LAYER_ONE_OPTIONS, options);
  const { checkpointAgreeing: agreeing = Math.max(2, Math.floor(checkpointServers.length / 2) + 1) } = given;
  const checkpoints = {
    given: options.checkpoint && hexToBytes(options.checkpoint.root, 32),
    builtin: network.checkpoint && hexToBytes(network.checkpoint, 32),
    servers: servers && { group: servers, agreeing },
  };
  if (!Number.isInteger(agreeing) || agreeing < 2)
    throw invalidParameter('chain.layerOne.checkpointAgreeing', 'must be an integer of at least 2');
  if (servers !== undefined && new Set(servers.group.endpoints.map(({ origin }) => origin)).size < agreeing)
    throw invalidParameter(
      'chain.layerOne.checkpointServers',
      `must have at least ${agreeing} origins, which must agree`,
    );
  const settings = {
    beacon,
    checkpointMaxAgeMs: given.checkpointMaxAgeMs,
    maxAgeMs: given.maxAgeMs,
    clock: parts.common.clock,
  };
  const follower = loadOnce(async () => {
    const [{ LayerOneFollower }, { LightClientRecord }, { beaconNetworkOf }] = await Promise.all([
      import('../../chain/light/layer-one-follower.js'),
      import('../../chain/light/light-client-record.js'),
      import('../../networks/beacon-networks.js'),
    ]);
    const chain = beaconNetworkOf(layerOne);
    return new LayerOneFollower({
      ...settings,
      network: chain,
      checkpoints,
      record: new LightClientRecord(cache?.finalizations, chain),
      onProgress: parts.onProgress,
    });
  });
  const source: ConsensusSource = {
    finalized: async (signal) => (await follower()).finalized(signal),
    attested: async (signal) => (await follower()).attested(signal),
    maxAgeMs: settings.maxAgeMs,
    async answers() {
      const [{ collectAnswers }, { beaconNetworkOf }] = await Promise.all([
        import('../../chain/light/consensus-answers.js'),
        import('../../networks/beacon-networks.js'),
      ]);
      const { checkpoint } = await (await follower()).finalized();
      return collectAnswers({ ...settings, network: beaconNetworkOf(layerOne) }, checkpoint);
    },
    close() {
      beacon.close();
      servers?.close();
    },
  };
  /** Collects what proves a claim without any endpoint. */
  const evidence =
    ({
      settlement,
      ...sources
    }: Pick<EvidenceSources, 'network' | 'upstream' | 'layerOne'> & { settlement: () => Promise<Settlement> }) =>
    async (claim: EvidenceClaim) => {
      const { collectEvidence } = await import('../../evidence/collect-evidence.js');
      const { clock } = parts.common;
      return collectEvidence({ ...sources, clock, consensus: source, settlement: await settlement() }, claim);
    };
  return { source, evidence, groups: servers === undefined ? [beacon.group] : [beacon.group, servers.group] };
}

function withLimit(source: string | UrlEndpoint): UrlEndpoint {
  const endpoint = typeof source === 'string' ? { url: source } : source;
  return { maxResponseBytes: MAX_ANSWER_BYTES, ...endpoint };
}
