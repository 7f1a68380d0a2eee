import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import type { Hex } from '../../primitives/hex.js';
import { PROVES } from '../method-rows.js';
import { parseAddress, parseStorageKeys } from '../parse-params.js';
import { parseBlockReference } from '../resolve-block.js';
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
