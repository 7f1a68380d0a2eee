import { parseBlockReference } from '../parsing/parse-block-reference.js';
import { parseAddress, parseStorageKeys } from '../parsing/parse-params.js';
import { defineMethod } from './context.js';

const LARGEST = `0x${Number.MAX_SAFE_INTEGER.toString(16)}`;
/** Hex digits of a hash with `0x`. */
const HASH_LENGTH = 66;

/** A number above all that can be counted here is a block that is not there, as any other future one. */
function isAboveAll(block: unknown): boolean {
  if (typeof block !== 'string' || block.length === HASH_LENGTH || !/^0x[0-9a-f]{1,128}$/i.test(block)) return false;
  return BigInt(block) > Number.MAX_SAFE_INTEGER;
}

/** `[address, storageKeys, block]`. Also answers to the network's prefix, and to `l2_getProof`. */
export const linea_getProof = defineMethod(
  'linea_getProof',
  ({ chain }, [addressParam, keysParam, blockParam], call) => {
    const address = parseAddress(addressParam);
    const keys = parseStorageKeys(keysParam);
    return chain.zkProof(address, keys, parseBlockReference(isAboveAll(blockParam) ? LARGEST : blockParam), call);
  },
);
