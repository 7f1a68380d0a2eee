import { expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';

import { devNode } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';

const setChainId = (id: unknown) => ({ method: 'anvil_setChainId', params: [id] });

test('a new chain id is an event, once each, with the id as EIP-1193 has it', async () => {
  const { node } = await devNode();
  const [seen, connected]: [Hex[], unknown[]] = [[], []];
  node.on('chainChanged', (id) => seen.push(id));
  node.on('connect', (event) => connected.push(event));
  await node.request(setChainId('0x1') as never);
  // EIP-1193: the id that eth_chainId answers, as a hexadecimal string.
  expect(seen).toEqual(['0x1']);
  expect(await node.request({ method: 'eth_chainId' })).toBe('0x1');
  await node.request(setChainId(1) as never);
  await expect(node.request(setChainId(0) as never)).rejects.toMatchObject({ code: -32602 });
  await node.request(setChainId(59_139) as never);
  expect(seen).toEqual(['0x1', '0xe703']);
  await eventually(() => expect(connected).toHaveLength(1));
});

test('also when it is set over HTTP, by a batch, or over a WebSocket', async () => {
  const { node } = await devNode();
  const seen: Hex[] = [];
  node.on('chainChanged', (id) => seen.push(id));
  const call = (id: number, chain: Hex) => ({ jsonrpc: '2.0', id, ...setChainId(chain) });
  const post = (body: unknown) =>
    node.handle(
      new Request('http://127.0.0.1/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
  expect((await post(call(1, '0x2'))).status).toBe(200);
  await eventually(() => expect(seen).toEqual(['0x2']));
  await post([call(1, '0x3'), call(2, '0x4')]);
  await eventually(() => expect(seen).toEqual(['0x2', '0x4']));
  const session = node.openSession(() => {});
  await session.dispatch(call(1, '0x5'));
  await eventually(() => expect(seen).toEqual(['0x2', '0x4', '0x5']));
  session.close();
});

test('wallet_switchEthereumChain knows the new chain, and no longer the one before', async () => {
  const { node } = await devNode();
  await node.request(setChainId('0x7') as never);
  const switchTo = (chainId: Hex) => node.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  expect(await switchTo('0x7')).toBeNull();
  await expect(switchTo('0xe703')).rejects.toMatchObject({ code: 4902 });
});
