import { describe, expect, test } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import { CHAIN_MEMBERS, type Chain, forwardingChain } from '../../src/chain/chain.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';

// A chain of each kind has all members: what one of them cannot do, it answers with undefined.
test('the members of a chain', () => {
  expect(Object.keys(CHAIN_MEMBERS)).toEqual([
    'head',
    'block',
    'blocks',
    'withBody',
    'transaction',
    'receipts',
    'accessList',
    'logs',
    'pendingTransactions',
    'pendingTransaction',
    'exclusion',
    'forward',
    'stateAt',
    'stateBefore',
    'accountsAt',
    'prepare',
    'prepareSimulation',
    'contextOf',
    'pendingContext',
    'trust',
    'restsOn',
    'prices',
    'proof',
    'zkProof',
    'submit',
    'takenBack',
    'subscribe',
    'close',
  ]);
});

describe('a chain that forwards', () => {
  test.each(Object.keys(CHAIN_MEMBERS))('passes on all arguments of %s, and its answer', (member) => {
    const calls: unknown[] = [];
    const chain = new Proxy({} as Chain, {
      get(_, name) {
        if (name === 'kind') return 'light';
        if (name === 'network') return devnet();
        return (...args: unknown[]) => {
          calls.push([name, args]);
          return 'answer';
        };
      },
    });
    const given = [{ number: 3 }, new Uint8Array(20), () => {}, { signal: new AbortController().signal }];
    const forwarding = forwardingChain(() => chain) as unknown as Record<string, (...args: unknown[]) => unknown>;
    expect(forwarding[member]!(...given)).toBe('answer');
    expect(calls).toEqual([[member, given]]);
  });

  test('asks the chain that there is then', async () => {
    let current = { kind: 'devnet', network: devnet(), head: async () => 1 as unknown as Block } as unknown as Chain;
    const chain = forwardingChain(() => current);
    current = { ...current, head: async () => 2 as unknown as Block };
    expect(await chain.head()).toBe(2);
  });
});

test('what an answer rests on: the block that is read, its parent for a context, none for a hash that a devnet does not know', async () => {
  const node = await createInlineNode();
  const reports: unknown[] = [];
  node.on('answer', ({ method, blocks, level, class: kind }) => reports.push([method, blocks.length, level, kind]));
  await node.request({ method: 'eth_blockNumber' });
  await node.request({ method: 'eth_gasPrice' });
  await node.request({ method: 'eth_getBlockByHash', params: [`0x${'11'.repeat(32)}`, false] });
  await node.request({ method: 'eth_chainId' });
  await node.close();
  expect(reports).toEqual([
    ['eth_blockNumber', 1, 'held', 'held'],
    ['eth_gasPrice', 1, 'held', 'computed'],
    ['eth_getBlockByHash', 0, undefined, 'held'],
    ['eth_chainId', 0, undefined, 'held'],
  ]);
});
