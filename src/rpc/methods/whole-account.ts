import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import type { Hex } from '../../primitives/hex.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { parseAddress } from '../parsing/parse-params.js';
import { blockAtParameter, stateOf } from '../parsing/resolve-block.js';
import { READS } from '../protocol/method-rows.js';
import type { OfAccount } from '../schema/json.js';
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
