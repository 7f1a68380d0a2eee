import { expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, PRICE } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';
import { lightScene } from '../support/light-node.js';
import { signTransaction } from '../support/sign.js';

test('a light node tells its filters and subscriptions of what it sends, and of nothing else', async () => {
  const { dev, light, ask } = await lightScene();
  const heard: Hex[] = [];
  light.on('message', ({ data }) => heard.push(data.result as Hex));
  await ask('eth_subscribe', 'newPendingTransactions');
  const filter = await ask<Hex>('eth_newPendingTransactionFilter');
  const raw = signTransaction(0, { nonce: 0, to: accountAt(1), value: 1n, gasLimit: 21_000n, ...PRICE });
  // The hash that the devnet itself gives, of a transaction with the same bytes.
  const hash = await ask<Hex>('eth_sendRawTransaction', raw);
  expect(await dev.ask('eth_getTransactionByHash', hash)).toMatchObject({ hash, nonce: '0x0' });
  await dev.transfer(2, { nonce: 0 });
  expect(await ask('eth_getFilterChanges', filter)).toEqual([hash]);
  expect(await ask('eth_getFilterChanges', filter)).toEqual([]);
  await eventually(() => expect(heard).toEqual([hash]));
});
