import type { Chain } from '../../chain/chain.js';
import type { LightChainParts } from '../../chain/light/light-parts.js';
import { LayerOneFinality } from '../../chain/light/settlement/finality.js';
import { REPLICA_OPTIONS, type ReplicaChainOptions, type ReplicaProgress } from '../../chain/replica/settings.js';
import { besuTrieLogs, layerOneOf, shomeiRoots } from '../../chain/replica/sources.js';
import { keepFollowing, openReplicaChain, ZkFollower } from '../../chain/replica/zk-follower.js';
import { invalidParameter, isPlumblineError, type PlumblineError } from '../../errors.js';
import type { Hasher, HashScheme, KernelOptions } from '../../kernel/contracts.js';
import { loadTrieKernel } from '../../kernel/trie.js';
import { rollupOf, schemeAt } from '../../networks/network.js';
import { withDefaults } from '../../primitives/option-table.js';
import { monotonicMs } from '../../scheduling/clock.js';
import { MemoryStore } from '../../store/memory-store.js';
import type { PageStore } from '../../store/page-store.js';
import { isStoreFailure, type StoreHealth } from '../../store/store-status.js';
import { EndpointGroup } from '../../upstream/group.js';
import type { OpenProgress, ReplicaObserver } from '../options/options.js';
import type { EndpointSettings } from './open-consensus.js';

/** Least time between two progress reports that differ by less than 1 %, ms. */
const SYNC_REPORT_MS = 100;

/** What a replica shares with its light chain. */
export interface ReplicaParts {
  /** All groups of endpoints of the node. Those that only a replica has are added. */
  readonly groups: EndpointGroup[];
  /** Required; checked when the replica opens. */
  readonly layerOne: EndpointGroup | undefined;
  readonly settings: Pick<
    LightChainParts,
    'finalityMaxAgeMs' | 'proveLayerOne' | 'layerOneAgreeing' | 'layerOneHeader'
  >;
  /** In memory when left out. The light chain closes it. */
  readonly store: PageStore | undefined;
  /** Updated when a commit succeeds or fails. */
  readonly health: StoreHealth;
  readonly common: EndpointSettings;
  readonly kernel: KernelOptions;
  readonly observer: ReplicaObserver | undefined;
  readonly onProgress: ((progress: OpenProgress) => void) | undefined;
  loadHasher(scheme: HashScheme): Promise<Hasher>;
}

/**
 * Starts a replica on a light chain: opens its stored state, and follows the network from there.
 *
 * @param light - closed with the replica, and when this throws
 * @throws PlumblineError `INVALID_PARAMETER` for endpoints; `STORE_CORRUPT`, `STORE_TOO_NEW`; of the store and the kernels
 */
export async function startReplica(light: Chain, options: ReplicaChainOptions, parts: ReplicaParts): Promise<Chain> {
  const settings = withDefaults(REPLICA_OPTIONS, options);
  const { network } = settings;
  const { layerOne, store, common, kernel, observer } = parts;
  const { clock } = common;
  const synced = syncReports(parts.onProgress);
  const groups: EndpointGroup[] = [];
  const group = (role: string, endpoints: ReplicaChainOptions['trieLogs']) => {
    const opened = new EndpointGroup({ role, endpoints, ...common });
    groups.push(opened);
    parts.groups.push(opened);
    return opened;
  };
  try {
    if (layerOne === undefined) throw missingLayerOne();
    const scheme = schemeAt(network, Number.MAX_SAFE_INTEGER);
    const finality = new LayerOneFinality(layerOne, {
      rollup: rollupOf(network).rollup,
      maxAgeMs: parts.settings.finalityMaxAgeMs,
      prove: parts.settings.proveLayerOne,
      agreeing: parts.settings.layerOneAgreeing,
      header: parts.settings.layerOneHeader,
      clock,
    });
    const follower = await ZkFollower.open({
      ...settings,
      store: store === undefined ? new MemoryStore() : noting(store, parts.health),
      hasher: await parts.loadHasher(scheme),
      tries: () => loadTrieKernel(scheme, { ...kernel, undo: true, nodes: true }),
      logs: besuTrieLogs(group('trie-logs', options.trieLogs)),
      layerOne: layerOneOf(finality),
      stateManager: options.stateManager && shomeiRoots(group('state-manager', options.stateManager)),
      blockHash: (block) => genesisHash(light, block),
      onProgress(progress) {
        observer?.progress?.(progress);
        synced(progress);
      },
    });
    const end = keepFollowing(follower, {
      pollMs: settings.followIntervalMs,
      clock,
      onError: (error) => observer?.error?.(error),
    });
    return openReplicaChain(light, follower, async () => {
      await end();
      for (const opened of groups) opened.close();
    });
  } catch (error) {
    for (const opened of groups) opened.close();
    await light.close();
    throw error;
  }
}

/** Reports the progress of a replica as stage `sync`: at each percent, each 100 ms, and at the end of each run. */
function syncReports(tell: ReplicaParts['onProgress']): (progress: ReplicaProgress) => void {
  let [told, at] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return ({ block, target }) => {
    const fraction = (block + 1) / (target + 1);
    const now = monotonicMs();
    if (block < target && Math.abs(fraction - told) < 0.01 && now - at < SYNC_REPORT_MS) return;
    [told, at] = [fraction, now];
    tell?.({ stage: 'sync', fraction, block, target });
  };
}

/**
 * A store that notes in `health` how its commits end. While commits fail, a replica stays at the state it has, and proves
 * from it; it follows again after a commit succeeds.
 */
function noting(store: PageStore, health: StoreHealth): PageStore {
  return {
    health,
    get: (table, key) => store.get(table, key),
    keys: (table) => store.keys(table),
    getMany: (table, keys) => store.getMany(table, keys),
    async commit(commit) {
      try {
        await store.commit(commit);
        health.durable();
      } catch (error) {
        if (isStoreFailure(error)) health.memory(error);
        throw error;
      }
    },
    clear: () => store.clear(),
    close: () => store.close(),
  };
}

/** Hash of block 0, by which a node of another chain is refused at once. Where it cannot be fetched, layer 1 decides later. */
async function genesisHash(light: Chain, block: number): Promise<Uint8Array | undefined> {
  if (block !== 0) return undefined;
  try {
    return (await light.block({ number: 0 }))?.hash;
  } catch (error) {
    if (isPlumblineError(error)) return undefined;
    throw error;
  }
}

function missingLayerOne(): PlumblineError<'INVALID_PARAMETER'> {
  return invalidParameter('layerOne', 'a replica needs at least one endpoint of layer 1');
}
