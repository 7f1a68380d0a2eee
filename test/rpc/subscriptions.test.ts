import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { ProviderMessage, UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { Subscriptions } from '../../src/rpc/subscriptions.js';
import { settled } from '../support/eventually.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

let node: PlumblineNode;
let messages: ProviderMessage['data'][];
const ask = <T>(method: string, ...params: unknown[]) => node.request<UntypedMethod>({ method, params }) as Promise<T>;
const subscribe = (...params: unknown[]) => ask<Hex>('eth_subscribe', ...params);
const of = (id: Hex) => messages.filter(({ subscription }) => subscription === id).map(({ result }) => result);

beforeEach(async () => {
  node = await createInlineNode();
  messages = [];
  node.on('message', ({ type, data }) => {
    expect(type).toBe('eth_subscription');
    messages.push(data);
  });
});
afterEach(() => node.close());

const [sender, receiver] = DEV_ACCOUNTS;
let nonce = 0;
beforeEach(() => {
  nonce = 0;
});

/** Sends tokens. The event of the token has the two addresses as topics. */
async function transfer(): Promise<Hex> {
  const raw = signTransaction(0, {
    nonce: nonce++,
    to: TEST_TOKEN,
    data: transferCalldata(receiver!.address, 5n),
    gasLimit: 100_000n,
    maxFeePerGas: 10n ** 9n,
    maxPriorityFeePerGas: 10n ** 9n,
  });
  return ask<Hex>('eth_sendRawTransaction', raw);
}

test('tells each head in order', async () => {
  const id = await subscribe('newHeads');
  expect(id).toMatch(/^0x[0-9a-f]{32}$/);
  for (let i = 0; i < 3; i++) await ask('evm_mine');
  await settled();
  const heads = of(id) as object[];
  expect(heads).toHaveLength(3);
  for (const [i, head] of heads.entries()) {
    expect(await ask('eth_getBlockByNumber', `0x${i + 1}`, false)).toMatchObject(head);
    expect(head).toHaveProperty('stateRoot');
  }
});

test('tells the logs that the filter wants', async () => {
  const padded = (address: Hex) => `0x${address.slice(2).padStart(64, '0')}`;
  const ids = {
    all: await subscribe('logs'),
    token: await subscribe('logs', { address: [TEST_TOKEN] }),
    other: await subscribe('logs', { address: receiver!.address }),
    toReceiver: await subscribe('logs', { topics: [null, null, padded(receiver!.address)] }),
    toSender: await subscribe('logs', { topics: [null, null, [padded(sender!.address)]] }),
  };
  const hashes = [await transfer(), await transfer()];
  await settled();
  const receipts = [];
  for (const hash of hashes) receipts.push(await ask<{ logs: unknown[] }>('eth_getTransactionReceipt', hash));
  const logs = receipts.flatMap((receipt) => receipt.logs);
  expect(logs).toHaveLength(2);
  expect(of(ids.all)).toEqual(logs);
  expect(of(ids.token)).toEqual(logs);
  expect(of(ids.toReceiver)).toEqual(logs);
  expect(of(ids.other)).toEqual([]);
  expect(of(ids.toSender)).toEqual([]);
});

test('tells transactions as they come into the pool, by hash or whole', async () => {
  const byHash = await subscribe('newPendingTransactions');
  const whole = await subscribe('newPendingTransactions', true);
  const wholeAsBesuSays = await subscribe('newPendingTransactions', { includeTransactions: true });
  const hash = await transfer();
  await settled();
  expect(of(byHash)).toEqual([hash]);
  expect(of(whole)).toMatchObject([{ hash, from: sender!.address, to: TEST_TOKEN, nonce: '0x0', blockHash: null }]);
  expect(of(wholeAsBesuSays)).toEqual(of(whole));
});

test('no message is sent after eth_unsubscribe, nor before the caller knows the id of the subscription', async () => {
  const early: string[] = [];
  node.on('message', ({ data }) => early.push(data.subscription));
  const answer = subscribe('newHeads').then((id) => {
    expect(early).toEqual([]);
    return id;
  });
  const mined = ask('evm_mine');
  const id = await answer;
  await mined;
  await settled();
  expect(of(id)).toHaveLength(1);
  expect(await ask('eth_unsubscribe', id)).toBe(true);
  await ask('evm_mine');
  await settled();
  expect(of(id)).toHaveLength(1);
  await expect(ask('eth_unsubscribe', id)).rejects.toMatchObject({ code: -32000 });
});

test('tells the receipts of each block with transactions, of all or of some', async () => {
  const all = await subscribe('transactionReceipts');
  const none = await subscribe('transactionReceipts', { transactionHashes: [`0x${'12'.repeat(32)}`] });
  const first = await transfer();
  await ask('evm_mine');
  const some = await subscribe('transactionReceipts', { transactionHashes: [await ask('web3_sha3', '0x')] });
  const second = await transfer();
  await settled();
  const receipts = await Promise.all([first, second].map((hash) => ask('eth_getTransactionReceipt', hash)));
  // As geth: a list for each block, and nothing for a block without any.
  expect(of(all)).toEqual(receipts.map((receipt) => [receipt]));
  expect([of(none), of(some)]).toEqual([[], []]);
  const wanted = await subscribe('transactionReceipts', { transactionHashes: null });
  const third = await transfer();
  await settled();
  expect(of(wanted)).toEqual([[await ask('eth_getTransactionReceipt', third)]]);
  for (const filter of [{ transactionHashes: ['0x12'] }, { transactionHashes: 3 }, 'x'])
    await expect(subscribe('transactionReceipts', filter)).rejects.toMatchObject({ code: -32602 });
  await expect(subscribe('transactionReceipts', { transactionHashes: Array(201).fill(first) })).rejects.toMatchObject({
    code: -32602,
  });
});

test('is never told of syncing, since the node never is', async () => {
  const id = await subscribe('syncing');
  await transfer();
  await settled();
  expect(of(id)).toEqual([]);
  expect(await ask('eth_unsubscribe', id)).toBe(true);
});

test('a listener that throws stops neither the node nor the other listeners', async () => {
  const thrown: unknown[] = [];
  const keep = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => thrown.push(error));
  try {
    const fault = () => {
      throw new Error('mine');
    };
    node.on('message', fault);
    const id = await subscribe('newHeads');
    await ask('evm_mine');
    await settled();
    expect(of(id)).toHaveLength(1);
    expect(thrown).toMatchObject([{ message: 'mine' }]);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of keep) process.on('uncaughtException', listener);
  }
});

test('a request under way when its session is closed makes no subscription', async () => {
  const subscriptions = new Subscriptions(() => {});
  let started = 0;
  const subscriber = subscriptions.subscriber();
  subscriptions.close();
  const source = () => {
    started++;
    return () => {};
  };
  expect(() => subscriber.subscribe(source)).toThrow(expect.objectContaining({ code: 'ABORTED' }));
  expect(started).toBe(0);
});
