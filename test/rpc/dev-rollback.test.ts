import { describe, expect, test } from 'vitest';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { toQuantity } from '../../src/primitives/quantity.js';
import { accountAt, type DevNode, devNode, KeptStore, proved, sendFrom, stranger, word } from '../support/dev-node.js';
import { settled } from '../support/eventually.js';
import { authorization } from '../support/sign.js';

const CONTRACT = stranger('cc');
/** Logs its block's number: NUMBER, PUSH0, MSTORE, PUSH1 32, PUSH0, LOG0. */
const LOGGING = '0x435f5260205fa000';

type Log = Record<'blockNumber' | 'blockHash' | 'data', Hex> & { removed: boolean };
const send = (dev: DevNode, from = 0, to = CONTRACT) => sendFrom(dev, from, to);

describe('logs of blocks that leave the chain', () => {
  test.each([
    ['anvil_reorg', [2, [[{ from: accountAt(1), to: CONTRACT }, 1]]], ['0x5']],
    ['anvil_rollback', [2], []],
  ])('%s: subscriptions and filters get them again, with removed: true', async (method, params, added) => {
    const dev = await devNode();
    const { ask, node } = dev;
    const told: Log[] = [];
    node.on('message', ({ data }) => told.push(data.result as Log));
    await ask('anvil_setCode', CONTRACT, LOGGING);
    await send(dev);
    const filter = await ask('eth_newFilter', { address: CONTRACT });
    const other = await ask('eth_newFilter', { address: stranger('dd') });
    await ask('eth_subscribe', 'logs', { address: CONTRACT });
    await ask('eth_subscribe', 'logs', { address: stranger('dd') });
    await send(dev);
    await settled();
    const [first] = await ask<Log[]>('eth_getFilterChanges', filter);
    await send(dev);
    await send(dev);
    await ask('evm_mine');
    await settled();
    const seen = [...told];
    expect(seen.map(({ blockNumber, removed }) => [blockNumber, removed])).toEqual([
      ['0x2', false],
      ['0x3', false],
      ['0x4', false],
    ]);
    expect(first).toEqual(seen[0]);
    const changes = await ask<Log[]>('eth_getFilterChanges', filter);
    expect(changes).toEqual(seen.slice(1));

    await ask(method, ...params);
    await settled();
    // Block 5 had no log, so that one block with a log has left the chain.
    const gone = { ...seen[2], removed: true };
    expect(told[3]).toEqual(gone);
    expect(told.slice(4).map(({ blockNumber, removed }) => [blockNumber, removed])).toEqual(
      added.map((number) => [number, false]),
    );
    const [removed, ...later] = await ask<Log[]>('eth_getFilterChanges', filter);
    expect(removed).toEqual(gone);
    expect(later).toEqual(told.slice(4));
    expect(await ask('eth_getFilterChanges', filter)).toEqual([]);
    expect(await ask('eth_getFilterChanges', other)).toEqual([]);
    const logs = await ask<Log[]>('eth_getLogs', { fromBlock: '0x2', address: CONTRACT });
    expect(logs).toEqual([...seen.slice(0, 2), ...told.slice(4)]);
  });

  test.each([
    ['anvil_rollback', 1, 1],
    ['evm_revert', '0x1', 0],
    ['anvil_reset', undefined, 0],
  ])('a filter gets the block again that is made again after %s', async (method, parameter, removed) => {
    const { ask } = await devNode();
    await ask('evm_snapshot');
    const blocks = await ask('eth_newBlockFilter');
    const logs = await ask('eth_newFilter', { address: CONTRACT });
    const { timestamp } = await ask<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
    const mined = async () => {
      await ask('anvil_setCode', CONTRACT, LOGGING);
      await ask('evm_setNextBlockTimestamp', Number(timestamp) + 100);
      const hash = await ask('eth_sendTransaction', { from: accountAt(0), to: CONTRACT, gasPrice: '0x77359400' });
      const { blockHash } = await ask<{ blockHash: Hex }>('eth_getTransactionReceipt', hash);
      const got = await ask<Log[]>('eth_getFilterChanges', logs);
      return { blockHash, blocks: await ask('eth_getFilterChanges', blocks), logs: got };
    };
    const first = await mined();
    expect(first).toMatchObject({ blocks: [first.blockHash], logs: [{ blockHash: first.blockHash }] });
    await ask(method, parameter);
    const again = await mined();
    const gone = first.logs.map((log) => ({ ...log, removed: true }));
    expect(again).toEqual({ ...first, logs: [...gone.slice(0, removed), ...first.logs] });
  });

  test('a filter does not get those that no answer had', async () => {
    const dev = await devNode();
    await dev.ask('anvil_setCode', CONTRACT, LOGGING);
    await send(dev);
    const filter = await dev.ask('eth_newFilter', {});
    await send(dev);
    await dev.ask('anvil_rollback', 2);
    expect(await dev.ask('eth_getFilterChanges', filter)).toEqual([]);
  });
});

describe('rollback and reorg', () => {
  test('state, proofs, layer 1 and finality are as before the removed blocks, and go on', async () => {
    const dev = await devNode();
    const { ask, node } = dev;
    for (let i = 0; i < 6; i++) await send(dev, 0, accountAt(1));
    const balance = await ask('eth_getBalance', accountAt(1), '0x3');
    await ask('anvil_setBalance', stranger('ee'), '0x5');
    await ask('anvil_rollback', 3);
    expect(await dev.number()).toBe(3);
    expect(await dev.number('finalized')).toBe(1);
    expect(await ask('eth_getBalance', accountAt(1), 'latest')).toBe(balance);
    expect(await ask('eth_getBalance', stranger('ee'), 'latest')).toBe('0x0');
    const onLayerOne = await node.l1.request({
      method: 'eth_call',
      params: [{ to: node.info.rollupAddress!, data: '0x695378f5' }, 'latest'],
    });
    expect(onLayerOne).toBe(word(1n));
    await send(dev, 0, accountAt(1));
    await ask('evm_mine', { blocks: 2 });
    const { account } = await proved(dev, accountAt(0));
    expect(account?.nonce).toBe(4n);
  });

  test('imported blocks stay final, and layer 1 has them, also after a later revert', async () => {
    const made = await devNode();
    await made.ask('evm_mine', { blocks: 10 });
    const numbers = Array.from({ length: 10 }, (_, i) => i + 1);
    const blocks = await Promise.all(numbers.map((number) => made.ask<Hex>('debug_getRawBlock', toQuantity(number))));
    const importBlocks = hexToBytes(`0x${blocks.map((block) => block.slice(2)).join('')}`);
    const { ask, number, node } = await devNode({ chain: { kind: 'devnet', importBlocks } });
    const onLayerOne = () => {
      const current = { to: node.info.rollupAddress!, data: '0x695378f5' } as const;
      return node.l1.request({ method: 'eth_call', params: [current, 'latest'] });
    };
    const snapshot = await ask('evm_snapshot');
    await ask('evm_mine');
    await ask('anvil_rollback', 1);
    expect([await number('finalized'), await onLayerOne()]).toEqual([10, word(10n)]);
    expect(await ask('evm_revert', snapshot)).toBe(true);
    expect([await number('finalized'), await onLayerOne()]).toEqual([10, word(10n)]);
    // Block 9 was the newest once, and final then.
    await ask('anvil_rollback', 1);
    expect([await number('finalized'), await onLayerOne()]).toEqual([9, word(9n)]);
  });

  test('a snapshot below the removed blocks stays, one above them goes', async () => {
    const dev = await devNode();
    await send(dev);
    const below = await dev.ask('evm_snapshot');
    await dev.ask('evm_mine', { blocks: 3 });
    const above = await dev.ask('evm_snapshot');
    await dev.ask('anvil_rollback', 2);
    expect(await dev.ask('evm_revert', above)).toBe(false);
    expect(await dev.ask('evm_revert', below)).toBe(true);
    expect(await dev.number()).toBe(1);
  });

  test('states that are no longer held are not gone back to', async () => {
    const dev = await devNode({ chain: { kind: 'devnet', finality: { heldFinalizations: 2 } } });
    await dev.ask('evm_mine', { blocks: 20 });
    await expect(dev.ask('anvil_rollback', 10)).rejects.toMatchObject({ message: 'World state unavailable' });
    expect(await dev.number()).toBe(20);
    await dev.ask('anvil_rollback', 1);
    expect(await dev.number()).toBe(19);
  });

  test('transactions in the pool stay there, and one that is refused is left out, as in anvil', async () => {
    const dev = await devNode();
    await dev.ask('evm_mine', { blocks: 3 });
    await dev.ask('evm_setAutomine', false);
    const waiting = await send(dev);
    const poor = stranger('ab');
    await dev.ask('anvil_impersonateAccount', poor);
    const pairs = [
      [{ from: poor, to: CONTRACT, value: '0x5' }, 0],
      [{ from: accountAt(2), to: CONTRACT }, 1],
    ];
    expect(await dev.ask('anvil_reorg', 2, pairs)).toBeNull();
    expect(await dev.number()).toBe(3);
    expect(await dev.ask('eth_getTransactionCount', accountAt(2), 'latest')).toBe('0x1');
    expect(await dev.ask('eth_pendingTransactions')).toMatchObject([{ hash: waiting }]);
    expect(await dev.ask('anvil_getAutomine')).toBe(false);
    await expect(dev.ask('anvil_reorg', 1, [[{ from: stranger('99') }, 0]])).rejects.toMatchObject({ code: -32007 });
  });

  test('transactions of a reorg are read as those of eth_sendTransaction: delegations, the chain, blobs', async () => {
    const { ask, number } = await devNode();
    await ask('evm_mine');
    const delegating = { from: accountAt(1), to: CONTRACT, authorizationList: [authorization(2, CONTRACT)] };
    await ask('anvil_reorg', 1, [[delegating, 0]]);
    expect(await ask('eth_getBlockByNumber', '0x1', true)).toMatchObject({ transactions: [{ type: '0x4' }] });
    expect(await ask('eth_getCode', accountAt(2), 'latest')).toBe(`0xef0100${CONTRACT.slice(2)}`);
    const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
    const plain = { from: accountAt(1), to: CONTRACT };
    const reorg = (more: object) => ask('anvil_reorg', 1, [[{ ...plain, ...more }, 0]]);
    await expect(reorg({ chainId: '0x1' })).rejects.toMatchObject({ message: 'Wrong chainId' });
    await expect(reorg({ maxFeePerBlobGas: '0x1' })).rejects.toMatchObject({ code: -32602 });
    await expect(reorg({ gasPrice: '0x1', authorizationList: [] })).rejects.toMatchObject({ code: -32602 });
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ hash });
    expect(await number()).toBe(1);
  });

  test('a stored devnet opens again at the block that it was rolled back to', async () => {
    const store = new KeptStore();
    const first = await devNode({ store });
    for (let i = 0; i < 4; i++) await send(first, 0, accountAt(1));
    await first.ask('anvil_rollback', 2);
    await send(first, 3, accountAt(1));
    const { hash } = await first.ask<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
    await first.node.close();
    const again = await devNode({ store });
    expect(await again.ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ number: '0x3', hash });
    await send(again, 0, accountAt(1));
    expect(await again.number()).toBe(4);
  });

  test('a rollback or a reorg to a state that a reopened devnet does not hold changes nothing', async () => {
    const store = new KeptStore();
    const chain = { kind: 'devnet', finality: { delayBlocks: 0 } } as const;
    const first = await devNode({ store, chain });
    await first.ask('anvil_mine', '0x30');
    await first.node.close();
    const again = await devNode({ store, chain });
    const held = await again.ask('eth_getBlockByNumber', 'latest', false);
    for (const [method, ...params] of [
      ['anvil_rollback', 30],
      ['anvil_reorg', 30, []],
    ] as const)
      await expect(again.ask(method, ...params)).rejects.toMatchObject({ message: 'World state unavailable' });
    expect(await again.ask('eth_getBlockByNumber', 'latest', false)).toEqual(held);
    await send(again, 0, accountAt(1));
    expect(await again.number()).toBe(49);
    await again.node.close();
  });
});
