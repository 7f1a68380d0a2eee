import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, devNode, PRICE, stranger, word } from '../support/dev-node.js';
import { forkScene, fund, HOLDER, LATER, RECEIVER, tokensOf, transferAsHolder } from '../support/fork-scene.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

describe('developer methods on a fork', () => {
  test('snapshots, rollback and reorg leave the network alone', async () => {
    const { open } = await forkScene();
    const { ask } = await open();
    const before = await tokensOf(ask, HOLDER);
    const snapshot = await ask('evm_snapshot');
    await transferAsHolder(ask, 30n);
    const { stateRoot } = await ask<{ stateRoot: Hex }>('eth_getBlockByNumber', 'latest', false);
    expect(await ask('evm_revert', snapshot)).toBe(true);
    expect(await tokensOf(ask, HOLDER)).toBe(before);
    // The same again gives the same state.
    await transferAsHolder(ask, 30n);
    expect((await ask<{ stateRoot: Hex }>('eth_getBlockByNumber', 'latest', false)).stateRoot).toBe(stateRoot);
    await ask('anvil_mine', 1);
    await ask('anvil_rollback', 2);
    expect(await ask('eth_blockNumber')).toBe('0x4');
    expect(await tokensOf(ask, HOLDER)).toBe(before);
    await ask('anvil_mine', 2);
    await ask('anvil_reorg', 2, []);
    expect(await ask('eth_blockNumber')).toBe('0x6');
  });

  test('code, slots, nonces and tokens are set over those of the network', async () => {
    const { dev, open } = await forkScene();
    const { ask } = await open();
    for (const one of [ask, dev.ask]) {
      await one('anvil_setStorageAt', TEST_TOKEN, word(2n), word(77n));
      await one('anvil_setNonce', HOLDER, '0x9');
      await one('anvil_setCode', stranger('c0'), '0x60005460005260206000f3');
      await one('anvil_dealERC20', stranger('d0'), TEST_TOKEN, '0x64');
    }
    const seen = async (one: typeof ask) => [
      await one('eth_getStorageAt', TEST_TOKEN, word(2n), 'latest'),
      await one('eth_getTransactionCount', HOLDER, 'latest'),
      await one('eth_call', { to: stranger('c0') }, 'latest'),
      await tokensOf(one, stranger('d0')),
      await tokensOf(one, HOLDER),
    ];
    expect(await seen(ask)).toEqual(await seen(dev.ask));
    await ask('anvil_mine', 1);
    await dev.ask('anvil_mine', 1);
    expect(await seen(ask)).toEqual(await seen(dev.ask));
  });

  test('signed transactions, contracts made and destroyed, estimates and simulations are those of the network', async () => {
    const { dev, open } = await forkScene();
    const { ask } = await open();
    await fund(dev.ask);
    const call = { from: accountAt(1), to: TEST_TOKEN, data: transferCalldata(RECEIVER, 5n) };
    const blocks = {
      blockStateCalls: [{ blockOverrides: { time: `0x${LATER.toString(16)}` }, calls: [call] }],
      returnFullTransactions: true,
    };
    for (const [method, ...params] of [
      ['eth_estimateGas', call],
      ['linea_estimateGas', call],
      ['eth_createAccessList', call, 'latest'],
    ] as [string, ...unknown[]][])
      expect(await ask(method, ...params), method).toEqual(await dev.ask(method, ...params));
    // With the state root after the simulated block.
    expect(await ask('eth_simulateV1', blocks, 'latest')).toEqual(await dev.ask('eth_simulateV1', blocks, 'latest'));

    // Stores its call value's place and, when it is called, destroys itself in favour of the caller.
    const code = '0x6001600055600a80601360003960006000f3fe6000543360005533ff';
    const raw = signTransaction(2, { nonce: 0, data: code, gasLimit: 200_000n, ...PRICE });
    const [own, theirs] = [
      await ask<Hex>('eth_sendRawTransaction', raw),
      await dev.ask<Hex>('eth_sendRawTransaction', raw),
    ];
    expect(own).toBe(theirs);
    const status = async (one: typeof ask) => {
      const { status, gasUsed, contractAddress } = await one<Record<string, Hex>>('eth_getTransactionReceipt', own);
      return { status, gasUsed, contractAddress };
    };
    expect(await status(ask)).toEqual(await status(dev.ask));
    const trace = async (one: typeof ask) => one('debug_traceTransaction', own, { tracer: 'callTracer' });
    expect(await trace(ask)).toEqual(await trace(dev.ask));
  });

  test('pool, mining modes, times and the next block', async () => {
    const { open } = await forkScene();
    const { ask } = await open({}, {}, { mining: 'manual', tool: 'anvil' });
    const raw = signTransaction(2, { nonce: 0, to: stranger('11'), value: 5n, gasLimit: 21_000n, ...PRICE });
    const hash = await ask<Hex>('eth_sendRawTransaction', raw);
    expect(await ask('eth_getTransactionReceipt', hash)).toBeNull();
    await ask('evm_setNextBlockTimestamp', LATER);
    await ask('anvil_setNextBlockBaseFeePerGas', '0x9');
    await ask('anvil_mine', 1);
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({
      timestamp: `0x${LATER.toString(16)}`,
      baseFeePerGas: '0x9',
      transactions: [hash],
    });
    expect(await ask('eth_getBalance', stranger('11'), 'latest')).toBe('0x5');
    expect(await ask('anvil_nodeInfo')).toMatchObject({ forkConfig: { forkBlockNumber: 4 } });
    expect(await ask('hardhat_metadata')).toMatchObject({ forkedNetwork: { chainId: 59_139, forkBlockNumber: 4 } });
    expect(await ask('web3_clientVersion')).toMatch(/anvil/);
    await ask('anvil_setChainId', 31_337);
    expect(await ask('eth_chainId')).toBe('0x7a69');
  });

  test('a state is dumped as what the fork changed, and another devnet loads it', async () => {
    const { open } = await forkScene();
    const { ask } = await open();
    await transferAsHolder(ask, 30n);
    const other = await devNode();
    await other.ask('anvil_loadState', await ask('anvil_dumpState'));
    expect(await tokensOf(other.ask, RECEIVER)).toBe(30n);
    expect(await tokensOf(other.ask, HOLDER)).toBe(await tokensOf(ask, HOLDER));
  });

  test('accounts of the options, over those of the network', async () => {
    const { open } = await forkScene();
    const alloc = {
      [stranger('a7')]: { balance: 7n, nonce: 3n, code: '0x6001', storage: { [word(1n)]: word(2n) } },
    } as const;
    const { ask } = await open({}, {}, { alloc });
    expect(await ask('eth_getBalance', stranger('a7'), 'latest')).toBe('0x7');
    expect(await ask('eth_getTransactionCount', stranger('a7'), 'latest')).toBe('0x3');
    expect(await ask('eth_getCode', stranger('a7'), 'latest')).toBe('0x6001');
    expect(await ask('eth_getStorageAt', stranger('a7'), word(1n), 'latest')).toBe(word(2n));
    // They are of the fork, not of the network's block.
    expect(await ask('eth_getBalance', stranger('a7'), '0x3')).toBe('0x0');
  });

  test('new heads, removed logs and filters', async () => {
    const { open } = await forkScene();
    const { ask, node } = await open();
    const heads: string[] = [];
    node.on('message', (message) => {
      const { subscription, result } = message.data as { subscription: Hex; result: { number: Hex } };
      if (subscription === id) heads.push(result.number);
    });
    const id = await ask<Hex>('eth_subscribe', 'newHeads');
    const filter = await ask<Hex>('eth_newFilter', { address: TEST_TOKEN });
    await transferAsHolder(ask, 30n);
    expect(heads).toEqual(['0x5']);
    expect(await ask('eth_getFilterChanges', filter)).toHaveLength(1);
    expect(await ask('eth_feeHistory', '0x3', 'latest', [])).toMatchObject({ oldestBlock: '0x3' });
  });
});
