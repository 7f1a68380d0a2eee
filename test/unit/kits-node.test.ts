import { createPublicClient } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { fixture } from '../../src/hardhat.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { Hex } from '../../src/primitives/hex.js';
import { plumblineTransport } from '../../src/wagmi.js';
import { devNode, stranger } from '../support/dev-node.js';

test('fixtures of one provider do not take each other for theirs', async () => {
  const { ask } = await devNode();
  const provider = {
    request: ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => ask(method, ...params),
  };
  const [of, other] = [stranger('a1'), stranger('b1')];
  const giving = (account: Hex, balance: Hex) =>
    fixture(provider as never, async () => {
      await ask('anvil_setBalance', account, balance);
      await ask('evm_mine');
      return account;
    });
  const [a, b] = [giving(of, '0x1'), giving(other, '0x2')];
  const balance = (account: Hex) => ask('eth_getBalance', account, 'latest');
  for (let round = 0; round < 3; round++) {
    expect([await a(), await balance(of)]).toEqual([of, '0x1']);
    expect([await b(), await balance(other)]).toEqual([other, '0x2']);
    await ask('anvil_mine', '0x3');
  }
  await ask('anvil_reset');
  expect([await b(), await balance(other)]).toEqual([other, '0x2']);
  expect(await Promise.all([a(), a()])).toEqual([of, of]);
});

test('a node of the wagmi kit that has ended is opened again with the next request', async () => {
  const nodes: Awaited<ReturnType<typeof createInlineNode>>[] = [];
  const client = createPublicClient({
    transport: plumblineTransport(async () => {
      nodes.push(await createInlineNode());
      return nodes.at(-1)!;
    }),
  });
  onTestFinished(async () => {
    for (const node of nodes) await node.close();
  });
  expect(await client.getChainId()).toBe(59_139);
  await nodes[0]!.close();
  expect(await client.getChainId()).toBe(59_139);
  expect(nodes).toHaveLength(2);
});
