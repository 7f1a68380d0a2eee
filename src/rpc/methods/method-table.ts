import { isLayerOne } from '../../networks/network.js';
import { loadOnce } from '../../scheduling/load-once.js';
import { createMethodTable, type Method, type MethodTable } from '../method.js';
import { aliasesOf, insteadOf, METHOD_INFO, methodsOff, methodsOfRollups, needsRollup } from '../method-info.js';
import type { SharingReport } from '../schema/answers.js';
import { METHODS } from './chain-methods.generated.js';
import type { RpcContext } from './context.js';

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

const storage = async () => (await import('./storage.js')).STORAGE_METHODS;

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
    later('explainEstimate', () => import('./explainEstimate.js')),
    later('diagnoseTransaction', () => import('./diagnoseTransaction.js')),
    later('exportEvidence', () => import('./exportEvidence.js')),
    later('depositStatus', () => import('./messages.js')),
    later('messages', () => import('./messages.js')),
    later('prepareClaim', () => import('./messages.js')),
    later('previewTransaction', () => import('./previewTransaction.js')),
    sharing,
    status,
    ...(['storage', 'clear', 'exportChain', 'importChain'] as const).map((name) => later(name, storage)),
  ]);
}
