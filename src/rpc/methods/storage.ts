import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { StorageControl } from '../inspection/storage-control.js';
import { thrownResult } from '../inspection/storage-result.js';
import type { Method, MethodCallOptions } from '../protocol/method.js';
import { METHOD_INFO } from '../protocol/method-info.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import type { RpcContext } from './context.js';

/*
 * What a node stores: for the library alone, never over HTTP. Results are plain data, bytes included. A typed error is sent
 * as a result too, because a JSON-RPC error would leave out its code and details. That is why a node whose chain does not
 * have one of these methods still finds it here: its storage control throws `METHOD_NOT_ENABLED`.
 */

function storageMethod(
  name: keyof typeof METHOD_INFO.inspect,
  work: (storage: StorageControl, params: readonly unknown[], call: MethodCallOptions) => Promise<unknown>,
): Method<RpcContext> {
  return {
    name,
    info: METHOD_INFO.inspect[name],
    async handle({ storage }, params, call) {
      if (storage === undefined) {
        throw new PlumblineError('METHOD_NOT_ENABLED', `this node has no storage for ${name}`, { method: name });
      }
      try {
        return await work(storage, params, call);
      } catch (error) {
        if (!isPlumblineError(error)) throw error;
        return thrownResult(error);
      }
    },
  };
}

export const STORAGE_METHODS: readonly Method<RpcContext>[] = [
  storageMethod('storage', (storage) => storage.report()),
  storageMethod('clear', async (storage) => {
    await storage.clear();
    return null;
  }),
  storageMethod('exportChain', (storage) => storage.exportChain()),
  storageMethod('importChain', (storage, [file], { signal }) => {
    if (!(file instanceof Uint8Array)) throw invalidParams('file', 'is not a Uint8Array');
    return storage.importChain(file, signal);
  }),
];
