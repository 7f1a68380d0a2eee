import { createInlineNode } from 'plumbline-l2/inline';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

let node;
let from;
let to;
let snapshot;
beforeAll(async () => {
  node = await createInlineNode();
  [from, to] = await node.request({ method: 'eth_accounts' });
});
afterAll(() => node.close());
beforeEach(async () => {
  if (snapshot !== undefined) await node.request({ method: 'evm_revert', params: [snapshot] });
  snapshot = await node.request({ method: 'evm_snapshot' });
});

const balance = async (account) =>
  BigInt(await node.request({ method: 'eth_getBalance', params: [account, 'latest'] }));
const send = (value) => node.request({ method: 'eth_sendTransaction', params: [{ from, to, value }] });

test('a transfer moves its value', async () => {
  const before = await balance(to);
  await send('0x5');
  expect(await balance(to)).toBe(before + 5n);
});

test('the next test begins where the first one began', async () => {
  expect(await node.request({ method: 'eth_blockNumber' })).toBe('0x0');
});

test('a transfer of more than the account has is refused', async () => {
  await expect(send(`0x${'f'.repeat(32)}`)).rejects.toMatchObject({ code: -32004 });
});
