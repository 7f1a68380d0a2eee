import type { ForkOptions } from '../../chain/fork/fork-options.js';
import {
  isFollowed,
  LAYER_ONE_OPTIONS,
  LIGHT_OPTIONS,
  type LightChainOptions,
} from '../../chain/light/light-options.js';
import { REPLICA_OPTIONS, type ReplicaChainOptions } from '../../chain/replica/settings.js';
import { invalidParameter } from '../../errors.js';
import { type AnyTable, endpointLists } from '../../primitives/option-table.js';

/**
 * Checks the endpoints of a chain that has some.
 *
 * @param path - of the options that hold them
 * @throws PlumblineError `INVALID_PARAMETER`
 */
export function requireEndpoints(path: string, chain: LightChainOptions | ReplicaChainOptions | ForkOptions): void {
  const isReplica = 'kind' in chain && chain.kind === 'replica';
  requireLists(path, chain, isReplica ? REPLICA_OPTIONS : LIGHT_OPTIONS);
  const { layerOne } = chain;
  if (!isFollowed(layerOne)) return;
  if (typeof layerOne !== 'object' || layerOne === null)
    throw invalidParameter(`${path}.layerOne`, 'must be a list of endpoints');
  requireLists(`${path}.layerOne`, layerOne, LAYER_ONE_OPTIONS);
}

function requireLists(path: string, options: object, table: AnyTable): void {
  for (const name of endpointLists(table)) {
    const list = (options as Record<string, unknown>)[name];
    if (list === undefined ? table[name]!.needed : !Array.isArray(list))
      throw invalidParameter(`${path}.${name}`, 'must be a list of endpoints');
  }
}
