import { parseAddress, parseStorageKeys } from '../parsing/parse-params.js';
import { parseBlockReference } from '../parsing/resolve-block.js';
import { defineMethod } from './context.js';

/** `[address, storageKeys, block]`. Also answers to the network's prefix, and to `l2_getProof`. */
export const linea_getProof = defineMethod(
  'linea_getProof',
  ({ chain }, [addressParam, keysParam, blockParam], call) => {
    const address = parseAddress(addressParam);
    const keys = parseStorageKeys(keysParam);
    return chain.zkProof(address, keys, parseBlockReference(blockParam), call);
  },
);
