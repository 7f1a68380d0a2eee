import { TEST_TOKEN as token } from '../../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../../src/primitives/hex.js';
import type { METHOD_INFO } from '../../../src/rpc/method-info.js';
import type { Json } from '../damage.js';
import { accountAt, type DevNode, PRICE, stranger, word } from '../dev-node.js';
import { signTransaction, transferCalldata } from '../sign.js';

/** Valid parameters of methods of layer 2, by name. */
export type Requests = Readonly<Partial<Record<keyof typeof METHOD_INFO.l2, Json[][]>>>;

/** Init code of a contract that returns 42. */
export const CREATION: Hex = '0x600a600c600039600a6000f3602a60005260206000f3';

/** A transaction in signed form, of the second account. */
export const raw = (nonce: number, more: object = {}): Hex =>
  signTransaction(1, { nonce, to: stranger('51'), value: 1n, gasLimit: 21_000n, ...PRICE, ...more });

/** A method without parameters. */
export const none: Json[][] = [[]];
/** A method with one set of parameters. */
export const one = (...params: Json[]): Json[][] => [params];

/** Hashes, accounts and calls that requests of several subjects share. */
export type RequestValues = Awaited<ReturnType<typeof requestValues>>;

/** @param ask - a chain with `history` */
export async function requestValues(ask: DevNode['ask']) {
  const { hash, transactions } = await ask<{ hash: Hex; transactions: Hex[] }>('eth_getBlockByNumber', '0x3', false);
  const [holder, other, transaction] = [accountAt(0), stranger('a1'), transactions[0]!];
  const data = transferCalldata(stranger('77'), 5n);
  const slot = word(1n);
  const call: Json = { from: holder, to: token, data, gas: '0x186a0' };
  const priced: Json = {
    from: holder,
    to: other,
    value: '0x1',
    maxFeePerGas: '0x3b9aca00',
    maxPriorityFeePerGas: '0x5f5e100',
  };
  const listed: Json = { ...call, gasPrice: '0x3b9aca00', accessList: [{ address: token, storageKeys: [slot] }] };
  const creation: Json = { from: holder, input: CREATION, nonce: '0x3', chainId: '0xe703' };
  const overrides: Json = {
    [other]: {
      balance: '0xde0b6b3a7640000',
      nonce: '0x5',
      code: '0x602a60005260206000f3',
      state: { [slot]: word(7n) },
    },
  };
  const diff: Json = { [token]: { stateDiff: { [slot]: word(7n) } } };
  return { hash, transaction, holder, other, slot, call, priced, listed, creation, overrides, diff };
}
