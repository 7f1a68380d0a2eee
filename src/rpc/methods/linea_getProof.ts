import { parseBlockReference } from '../parsing/parse-block-reference.js';
import { parseAddress, parseStorageKeys } from '../parsing/parse-params.js';
import type { Method } from '../protocol/method.js';
import type { RpcContext } from './context.js';

/** `[address, storageKeys, block]`. Registered under the network's prefix, and as `l2_getProof`. */
export const linea_getProof: Method<RpcContext> = {
  name: 'linea_getProof',
  handle({ chain }, [addressParam, keysParam, blockParam]) {
    const address = parseAddress(addressParam);
    const keys = parseStorageKeys(keysParam);
    return chain.zkProof(address, keys, parseBlockReference(blockParam));
  },
};
