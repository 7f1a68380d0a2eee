import { expect, test } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import type { Chain, ChainListener, HeadListener } from '../../src/chain/chain.js';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { linea } from '../../src/networks/linea.js';
import { createDispatcher } from '../../src/rpc/handle.js';
import type { RpcContext } from '../../src/rpc/methods/context.js';
import { methodTable } from '../../src/rpc/methods/method-table.js';
import { MAX_TRIES } from '../../src/rpc/sources.js';
import { Subscriptions } from '../../src/rpc/subscriptions.js';
import { stranger } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';
import { transferCalldata } from '../support/sign.js';

test('logs of a block whose receipts were not to be had come with the next head', async () => {
  const { dev, light, ask, endpoints } = await lightScene();
  const told: string[] = [];
  light.on('message', (message) => {
    told.push((message as { data: { result: { blockNumber: string } } }).data.result.blockNumber);
  });
  const transfer = (nonce: number) =>
    dev.transfer(0, { nonce, to: token, value: 0n, data: transferCalldata(stranger('77'), 5n), gasLimit: 100_000n });
  let refused = 0;
  for (const { options } of endpoints)
    options.tamper = ({ method }, result) => {
      if (!/Receipts?$/.test(method)) return result;
      refused++;
      throw new Error('out of order');
    };
  await ask('eth_blockNumber');
  await ask('eth_subscribe', 'logs', { address: token });
  await transfer(0);
  await expect.poll(() => refused).toBeGreaterThanOrEqual(endpoints.length);
  for (const { options } of endpoints) delete options.tamper;
  await transfer(1);
  await expect.poll(() => told).toEqual(['0x1', '0x2']);
});

test('a block whose receipts never come is skipped and reported to onError', async () => {
  const errors: unknown[] = [];
  let listener: HeadListener = () => {};
  const chain = {
    kind: 'light',
    network: linea,
    subscribe: ({ head = () => {} }: ChainListener) => {
      listener = head;
      return () => {};
    },
    receipts: () => Promise.reject(new Error('not to be had')),
  } as unknown as Chain;
  const context = { chain } as RpcContext;
  const subscriptions = new Subscriptions(() => {});
  const payload = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['logs'] };
  const onError = (error: unknown, method: string) => errors.push([(error as Error).message, method]);
  const subscriber = subscriptions.subscriber();
  await createDispatcher(methodTable(context), context, { onError })(payload, { subscriber });
  subscriber.replied();
  for (let number = 1; number <= MAX_TRIES; number++) {
    const logsBloom = new Uint8Array(256).fill(0xff);
    listener({ header: { number, logsBloom }, hash: Uint8Array.of(number) } as unknown as Block);
    await new Promise((resolve) => setTimeout(resolve));
  }
  expect(errors).toEqual([['not to be had', 'eth_subscribe']]);
});
