import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import type { Hex } from '../../primitives/hex.js';
import { parseAddress, parseStorageKeys } from '../parsing/parse-params.js';
import { parseBlockReference } from '../parsing/resolve-block.js';
import { PROVES } from '../protocol/method-rows.js';
import type { LineaBlockJson } from '../schema/json.js';
import { defineMethod } from './context.js';

/** `[address, storageKeys, block]`. Also answers to the network's prefix, and to `l2_getProof`. */
export const linea_getProof = defineMethod<[address: Hex, keys: readonly Hex[], block: LineaBlockJson], LineaProofJson>(
  'linea_getProof',
  PROVES,
  ({ chain }, [addressParam, keysParam, blockParam], call) => {
    const address = parseAddress(addressParam);
    const keys = parseStorageKeys(keysParam);
    return chain.zkProof(address, keys, parseBlockReference(blockParam), call);
  },
);
