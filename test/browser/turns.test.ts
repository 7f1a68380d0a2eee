import { afterEach, expect, test } from 'vitest';
import type { UntypedMethod } from '../../dist/index.js';
// The built package: what runs here is what a page gets.
import { createNode, devnet, type PlumblineNode } from '../../dist/index.js';
import { endlessAccounts, SLOW } from '../support/endless.js';

const { alloc, calls } = endlessAccounts({ 'a loop': { code: '0x5b5f56' }, 'a loop of pairings': SLOW });
/** So much gas that a call takes minutes, also on a fast machine. */
const GAS = 900_000_000_000n;
const network = { ...devnet(), rpcGasCap: GAS };

let node: PlumblineNode | undefined;

afterEach(async () => {
  await node?.close();
  node = undefined;
});

const open = async (more: object) => {
  node = await createNode({
    chain: { kind: 'devnet', network, alloc },
    dictionary: { kind: 'general' },
    gasBudget: Number(GAS),
    connectionGasBudget: Number(GAS),
    ...more,
  });
  return node;
};

test.each(calls)('%s in a worker: another request is answered meanwhile, and the time limit holds', async (_, call) => {
  const { request } = await open({ requestTimeoutMs: 10_000 }).then((opened) => ({
    request: (method: string, ...params: unknown[]) => opened.request<UntypedMethod>({ method, params }),
  }));
  const order: string[] = [];
  const endless = request('eth_call', { ...call, gas: `0x${GAS.toString(16)}` }, 'latest').catch((error) => {
    order.push('endless');
    return error;
  });
  for (let i = 0; i < 5; i++) {
    expect(await request('eth_blockNumber')).toBe('0x0');
    order.push('other');
  }
  expect(await endless).toMatchObject({ code: -32603, message: 'Timeout expired' });
  expect(order).toEqual([...Array(5).fill('other'), 'endless']);
  // The worker has ended it: it answers as before.
  expect(await request('eth_call', { to: `0x${'11'.repeat(20)}` }, 'latest')).toBe('0x');
});

test('an abort by the page ends the work in the worker', async () => {
  const opened = await open({});
  const stop = new AbortController();
  const mining = opened.request({ method: 'anvil_mine', params: ['0x186a0'] }, { signal: stop.signal });
  expect(await opened.request({ method: 'eth_chainId' })).toBe('0xe703');
  stop.abort(new Error('enough'));
  await expect(mining).rejects.toThrow('enough');
  // It waits until the mining has ended.
  await opened.request({ method: 'evm_snapshot' });
  const head = Number(await opened.request({ method: 'eth_blockNumber' }));
  expect(head).toBeLessThan(100_000);
  expect(Number(await opened.request({ method: 'eth_blockNumber' }))).toBe(head);
});
