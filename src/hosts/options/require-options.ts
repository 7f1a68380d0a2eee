import { TOOLS } from '../../chain/devnet/options.js';
import { invalidParameter, type PlumblineError } from '../../errors.js';
import { GAS_SEARCHES } from '../../networks/gas-searches.js';
import type { ForkOptions } from './fork-options.js';
import { LAYER_ONE_LISTS } from './layer-one-options.js';
import type { NodeOptions } from './options.js';

/** Members of a light chain that are lists of endpoints, and whether they are required. */
const LISTS = { endpoints: true, maru: false, trieLogs: false, stateManager: false } as const;
const LIMITS = ['requestTimeoutMs', 'gasBudget', 'connectionGasBudget', 'maxBatch', 'maxSubscriptions'] as const;
const WHOLE_LIMITS = ['maxFilters', 'maxAnswerBytes'] as const;

/**
 * Checks the options of programs without types: those that would otherwise fail later without a word of the option, or have
 * another effect. Options that the parts of a node check themselves are left to them.
 *
 * @throws PlumblineError `INVALID_PARAMETER` with the name of the option, but not its value, which may hold a key
 */
export function requireOptions(options: NodeOptions): void {
  const { chain = { kind: 'devnet' }, dictionary, openCheck, kernelBuild, gasSearch, storeCheck } = options;
  if (!isObject(chain)) throw invalidParameter('chain', 'must be an object');
  oneOf('chain.kind', chain.kind, ['devnet', 'light', 'replica']);
  if (chain.kind === 'devnet') requireDevnet(chain);
  else requireEndpoints('chain', chain, chain.kind === 'replica');
  if (chain.network !== undefined || chain.kind !== 'devnet') requireNetwork('chain.network', chain.network);
  if (dictionary !== undefined) oneOf('dictionary.kind', dictionary?.kind, ['general', 'bytes', 'url']);
  if (openCheck !== undefined) oneOf('openCheck', openCheck, ['wait', 'background']);
  if (kernelBuild !== undefined) oneOf('kernelBuild', kernelBuild, ['auto', 'simd', 'scalar']);
  if (gasSearch !== undefined) oneOf('gasSearch', gasSearch, GAS_SEARCHES);
  if (storeCheck !== undefined) oneOf('storeCheck', storeCheck, ['sampled', 'full']);
  for (const name of LIMITS) {
    const limit: unknown = options[name];
    if (limit !== undefined && !(typeof limit === 'number' && limit > 0))
      throw invalidParameter(name, 'must be a number above zero');
  }
  for (const name of WHOLE_LIMITS) {
    const limit: unknown = options[name];
    if (limit !== undefined && !(Number.isSafeInteger(limit) && (limit as number) > 0))
      throw invalidParameter(name, 'must be a whole number above zero');
  }
}

type Chain = NonNullable<NodeOptions['chain']>;

function requireDevnet({ scheme, mining, tool, alloc = {} }: Chain & { kind: 'devnet' }): void {
  if (scheme !== undefined) oneOf('chain.scheme', scheme, ['poseidon2', 'mimc']);
  if (tool !== undefined) oneOf('chain.tool', tool, TOOLS);
  if (mining !== undefined && !(isObject(mining) && mining.intervalSeconds > 0)) {
    oneOf('chain.mining', mining, ['auto', 'manual', 'an interval']);
  }
  for (const { balance = 0n, nonce = 0n } of Object.values(alloc)) {
    if (typeof balance !== 'bigint' || typeof nonce !== 'bigint') {
      throw invalidParameter('chain.alloc', 'balances and nonces must be bigints');
    }
  }
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

function oneOf(parameter: string, value: unknown, allowed: readonly unknown[]): void {
  if (!allowed.includes(value)) throw invalidParameter(parameter, `must be one of ${allowed.join(', ')}`);
}

function isObject<Value>(value: Value): value is Extract<Value, object> {
  return typeof value === 'object' && value !== null;
}

/** The error for options that cannot be cloned into a message. It quotes no value: one may hold a key. @param host - `a worker` */
export function notSendable(host: string, cause: unknown): PlumblineError<'INVALID_PARAMETER'> {
  return invalidParameter('options', `must be plain data for ${host}: no providers, no functions`, { cause });
}
