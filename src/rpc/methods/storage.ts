import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { StorageControl } from '../inspection/storage-control.js';
import { isUntimed, thrownResult } from '../inspection/storage-result.js';
import type { Method, MethodCallOptions } from '../protocol/method.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import type { RpcContext } from './context.js';

/*
 * What a node keeps: offered by the library, never over HTTP. Answers are plain data, bytes among it, and typed errors go as
 * data too, because a JSON-RPC error would leave out what they carry.
 */

function storageMethod(
  name: string,
  work: (storage: StorageControl, params: readonly unknown[], call: MethodCallOptions) => Promise<unknown>,
): Method<RpcContext> {
  return {
    name,
    untimed: isUntimed(name),
    async handle({ storage }, params, call) {
      if (storage === undefined) throw new PlumblineError('METHOD_NOT_ENABLED', 'method not enabled', { method: name });
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
