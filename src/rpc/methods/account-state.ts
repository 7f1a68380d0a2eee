import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { RpcContext } from '../context.js';
import type { Method } from '../method.js';
import { parseAddress, parseStorageKey } from '../parse-params.js';
import { stateOf } from './resolve-block.js';

export const eth_getBalance: Method<RpcContext> = {
  name: 'eth_getBalance',
  async handle(context, [addressParam, block]) {
    const address = parseAddress(addressParam);
    const account = await (await stateOf(context, block)).account(address);
    return toQuantity(account?.balance ?? 0n);
  },
};

export const eth_getTransactionCount: Method<RpcContext> = {
  name: 'eth_getTransactionCount',
  async handle(context, [addressParam, block]) {
    const address = parseAddress(addressParam);
    const account = await (await stateOf(context, block)).account(address);
    return toQuantity(account?.nonce ?? 0n);
  },
};

export const eth_getCode: Method<RpcContext> = {
  name: 'eth_getCode',
  async handle(context, [addressParam, block]) {
    const address = parseAddress(addressParam);
    const state = await stateOf(context, block);
    const account = await state.account(address);
    return account === undefined ? '0x' : bytesToHex(await state.code(account.codeHash));
  },
};

export const eth_getStorageAt: Method<RpcContext> = {
  name: 'eth_getStorageAt',
  async handle(context, [addressParam, position, block]) {
    const address = parseAddress(addressParam);
    const slot = parseStorageKey(position);
    return bytesToHex(await (await stateOf(context, block)).slot(address, slot));
  },
};
