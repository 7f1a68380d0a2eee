import { isLayerOne } from '../../networks/network.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { RpcContext } from '../methods/context.js';
import { createMethodTable, type Method, type MethodTable } from '../protocol/method.js';
import {
  aliasesOf,
  insteadOf,
  METHOD_INFO,
  methodsOff,
  methodsOfRollups,
  needsRollup,
} from '../protocol/method-info.js';
import type { SharingReport } from '../schema/node-status.js';
import { METHODS } from './methods.generated.js';

/**
 * All methods of a node, by the names it answers to.
 *
 * @param devnetMethods - `DEVNET_METHODS` for a devnet, in place of those of every kind of chain with the same names; other chains answer these names with `METHOD_NOT_ENABLED`
 */
export function methodTable(
  { chain }: RpcContext,
  devnetMethods: readonly Method<RpcContext>[] = [],
): MethodTable<RpcContext> {
  const inPlace = new Set(devnetMethods.map(({ name }) => name));
  const { name: network, methodPrefix } = chain.network;
  const ofRollups = new Set(isLayerOne(chain.network) ? methodsOfRollups(methodPrefix) : []);
  return createMethodTable([...METHODS.filter(({ name }) => !inPlace.has(name)), ...devnetMethods], {
    aliases: Object.fromEntries(aliasesOf(methodPrefix)),
    disabled: [...methodsOff(chain.kind, methodPrefix), ...ofRollups],
    insteadOf: (name) => (ofRollups.has(name) ? needsRollup(name, network) : insteadOf(name)),
  });
}

type Handle = Method<RpcContext>['handle'];

/** A method whose code is loaded with the first call: few nodes are asked for it. */
function later<Name extends keyof typeof METHOD_INFO.inspect>(
  name: Name,
  load: () => Promise<{ readonly [Own in Name]: Handle }>,
): Method<RpcContext> {
  const loaded = loadOnce(load);
  return { name, info: METHOD_INFO.inspect[name], handle: async (...call) => (await loaded())[name](...call) };
}

const storage = async () => (await import('../methods/storage.js')).STORAGE_METHODS;

/** A node whose store is shared answers this itself (hosts/sharing). */
const sharing: Method<RpcContext> = {
  name: 'sharing',
  info: METHOD_INFO.inspect.sharing,
  handle: (): SharingReport => ({ role: 'alone' }),
};

const status: Method<RpcContext> = {
  name: 'status',
  info: METHOD_INFO.inspect.status,
  handle: (context, _, { signal }) => context.status?.(signal),
};

/** What the library offers beside JSON-RPC. It is not reachable over HTTP. */
export function inspectTable(): MethodTable<RpcContext> {
  return createMethodTable([
    later('explainEstimate', () => import('../methods/explainEstimate.js')),
    later('diagnoseTransaction', () => import('../methods/diagnoseTransaction.js')),
    later('exportEvidence', () => import('../methods/exportEvidence.js')),
    later('depositStatus', () => import('../methods/messages.js')),
    later('messages', () => import('../methods/messages.js')),
    later('prepareClaim', () => import('../methods/messages.js')),
    later('previewTransaction', () => import('../methods/previewTransaction.js')),
    sharing,
    status,
    ...(['storage', 'clear', 'exportChain', 'importChain'] as const).map((name) => later(name, storage)),
  ]);
}
