import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { METHOD_INFO } from '../../src/rpc/method-info.js';
import { accountAt, PRICE, stranger, word } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';
import { lightScene } from '../support/light-node.js';
import { signTransaction } from '../support/sign.js';

/*
 * What the devnet holds is expected of a light node over endpoints that serve it, which proves it.
 */

test('methods that tools ask of any node', async () => {
  const { dev, ask, light } = await lightScene();
  const hash = await dev.transfer(0, { nonce: 0 });
  await dev.ask('evm_mine', { blocks: 3 });
  const { hash: block } = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', '0x1', false);
  const classes: Record<string, string> = {};
  light.on('answer', ({ method, class: own }) => {
    classes[method] = own;
  });
  const same = [
    ['web3_sha3', '0x68656c6c6f20776f726c64'],
    ['eth_protocolVersion'],
    ['eth_hashrate'],
    ['eth_getAccountInfo', TEST_TOKEN, 'latest'],
    ['eth_getAccountInfo', stranger('ee'), 'latest'],
    ['eth_getAccountInfo', accountAt(0), '0x1'],
    ['eth_getAccount', TEST_TOKEN, 'latest'],
    ['eth_getAccount', stranger('ee'), 'latest'],
    ['eth_getRawTransactionByHash', hash],
    ['eth_getRawTransactionByBlockNumberAndIndex', '0x1', '0x0'],
    ['eth_getRawTransactionByBlockHashAndIndex', block, '0x0'],
    ['eth_getRawTransactionByBlockNumberAndIndex', '0x1', '0x7'],
    ['eth_fillTransaction', { from: accountAt(0), to: accountAt(1), value: '0x1' }],
    ['eth_config'],
  ] as const;
  for (const [method, ...params] of same) {
    expect(await ask(method, ...params), method).toEqual(await dev.ask(method, ...params));
    expect(classes[method], method).toBe(METHOD_INFO.l2[method].answers.light);
  }
  expect(await ask('eth_coinbase')).toBe(`0x${'00'.repeat(20)}`);
  expect(await ask('eth_mining')).toBe(false);
  const modules = Object.keys(await ask<object>('rpc_modules'));
  expect(modules).toEqual(['debug', 'eth', 'infura', 'l2', 'linea', 'net', 'plumbline', 'rpc', 'wallet', 'web3']);
});

describe('eth_sendRawTransactionSync', () => {
  const raw = signTransaction(0, { to: stranger('11'), value: 1n, gasLimit: 21_000n, nonce: 0, ...PRICE });

  test('answers with the proved receipt', async () => {
    const { dev, ask } = await lightScene();
    const receipt = await ask<{ transactionHash: Hex }>('eth_sendRawTransactionSync', raw);
    expect(receipt).toEqual(await dev.ask('eth_getTransactionReceipt', receipt.transactionHash));
  });

  test('without a block in time, the hash is in the error', async () => {
    const { dev, ask } = await lightScene({ dev: { chain: { kind: 'devnet', mining: 'manual' } } });
    const error: unknown = await ask('eth_sendRawTransactionSync', raw, 300).catch((thrown: unknown) => thrown);
    const [{ hash }] = await dev.ask<[{ hash: Hex }]>('eth_pendingTransactions');
    expect(error).toMatchObject({ code: 4, data: hash });
    expect(await ask('eth_pendingTransactions')).toMatchObject([{ hash }]);
    expect(await ask('eth_getRawTransactionByHash', hash)).toBe(raw);
    await expect(ask('eth_sendRawTransactionSync', word(0n))).rejects.toMatchObject({ code: -32602 });
  });

  test('a receipt that cannot be read at first is waited for; after the time the hash is in the error', async () => {
    const { dev, ask, endpoints } = await lightScene({ dev: { chain: { kind: 'devnet', mining: 'manual' } } });
    const lies = (isLying: boolean) => {
      for (const { options } of endpoints)
        options.tamper = ({ method }, result) =>
          isLying && method === 'eth_getTransactionByHash' ? { blockNumber: '0x0' } : result;
    };
    lies(true);
    const error: unknown = await ask('eth_sendRawTransactionSync', raw, 300).catch((thrown: unknown) => thrown);
    const [{ hash }] = await dev.ask<[{ hash: Hex }]>('eth_pendingTransactions');
    expect(error).toMatchObject({ code: 4, data: hash });
    const next = signTransaction(0, { to: stranger('11'), value: 1n, gasLimit: 21_000n, nonce: 1, ...PRICE });
    const answered = ask<{ transactionHash: Hex }>('eth_sendRawTransactionSync', next, 60_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    lies(false);
    await dev.ask('evm_mine');
    const receipt = await answered;
    expect(receipt).toEqual(await dev.ask('eth_getTransactionReceipt', receipt.transactionHash));
    // No block follows the one whose receipt could not be read.
    lies(true);
    const last = signTransaction(0, { to: stranger('11'), value: 1n, gasLimit: 21_000n, nonce: 2, ...PRICE });
    const late = ask<{ transactionHash: Hex }>('eth_sendRawTransactionSync', last, 60_000);
    await eventually(async () => expect(await dev.ask('eth_pendingTransactions')).toHaveLength(1));
    await dev.ask('evm_mine');
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    lies(false);
    const outcome = await Promise.race([late, new Promise((resolve) => setTimeout(resolve, 20_000, 'none'))]);
    expect(outcome).toMatchObject({ status: '0x1', blockNumber: '0x2' });
  });
});

test('an account that an endpoint lies about is not answered', async () => {
  const { ask, endpoints } = await lightScene();
  for (const { options } of endpoints)
    options.tamper = ({ method }, result) =>
      method === 'eth_getProof' ? { ...(result as object), balance: '0x1' } : result;
  for (const method of ['eth_getAccountInfo', 'eth_getAccount'])
    await expect(ask(method, accountAt(0), 'latest'), method).rejects.toThrow();
});
