import { invalidParameter, type PlumblineError } from '../../errors.js';
import { LAYER_ONE_LISTS } from './layer-one-options.js';
import type { ForkOptions } from './light-options.js';
import type { NodeOptions } from './options.js';

/** Members of a light chain that are lists of endpoints, and whether they are required. */
const LISTS = { endpoints: true, maru: false, trieLogs: false, stateManager: false } as const;

type Chain = NonNullable<NodeOptions['chain']>;

/**
 * Checks what decides which code opens a node. `requireKnown` checks all options before they are sent to a worker; this is for
 * those that come to one by a message.
 *
 * @throws PlumblineError `INVALID_PARAMETER` with the name of the option, but not its value, which may hold a key
 */
export function requireOptions({ chain = { kind: 'devnet' } }: NodeOptions): void {
  if (!isObject(chain)) throw invalidParameter('chain', 'must be an object');
  const kinds: readonly unknown[] = ['devnet', 'light', 'replica'];
  if (!kinds.includes(chain.kind)) throw invalidParameter('chain.kind', `must be one of ${kinds.join(', ')}`);
  if (chain.kind !== 'devnet') requireEndpoints('chain', chain, chain.kind === 'replica');
  if (chain.network !== undefined || chain.kind !== 'devnet') requireNetwork('chain.network', chain.network);
}

/**
 * Checks the endpoints of a chain that has some.
 *
 * @param path - of the options that hold them
 * @throws PlumblineError `INVALID_PARAMETER`
 */
export function requireEndpoints(
  path: string,
  chain: Exclude<Chain, { kind: 'devnet' }> | ForkOptions,
  isReplica = false,
): void {
  requireLists(path, chain, LISTS);
  const layerOne: unknown = chain.layerOne;
  if (layerOne === undefined || Array.isArray(layerOne)) return;
  if (!isObject(layerOne) || isReplica) throw invalidParameter(`${path}.layerOne`, 'must be a list of endpoints');
  requireLists(`${path}.layerOne`, layerOne, LAYER_ONE_LISTS);
}

/** @param lists - members that are lists of endpoints, and whether they are required */
function requireLists(path: string, options: object, lists: Readonly<Record<string, boolean>>): void {
  for (const [name, isNeeded] of Object.entries(lists)) {
    const list = (options as Record<string, unknown>)[name];
    if (list === undefined ? isNeeded : !Array.isArray(list))
      throw invalidParameter(`${path}.${name}`, 'must be a list of endpoints');
  }
}

/** @throws PlumblineError `INVALID_PARAMETER` for what is not a profile */
export function requireNetwork(parameter: string, network: Chain['network']): void {
  if (isObject(network) && typeof network.chainId === 'number' && Array.isArray(network.hashSchemes)) return;
  throw invalidParameter(parameter, 'must be a network profile, such as `linea` or `devnet()`');
}

function isObject<Value>(value: Value): value is Extract<Value, object> {
  return typeof value === 'object' && value !== null;
}

/** The error for options that cannot be cloned into a message. It quotes no value: one may hold a key. @param host - `a worker` */
export function notSendable(host: string, cause: unknown): PlumblineError<'INVALID_PARAMETER'> {
  return invalidParameter('options', `must be plain data for ${host}: no providers, no functions`, { cause });
}
