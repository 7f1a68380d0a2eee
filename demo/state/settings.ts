import { signal } from '@preact/signals';
import { type ClientOptions, NETWORKS, type NetworkName, type UrlEndpoint } from 'plumbline-l2';
import { type EndpointField, joinKey } from './secrets.js';

export type Level = 'auto' | 'plain' | 'linked' | 'sealed';

/** What the form of the node says. */
export interface Settings {
  readonly kind: 'devnet' | 'light';
  readonly scheme: 'poseidon2' | 'mimc';
  readonly mining: 'auto' | 'manual';
  readonly network: NetworkName;
  readonly endpoints: readonly EndpointField[];
  /** Of a rollup: its layer 1. Of a layer 1: its consensus servers. */
  readonly layerOne: readonly EndpointField[];
  /** Of a layer 1: root of the beacon block that is trusted; the servers are asked where it is empty. */
  readonly checkpoint: string;
  /** Sources of trie logs: where one is filled in, the node is a replica. */
  readonly trieLogs: readonly EndpointField[];
  readonly level: Level;
  /** Keep what the node has in this browser. */
  readonly keep: boolean;
  /** The devnet is that of the server that the page is from. */
  readonly here?: boolean;
}

/** How the page calls a network. The devnet of a light node is one that runs elsewhere, such as that of `npm start`. */
export function networkLabel(name: NetworkName): string {
  if (name === 'devnet') return 'a devnet elsewhere';
  return name
    .split('-')
    .map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`)
    .join(' ');
}

const DEFAULTS: Settings = {
  kind: 'devnet',
  scheme: 'poseidon2',
  mining: 'auto',
  network: 'linea',
  endpoints: [{ address: '', key: '' }],
  layerOne: [{ address: '', key: '' }],
  checkpoint: '',
  trieLogs: [{ address: '', key: '' }],
  level: 'auto',
  keep: true,
};

const STORED = 'plumbline-demo-settings';

/** What is kept, or where the address of the page has `?here`, as `npm start` prints it: the chain of its server. */
export const settings = signal<Settings>(
  new URLSearchParams(location.search).has('here') ? { ...DEFAULTS, ...ofServer() } : restore(),
);

/** A light node of the devnet that `plumbline serve` runs. It begins anew with each start, so nothing of it is kept. */
function ofServer(): Partial<Settings> {
  const at = (path: string) => [{ address: new URL(path, location.origin).href, key: '' }];
  return { kind: 'light', network: 'devnet', endpoints: at('/'), layerOne: at('/l1'), keep: false, here: true };
}

/** Changes some settings and keeps all of them but the keys. */
export function change(part: Partial<Settings>): void {
  settings.value = { ...settings.value, here: false, ...part };
  const keyless = ({ address }: EndpointField) => ({ address, key: '' });
  const { endpoints, layerOne, trieLogs } = settings.value;
  const kept = {
    ...settings.value,
    endpoints: endpoints.map(keyless),
    layerOne: layerOne.map(keyless),
    trieLogs: trieLogs.map(keyless),
  };
  try {
    localStorage.setItem(STORED, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing: the page works all the same.
  }
}

function restore(): Settings {
  try {
    const kept = JSON.parse(localStorage.getItem(STORED) ?? '{}') as Partial<Settings>;
    const merged = { ...DEFAULTS, ...kept };
    return Object.hasOwn(NETWORKS, merged.network) ? merged : DEFAULTS;
  } catch {
    return DEFAULTS;
  }
}

/** Whether a network is no rollup, but a layer 1. */
export function isLayerOne(name: NetworkName): boolean {
  return NETWORKS[name].rollup === undefined;
}

/** Endpoints that were filled in. */
export function filled(fields: readonly EndpointField[]): EndpointField[] {
  return fields.filter(({ address }) => address.trim() !== '');
}

/**
 * Options of the node that the settings describe.
 *
 * @throws Error when an endpoint is missing or is no address
 */
export function nodeOptions(from: Settings): ClientOptions {
  const { kind, scheme, mining, level, keep } = from;
  if (kind === 'devnet') {
    return {
      chain: { kind, scheme, mining },
      ...(keep && { storeName: `plumbline-demo-${scheme}`, storage: { fallback: 'memory' } }),
    };
  }
  const endpoints = filled(from.endpoints).map(joinKey);
  if (endpoints.length === 0) throw new Error('A light node needs at least one endpoint of the network.');
  const layerOne = filled(from.layerOne).map(joinKey);
  const trieLogs = filled(from.trieLogs).map(joinKey);
  const network = NETWORKS[from.network];
  const common = { network, endpoints, ...(level !== 'auto' && { level }) };
  if (isLayerOne(from.network)) {
    const consensus = layerOne as (string | UrlEndpoint)[];
    const root = from.checkpoint.trim();
    const trusted = root === '' ? { checkpointServers: consensus } : { checkpoint: { root: root as `0x${string}` } };
    return {
      chain: { ...common, kind, ...(consensus.length > 0 && { layerOne: { consensus, ...trusted } }) },
      ...(keep && { storeName: `plumbline-demo-light-${from.network}` }),
    };
  }
  if (trieLogs.length > 0) {
    if (layerOne.length === 0) throw new Error('A node that builds the zk state itself needs an endpoint of layer 1.');
    return {
      chain: { ...common, kind: 'replica', layerOne, trieLogs },
      ...(keep && { storeName: `plumbline-demo-replica-${from.network}` }),
    };
  }
  return {
    chain: { ...common, kind, ...(layerOne.length > 0 && { layerOne }) },
    ...(keep && { storeName: `plumbline-demo-light-${from.network}` }),
  };
}
