import { expect, test } from 'vitest';
import { accountAt, devNode, stranger } from '../support/dev-node.js';

/** Empty blocks after which those before them are packed. */
const LATER_BLOCKS = '0x400';

test('transactions of packed blocks are answered as before: legacy, with a priority fee, impersonated, of another chain id', async () => {
  const { ask } = await devNode();
  const hashes: unknown[] = [];
  const send = async (from: string, more = {}) =>
    hashes.push(await ask('eth_sendTransaction', { from, to: stranger('42'), value: '0x1', gas: '0x5208', ...more }));
  await send(accountAt(0));
  await send(accountAt(0), { gasPrice: '0x2540be400' });
  await ask('anvil_setBalance', stranger('77'), '0x56bc75e2d63100000');
  await ask('anvil_impersonateAccount', stranger('77'));
  await send(stranger('77'));
  await ask('anvil_setChainId', 4242);
  await send(accountAt(0));
  const methods = ['eth_getTransactionByHash', 'eth_getTransactionReceipt', 'debug_getRawTransaction'];
  const read = () => Promise.all(hashes.flatMap((hash) => methods.map((method) => ask(method, hash))));
  const before = await read();
  expect(before).not.toContain(null);
  await ask('anvil_mine', LATER_BLOCKS);
  expect(await read()).toEqual(before);
});
