import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, devNode, KeptStore, sendFrom, stranger, word } from '../support/dev-node.js';
import { settled } from '../support/eventually.js';

const CONTRACT = stranger('cc');
/** Returns PREVRANDAO. */
const RANDOM = '0x445f5260205ff3';

test('eth_capabilities has the head and the oldest block that is held', async () => {
  const { ask } = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
  for (let i = 0; i < 3; i++) await ask('evm_mine');
  const { hash } = await ask<{ hash: string }>('eth_getBlockByNumber', 'latest', false);
  const all = { disabled: false, oldestBlock: '0x0' };
  expect(await ask('eth_capabilities')).toEqual({
    head: { number: '0x3', hash },
    ...{ state: all, tx: all, logs: all, receipts: all, blocks: all, stateproofs: all },
  });
});

test.each([
  ['in memory', undefined],
  ['with a store', new KeptStore()],
])('reset: a devnet %s is at its genesis again', async (_, store) => {
  const dev = await devNode(store === undefined ? {} : { store });
  const { ask } = dev;
  const genesis = await ask('eth_getBlockByNumber', '0x0', false);
  const { instanceId } = await ask<{ instanceId: Hex }>('hardhat_metadata');
  for (const [method, answer] of [
    ['anvil_reset', null],
    ['hardhat_reset', true],
  ] as const) {
    await sendFrom(dev, 0, CONTRACT);
    await ask('anvil_setBalance', stranger('ee'), '0x5');
    const snapshot = await ask('evm_snapshot');
    expect(await ask(method, {})).toBe(answer);
    expect(await dev.number()).toBe(0);
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toEqual(genesis);
    expect(await ask('eth_getBalance', stranger('ee'), 'latest')).toBe('0x0');
    expect(await ask('evm_revert', snapshot)).toBe(false);
  }
  expect((await ask<{ instanceId: Hex }>('hardhat_metadata')).instanceId).not.toBe(instanceId);
  await sendFrom(dev, 0, CONTRACT);
  expect(await dev.number()).toBe(1);
  await expect(ask('hardhat_reset', { forking: { jsonRpcUrl: 'http://127.0.0.1:1' } })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('not a fork'),
  });
});

describe('what tools mean by one name', () => {
  // Hardhat: milliseconds, zero ends the interval and leaves automine. https://hardhat.org/hardhat-network/docs/reference
  test.each([undefined, 'hardhat', 'ganache'] as const)('evm_setIntervalMining of zero with tool %s', async (tool) => {
    const { ask } = await devNode({ chain: { kind: 'devnet', ...(tool !== undefined && { tool }) } });
    for (const automine of [true, false]) {
      await ask('evm_setAutomine', automine);
      await ask('evm_setIntervalMining', 5_000_000);
      expect(await ask('anvil_getIntervalMining')).toBe(5000);
      await ask('evm_setIntervalMining', 0);
      expect(await ask('hardhat_getAutomine')).toBe(automine);
      expect(await ask('anvil_getIntervalMining')).toBeNull();
      await ask('evm_setIntervalMining', 0);
      expect(await ask('hardhat_getAutomine')).toBe(automine);
    }
  });

  test('small intervals are seconds without a tool, and milliseconds with Hardhat', async () => {
    for (const [tool, seconds] of [
      [undefined, 900],
      ['anvil', 900],
      ['hardhat', 0.9],
    ] as const) {
      const { ask, node } = await devNode({
        chain: { kind: 'devnet', mining: 'manual', ...(tool !== undefined && { tool }) },
      });
      await ask('evm_setIntervalMining', 900);
      expect(await ask('anvil_getIntervalMining'), tool).toBe(seconds);
      await node.close();
    }
  });

  // Ganache: milliseconds since 1970. https://ganache.dev/#evm_setTime
  test.each([
    ['ganache', 1000],
    ['anvil', 1],
  ] as const)('evm_setTime with tool %s', async (tool, factor) => {
    const { ask } = await devNode({ chain: { kind: 'devnet', tool } });
    await ask('evm_setTime', 4_000_000_000 * factor);
    await ask('evm_mine');
    const { timestamp } = await ask<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
    expect(Math.abs(Number(timestamp) - 4_000_000_000)).toBeLessThan(60);
  });

  test.each([
    ['anvil', /^anvil\/plumbline\/v/],
    ['hardhat', /^HardhatNetwork\/plumbline\/v/],
    ['ganache', /^Ganache\/plumbline\/v/],
    [undefined, /^plumbline\/v/],
  ] as const)('web3_clientVersion with tool %s', async (tool, expected) => {
    const { ask } = await devNode({ chain: { kind: 'devnet', ...(tool !== undefined && { tool }) } });
    expect(await ask('web3_clientVersion')).toMatch(expected);
    expect(await ask('hardhat_metadata')).toMatchObject({ clientVersion: expect.stringMatching(expected) });
  });

  test('an unknown tool', async () => {
    const chain = { kind: 'devnet', tool: 'truffle' } as never;
    await expect(devNode({ chain })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
  });
});

test('hardhat_setPrevRandao is that of the next block alone', async () => {
  const { ask } = await devNode();
  await ask('hardhat_setCode', CONTRACT, RANDOM);
  await ask('evm_mine');
  expect(await ask('hardhat_setPrevRandao', word(77n))).toBe(true);
  expect(await ask('eth_call', { to: CONTRACT }, 'pending')).toBe(word(77n));
  await ask('evm_mine');
  expect(await ask('eth_call', { to: CONTRACT }, 'latest')).toBe(word(77n));
  expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ mixHash: word(77n) });
  await ask('evm_mine');
  expect(await ask('eth_call', { to: CONTRACT }, 'latest')).not.toBe(word(77n));
});

describe('eth_sendTransactionSync', () => {
  test('answers with the receipt', async () => {
    const { ask } = await devNode();
    const receipt = await ask<{ transactionHash: Hex }>('eth_sendTransactionSync', {
      from: accountAt(0),
      to: CONTRACT,
    });
    expect(receipt).toEqual(await ask('eth_getTransactionReceipt', receipt.transactionHash));
  });

  // EIP-7966: code 4, and the hash as data.
  test('a transaction that no block includes in time: its hash is in the error', async () => {
    const dev = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
    const hash = await sendFrom(dev, 0, CONTRACT);
    const raw = await dev.ask('eth_getRawTransactionByHash', hash);
    await dev.ask('anvil_dropAllTransactions');
    await expect(dev.ask('eth_sendRawTransactionSync', raw, 20)).rejects.toMatchObject({
      code: 4,
      reason: 'TRANSACTION_PENDING',
      data: hash,
    });
    await dev.ask('anvil_dropAllTransactions');
    const waiting = dev.ask('eth_sendRawTransactionSync', raw);
    await settled();
    await dev.ask('evm_mine');
    expect(await waiting).toMatchObject({ transactionHash: hash, status: '0x1' });
    for (const timeout of [0, -1, 60_001, 1.5, 'soon']) {
      await expect(dev.ask('eth_sendRawTransactionSync', raw, timeout)).rejects.toMatchObject({ code: -32602 });
    }
  });
});

describe('states', () => {
  const asHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;

  test.each([
    ['what is neither gzip nor JSON', '0x12'],
    ['gzip that ends early', '0x1f8b08'],
    ['JSON of another form', asHex(Buffer.from('[]'))],
    ['an account without a valid address', asHex(Buffer.from('{"accounts":{"0x12":{}}}'))],
    ['gzip of more than 16 MiB', asHex(gzipSync(Buffer.alloc(17 * 2 ** 20, ' ')))],
  ])('%s is refused', async (_, state) => {
    const { ask } = await devNode();
    await expect(ask('anvil_loadState', state)).rejects.toMatchObject({ code: -32602 });
    expect(await ask('eth_getBalance', accountAt(0), 'latest')).toBe('0x21e19e0c9bab2400000');
  });

  test('edits that wait for a block are dumped too', async () => {
    const { ask } = await devNode();
    await ask('anvil_setStorageAt', TEST_TOKEN, word(2n), word(0n));
    await ask('anvil_setBalance', stranger('ee'), '0x5');
    const state = await ask('anvil_dumpState');
    const other = await devNode();
    expect(await other.ask('hardhat_loadState', state)).toBe(true);
    expect(await other.ask('eth_getBalance', stranger('ee'), 'latest')).toBe('0x5');
  });
});

describe('what a devnet refuses, with the reason', () => {
  test.each([
    ['anvil_setRpcUrl', ['http://127.0.0.1:1'], /not a fork/],
    ['hardhat_setMinGasPrice', ['0x1'], /EIP-1559/],
    ['anvil_setChainId', [0], /zero/],
  ])('%s', async (method, params, reason) => {
    const { ask } = await devNode();
    await expect(ask(method, ...params)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(reason),
    });
  });

  test('anvil_setChainId on a devnet with a store', async () => {
    const { ask } = await devNode({ store: new KeptStore() });
    await expect(ask('anvil_setChainId', 5)).rejects.toMatchObject({ message: expect.stringContaining('store') });
    expect(await ask('eth_chainId')).toBe('0xe703');
  });
});
