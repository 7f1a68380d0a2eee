import type { SharingReport } from '../inspection/sharing-report.js';
import type { RpcContext } from '../methods/context.js';
import { createMethodTable, type Method, type MethodTable } from '../protocol/method.js';
import { METHOD_INFO } from '../protocol/method-info.js';

/** Its code is loaded with the first call: few nodes are asked to explain an estimate. */
const explainEstimate: Method<RpcContext> = {
  name: 'explainEstimate',
  info: METHOD_INFO.inspect.explainEstimate,
  handle: async (...call) => (await import('../methods/explainEstimate.js')).explainEstimate(...call),
};

/** Its code is loaded with the first call. */
const exportEvidence: Method<RpcContext> = {
  name: 'exportEvidence',
  info: METHOD_INFO.inspect.exportEvidence,
  handle: async (...call) => (await import('../methods/exportEvidence.js')).exportEvidence(...call),
};

/** Its code is loaded with the first call. */
const previewTransaction: Method<RpcContext> = {
  name: 'previewTransaction',
  info: METHOD_INFO.inspect.previewTransaction,
  handle: async (...call) => (await import('../methods/previewTransaction.js')).previewTransaction(...call),
};

/** Its code is loaded with the first call. */
const diagnoseTransaction: Method<RpcContext> = {
  name: 'diagnoseTransaction',
  info: METHOD_INFO.inspect.diagnoseTransaction,
  handle: async (...call) => (await import('../methods/diagnoseTransaction.js')).diagnoseTransaction(...call),
};

/** Their code is loaded with the first call. */
const STORAGE_METHODS = (['storage', 'clear', 'exportChain', 'importChain'] as const).map(
  (name): Method<RpcContext> => ({
    name,
    info: METHOD_INFO.inspect[name],
    handle: async (...call) => (await import('../methods/storage.js')).STORAGE_METHODS[name](...call),
  }),
);

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
    explainEstimate,
    diagnoseTransaction,
    exportEvidence,
    previewTransaction,
    sharing,
    status,
    ...STORAGE_METHODS,
  ]);
}
