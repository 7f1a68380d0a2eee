import { isPending } from '../../chain/block.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { MethodCallOptions } from '../method.js';
import { OF_THE_NODE, READS } from '../method-rows.js';
import {
  DEFAULT_MAX_STORAGE_KEYS,
  parseAddress,
  parseStorageKey,
  parseStorageKeys,
  requireObject,
} from '../parse-params.js';
import { parseBlockReference, stateOf } from '../resolve-block.js';
import { invalidParams } from '../rpc-errors.js';
import type { BlockJson, OfAccount } from '../schema/json.js';
import { defineMethod, type RpcContext } from './context.js';

const SLOTS = 'storage slots params';

export const eth_getBalance = defineMethod<OfAccount, Hex>(
  'eth_getBalance',
  READS,
  async (context, [addressParam, block], call) => {
    const address = parseAddress(addressParam);
    const account = await (await stateOf(context, block, call)).account(address);
    return toQuantity(account?.balance ?? 0n);
  },
);

/** Nonce of the next transaction. At `pending`, transactions in the pool count. */
export const eth_getTransactionCount = defineMethod<OfAccount, Hex>(
  'eth_getTransactionCount',
  READS,
  async (context, [addressParam, block], call) => {
    const address = parseAddress(addressParam);
    if (isPending(parseBlockReference(block, { tag: 'latest' })))
      return toQuantity(await pendingNonce(context, address, call));
    return toQuantity((await (await stateOf(context, block, call)).account(address))?.nonce ?? 0n);
  },
);

/** Nonce of the next transaction of an account (20 bytes), after those in the pool. */
export async function pendingNonce(context: RpcContext, address: Uint8Array, call: MethodCallOptions): Promise<bigint> {
  const nonce = (await (await stateOf(context, 'pending', call)).account(address))?.nonce ?? 0n;
  return nonceAfter(nonce, address, await context.chain.pendingTransactions());
}

/** The first nonce from `nonce` on that no pending transaction of the sender has. */
function nonceAfter(nonce: bigint, sender: Uint8Array, waiting: readonly SignedTransaction[]): bigint {
  const taken = new Set(waiting.filter(({ from }) => equalBytes(from, sender)).map((transaction) => transaction.nonce));
  let next = nonce;
  while (taken.has(next)) next++;
  return next;
}

export const eth_getCode = defineMethod<OfAccount, Hex>(
  'eth_getCode',
  READS,
  async (context, [addressParam, block], call) => {
    const address = parseAddress(addressParam);
    const state = await stateOf(context, block, call);
    const account = await state.account(address);
    return account === undefined ? '0x' : bytesToHex(await state.code(account.codeHash));
  },
);

export const eth_getStorageAt = defineMethod<[address: Hex, position: Hex, block?: BlockJson], Hex>(
  'eth_getStorageAt',
  READS,
  async (context, [addressParam, position, block], call) => {
    const address = parseAddress(addressParam);
    const slot = parseStorageKey(position);
    return bytesToHex(await (await stateOf(context, block, call)).slot(address, slot));
  },
);

/** `[{ address: keys }, block]`: several slots of several accounts in one answer. */
export const eth_getStorageValues = defineMethod<
  [keys: { readonly [address: Hex]: readonly Hex[] }, block?: BlockJson],
  { readonly [address: Hex]: readonly Hex[] }
>('eth_getStorageValues', READS, async (context, [request, block], call) => {
  const wanted = Object.entries(requireObject(request, 'request', SLOTS)).map(([name, keys]) => {
    return { name, address: parseAddress(name, 'request', SLOTS), keys: parseStorageKeys(keys, name) };
  });
  const count = wanted.reduce((sum, { keys }) => sum + keys.length, 0);
  if (count === 0) throw invalidParams('request', 'has no slots', SLOTS);
  if (count > DEFAULT_MAX_STORAGE_KEYS) {
    throw invalidParams('request', `has ${count} slots, at most ${DEFAULT_MAX_STORAGE_KEYS}`, SLOTS);
  }
  const state = await stateOf(context, block, call);
  // Concurrently, so that a chain that fetches state asks for all of them at once.
  const entries = wanted.map(async ({ name, address, keys }): Promise<[string, Hex[]]> => {
    const words = await Promise.all(keys.map((key) => state.slot(address, key)));
    return [name, words.map((word) => bytesToHex(word))];
  });
  return Object.fromEntries(await Promise.all(entries));
});

export const eth_chainId = defineMethod<[], Hex>('eth_chainId', OF_THE_NODE, ({ chain }) =>
  toQuantity(chain.network.chainId),
);

export const eth_blockNumber = defineMethod<[], Hex>('eth_blockNumber', READS, async ({ chain }, _, call) =>
  toQuantity((await chain.head(call)).header.number),
);
