import { PlumblineError } from '../../errors.js';
import type { NodeOptions } from './options.js';

/** Where a chain of each kind has lists of endpoints, and whether it needs them. */
const LISTS = { endpoints: true, layerOne: false, maru: false, trieLogs: false, stateManager: false } as const;
const LIMITS = ['requestTimeoutMs', 'stepBudget', 'maxBatch', 'maxSubscriptions'] as const;

/**
 * Looks at options that no compiler has looked at, as those of a program in JavaScript: at what would otherwise fail later and
 * without a word of the option, or be taken for something else. What the parts of a node check themselves is left to them.
 *
 * @throws PlumblineError `INVALID_PARAMETER` that names the option, never its value, which may hold a key
 */
export function requireOptions(options: NodeOptions): void {
  const { chain = { kind: 'devnet' }, dictionary, kernelBuild, gasSearch, storeCheck } = options;
  if (!isObject(chain)) throw invalid('chain', 'is no object');
  oneOf('chain.kind', chain.kind, ['devnet', 'light', 'replica']);
  if (chain.kind === 'devnet') requireDevnet(chain);
  else requireEndpoints(chain);
  if (chain.network !== undefined || chain.kind !== 'devnet') requireNetwork(chain.network);
  if (dictionary !== undefined) oneOf('dictionary.kind', dictionary?.kind, ['general', 'bytes', 'url']);
  if (kernelBuild !== undefined) oneOf('kernelBuild', kernelBuild, ['auto', 'simd', 'scalar']);
  if (gasSearch !== undefined) oneOf('gasSearch', gasSearch, ['besu', 'geth', 'exact']);
  if (storeCheck !== undefined) oneOf('storeCheck', storeCheck, ['sampled', 'full']);
  for (const name of LIMITS) {
    const limit: unknown = options[name];
    if (limit !== undefined && !(typeof limit === 'number' && limit > 0))
      throw invalid(name, 'is no number above zero');
  }
}

type Chain = NonNullable<NodeOptions['chain']>;

function requireDevnet({ scheme, mining, alloc = {} }: Chain & { kind: 'devnet' }): void {
  if (scheme !== undefined) oneOf('chain.scheme', scheme, ['poseidon2', 'mimc']);
  if (mining !== undefined && !(isObject(mining) && mining.intervalSeconds > 0)) {
    oneOf('chain.mining', mining, ['auto', 'manual', 'an interval']);
  }
  for (const { balance = 0n, nonce = 0n } of Object.values(alloc)) {
    if (typeof balance !== 'bigint' || typeof nonce !== 'bigint') {
      throw invalid('chain.alloc', 'a balance or a nonce is no bigint');
    }
  }
}

function requireEndpoints(chain: Exclude<Chain, { kind: 'devnet' }>): void {
  for (const [name, isNeeded] of Object.entries(LISTS)) {
    const list = (chain as unknown as Record<string, unknown>)[name];
    if (list === undefined ? isNeeded : !Array.isArray(list)) throw invalid(`chain.${name}`, 'is no list of endpoints');
  }
}

function requireNetwork(network: Chain['network']): void {
  if (isObject(network) && typeof network.chainId === 'number' && Array.isArray(network.hashSchemes)) return;
  throw invalid('chain.network', 'is no profile, such as `linea` of plumbline-l2/fees');
}

function oneOf(parameter: string, value: unknown, allowed: readonly unknown[]): void {
  if (!allowed.includes(value)) throw invalid(parameter, `is none of ${allowed.join(', ')}`);
}

function isObject<Value>(value: Value): value is Extract<Value, object> {
  return typeof value === 'object' && value !== null;
}

function invalid(parameter: string, reason: string): PlumblineError<'INVALID_PARAMETER'> {
  return new PlumblineError('INVALID_PARAMETER', `${parameter}: ${reason}`, { parameter, reason });
}
