import { invalidParameter, type PlumblineError } from '../../errors.js';
import { withDefaults } from '../../primitives/option-table.js';
import { NODE_OPTIONS, type NodeOptions } from './options.js';

type Chain = NonNullable<NodeOptions['chain']>;

/**
 * Checks what decides which code opens a node. `requireKnown` checks all options before they are sent to a worker; this is for
 * those that come to one by a message. `requireEndpoints` follows where there are some.
 *
 * @throws PlumblineError `INVALID_PARAMETER` with the name of the option, but not its value, which may hold a key
 */
export function requireOptions(options: NodeOptions): void {
  if (options.chains !== undefined) {
    requireChains(options.chains);
    if (options.chain === undefined) return;
    throw invalidParameter('chain', 'must be left out if chains is given: chains lists all chains of the node');
  }
  const { chain } = withDefaults(NODE_OPTIONS, options);
  if (!isObject(chain)) throw invalidParameter('chain', 'must be an object');
  const kinds: readonly unknown[] = ['devnet', 'light', 'replica'];
  if (!kinds.includes(chain.kind)) throw invalidParameter('chain.kind', `must be one of ${kinds.join(', ')}`);
  if (chain.network !== undefined || chain.kind !== 'devnet') requireNetwork('chain.network', chain.network);
}

/** @throws PlumblineError `INVALID_PARAMETER` */
function requireChains(chains: readonly Chain[]): void {
  if (!Array.isArray(chains) || chains.length === 0) throw invalidParameter('chains', 'must be a list of light chains');
  const known = new Set<number>();
  for (const [i, chain] of chains.entries()) {
    if (!isObject(chain) || chain.kind !== 'light')
      throw invalidParameter(
        `chains[${i}].kind`,
        'must be light: a devnet and a replica are nodes of their own (option chain)',
      );
    requireNetwork(`chains[${i}].network`, chain.network);
    const { chainId } = chain.network;
    if (known.has(chainId))
      throw invalidParameter(`chains[${i}].network`, `has chain id ${chainId}, like an earlier one in the list`);
    known.add(chainId);
  }
}

/** @throws PlumblineError `INVALID_PARAMETER` for what is not a profile */
export function requireNetwork(parameter: string, network: Chain['network']): void {
  if (isObject(network) && typeof network.chainId === 'number' && Array.isArray(network.forks)) return;
  throw invalidParameter(parameter, 'must be a network profile, such as `linea` or `devnet()`; a name is not enough');
}

function isObject<Value>(value: Value): value is Extract<Value, object> {
  return typeof value === 'object' && value !== null;
}

/** The error for options that cannot be cloned into a message. It quotes no value: one may hold a key. @param host - `a worker` */
export function notSendable(host: string, cause: unknown, what = 'options'): PlumblineError<'INVALID_PARAMETER'> {
  return invalidParameter(what, `must be plain data for ${host}: no providers, no functions`, { cause });
}
