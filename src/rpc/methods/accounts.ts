import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import { bytesToBigInt } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { PROVES, READS } from '../method-rows.js';
import { parseAddress, parseStorageKeys } from '../parse-params.js';
import { blockAtParameter, parseBlockReference, stateOf } from '../resolve-block.js';
import { formatTrieProof } from '../schema/format.js';
import type { BlockJson, LineaBlockJson, OfAccount, TrieProofJson } from '../schema/json.js';
import { defineMethod } from './context.js';

/** `[address, block]`: balance, nonce and code in one answer, as anvil gives it. */
export const eth_getAccountInfo = defineMethod<OfAccount, Readonly<Record<'balance' | 'nonce' | 'code', Hex>>>(
  'eth_getAccountInfo',
  READS,
  async (context, [addressParam, block], call) => {
    const address = parseAddress(addressParam);
    const state = await stateOf(context, block, call);
    const account = await state.account(address);
    const code = account === undefined ? '0x' : bytesToHex(await state.code(account.codeHash));
    return { balance: toQuantity(account?.balance ?? 0n), nonce: toQuantity(account?.nonce ?? 0n), code };
  },
);

/** `[address, block]`: what the state trie holds of an account, as anvil gives it. */
export const eth_getAccount = defineMethod<
  OfAccount,
  Readonly<Record<'balance' | 'nonce' | 'codeHash' | 'storageRoot', Hex>> | null
>('eth_getAccount', READS, async (context, [addressParam, blockParam], call) => {
  const address = parseAddress(addressParam);
  const block = await blockAtParameter(context, blockParam, call);
  const { account, storageRoot } = await context.chain.proof(address, [], block, call);
  return {
    balance: toQuantity(account?.balance ?? 0n),
    nonce: toQuantity(account?.nonce ?? 0n),
    codeHash: bytesToHex(account?.codeHash ?? EMPTY_CODE_HASH),
    storageRoot: bytesToHex(storageRoot),
  };
});

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
