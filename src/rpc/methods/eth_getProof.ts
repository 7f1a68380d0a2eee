import { bytesToBigInt } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { parseAddress, parseStorageKeys } from '../parsing/parse-params.js';
import { blockAtParameter } from '../parsing/resolve-block.js';
import { PROVES } from '../protocol/method-rows.js';
import { formatTrieProof } from '../schema/format.js';
import type { BlockJson, TrieProofJson } from '../schema/json.js';
import { defineMethod } from './context.js';

const WORD_TEXT = 2 + 64;

/** `[address, storageKeys, block]`: proofs against the state root of a header (EIP-1186). */
export const eth_getProof = defineMethod<[address: Hex, keys: readonly Hex[], block?: BlockJson], TrieProofJson>(
  'eth_getProof',
  PROVES,
  async (context, [addressParam, keysParam, blockParam], call) => {
    const address = parseAddress(addressParam);
    const keys = parseStorageKeys(keysParam);
    const block = await blockAtParameter(context, blockParam, call);
    const proof = await context.chain.proof(address, keys, block, call);
    return formatTrieProof(address, proof, showKeys(keysParam, keys));
  },
);

/** Keys as the answer shows them: 32 bytes as given, anything shorter as a quantity, as in geth. */
export function showKeys(asked: unknown, keys: readonly Uint8Array[]): Hex[] {
  return keys.map((key, i) =>
    (asked as readonly string[])[i]!.length === WORD_TEXT ? bytesToHex(key) : toQuantity(bytesToBigInt(key)),
  );
}
