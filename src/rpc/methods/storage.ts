import { isPlumblineError } from '../../errors.js';
import type { Method, MethodCallOptions } from '../method.js';
import { invalidParams } from '../rpc-errors.js';
import { type StorageControl, thrownResult } from '../schema/answers.js';
import type { RpcContext } from './context.js';

/*
 * What a node stores: for the library alone, never over HTTP. Results are plain data, bytes included. A typed error is sent
 * as a result too, because a JSON-RPC error would leave out its code and details. That is why a node whose chain does not
 * have one of these methods still finds it here: its storage control throws `METHOD_NOT_ENABLED`.
 */

type Handle = Method<RpcContext>['handle'];

function storageMethod(
  work: (storage: StorageControl, params: readonly unknown[], call: MethodCallOptions) => Promise<unknown>,
): Handle {
  return async ({ storage }, params, call) => {
    try {
      return await work(storage!, params, call);
    } catch (error) {
      if (!isPlumblineError(error)) throw error;
      return thrownResult(error);
    }
  };
}

export const STORAGE_METHODS = {
  storage: storageMethod((storage) => storage.report()),
  clear: storageMethod(async (storage) => {
    await storage.clear();
    return null;
  }),
  exportChain: storageMethod((storage) => storage.exportChain()),
  importChain: storageMethod((storage, [file], { signal }) => {
    if (!(file instanceof Uint8Array)) throw invalidParams('file', 'is not a Uint8Array');
    return storage.importChain(file, signal);
  }),
};
