import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, devNode, sendFrom, stranger, word } from '../support/dev-node.js';

/*
 * One method under the names that several tools have for it. What each does is from the documents of anvil (Foundry Book, Custom
 * Methods), Hardhat Network (Reference), Ganache (RPC), Tenderly and geth (txpool and admin namespaces).
 */

const A = stranger('a1');

async function scene() {
  const dev = await devNode();
  return { ...dev, latest: () => dev.ask<Record<string, Hex>>('eth_getBlockByNumber', 'latest', false) };
}

test.each(['anvil_deal', 'evm_setAccountBalance', 'tenderly_setBalance'])('%s sets a balance', async (method) => {
  const { ask } = await scene();
  expect(await ask(method, A, '0x5')).toBe(true);
  expect(await ask('eth_getBalance', A)).toBe('0x5');
});

test.each(['hardhat_addBalance', 'tenderly_addBalance'])('%s adds to a balance', async (method) => {
  const { ask } = await scene();
  for (const amount of ['0x5', '0x2']) expect(await ask(method, A, amount)).toBeNull();
  expect(await ask('eth_getBalance', A)).toBe('0x7');
});

test.each(['evm_setAccountNonce', 'hardhat_setNonce'])('%s sets a nonce', async (method) => {
  const { ask } = await scene();
  expect(await ask(method, A, '0x9')).toBe(true);
  expect(await ask('eth_getTransactionCount', A)).toBe('0x9');
});

test('evm_setAccountCode sets code', async () => {
  const { ask } = await scene();
  expect(await ask('evm_setAccountCode', A, '0x5f00')).toBe(true);
  expect(await ask('eth_getCode', A)).toBe('0x5f00');
});

test.each(['evm_setAccountStorageAt', 'hardhat_setStorageAt'])('%s sets a slot', async (method) => {
  const { ask } = await scene();
  await ask('anvil_setCode', A, '0x00');
  expect(await ask(method, A, word(3n), word(4n))).toBe(true);
  expect(await ask('eth_getStorageAt', A, word(3n))).toBe(word(4n));
});

test('what is executed on the next block has the time that this will get', async () => {
  const { ask } = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
  const contract = stranger('cc');
  // Returns TIMESTAMP.
  await ask('anvil_setCode', contract, '0x425f5260205ff3');
  const pending = async () => Number(await ask('eth_call', { to: contract }, 'pending'));
  const mined = async () => {
    await ask('evm_mine');
    return Number((await ask<{ timestamp: Hex }>('eth_getHeaderByNumber', 'latest')).timestamp);
  };
  const began = Math.floor(Date.now() / 1000);
  expect(await pending()).toBeGreaterThanOrEqual(began);
  const first = await pending();
  expect(await mined()).toBeGreaterThanOrEqual(first);
  await ask('evm_increaseTime', 10_000_000);
  const later = await pending();
  expect(later).toBeGreaterThanOrEqual(began + 10_000_000);
  expect(await mined()).toBeGreaterThanOrEqual(later);
  // Reverts until a year from now: PUSH4 time, TIMESTAMP, LT, PUSH1 0x0b, JUMPI, STOP, JUMPDEST, PUSH0, PUSH0, REVERT.
  const time = (began + 31_536_000).toString(16);
  await ask('anvil_setCode', contract, `0x63${time}4210600b57005b5f5ffd`);
  await expect(ask('eth_estimateGas', { from: accountAt(0), to: contract })).rejects.toMatchObject({ code: 3 });
  await ask('evm_increaseTime', 31_536_000);
  expect(Number(await ask('eth_estimateGas', { from: accountAt(0), to: contract }))).toBeGreaterThan(21_000);
});

test('anvil_increaseTime and anvil_setNextBlockTimestamp decide the time of the next block', async () => {
  const { ask, latest } = await scene();
  await ask('evm_mine');
  const before = Number((await latest()).timestamp);
  expect(Number(await ask('anvil_increaseTime', 1000))).toBeGreaterThanOrEqual(1000);
  await ask('evm_mine');
  expect(Number((await latest()).timestamp)).toBeGreaterThanOrEqual(before + 1000);
  expect(await ask('anvil_setNextBlockTimestamp', before + 5000)).toBeNull();
  await ask('evm_mine');
  expect(Number((await latest()).timestamp)).toBe(before + 5000);
});

test('hardhat_removeBlockTimestampInterval ends the interval', async () => {
  const { ask, latest } = await scene();
  await ask('evm_mine');
  await ask('hardhat_setBlockTimestampInterval', 60_000);
  const times: number[] = [];
  for (let i = 0; i < 3; i++) {
    if (i === 2) expect(await ask('hardhat_removeBlockTimestampInterval')).toBe(true);
    await ask('evm_mine');
    times.push(Number((await latest()).timestamp));
  }
  expect(times[1]! - times[0]!).toBe(60);
  expect(times[2]! - times[1]!).toBeLessThan(60);
});

test('anvil_snapshot and anvil_revert take blocks back', async () => {
  const { ask, number } = await scene();
  const id = await ask('anvil_snapshot');
  await ask('anvil_mine', 2);
  expect(await ask('anvil_revert', id)).toBe(true);
  expect(await number()).toBe(0);
  expect(await ask('anvil_revert', id)).toBe(false);
});

test('anvil_setBlockGasLimit, anvil_setCoinbase and hardhat_setNextBlockBaseFeePerGas are in the next header', async () => {
  const { ask, latest } = await scene();
  expect(await ask('anvil_setBlockGasLimit', '0x1c9c380')).toBe(true);
  expect(await ask('anvil_setCoinbase', A)).toBe(true);
  expect(await ask('hardhat_setNextBlockBaseFeePerGas', '0x11')).toBe(true);
  await ask('evm_mine');
  expect(await latest()).toMatchObject({ gasLimit: '0x1c9c380', miner: A, baseFeePerGas: '0x11' });
});

describe('senders without keys', () => {
  const funded = async () => {
    const dev = await scene();
    await dev.ask('anvil_setBalance', A, '0xde0b6b3a7640000');
    return { ...dev, send: () => dev.ask<Hex>('eth_sendTransaction', { from: A, to: accountAt(0) }) };
  };

  test.each(['anvil_stopImpersonatingAccount', 'hardhat_stopImpersonatingAccount'])(
    '%s ends what hardhat_impersonateAccount began',
    async (stop) => {
      const { ask, send } = await funded();
      await expect(send()).rejects.toMatchObject({ reason: 'TRANSACTION_REJECTED' });
      expect(await ask('hardhat_impersonateAccount', A)).toBe(true);
      expect(await ask('eth_getTransactionReceipt', await send())).toMatchObject({ from: A, status: '0x1' });
      expect(await ask(stop, A)).toBe(true);
      await expect(send()).rejects.toMatchObject({ reason: 'TRANSACTION_REJECTED' });
    },
  );

  test('hardhat_autoImpersonateAccount is for all', async () => {
    const { ask, send } = await funded();
    expect(await ask('hardhat_autoImpersonateAccount', true)).toBeNull();
    expect(await ask('eth_getTransactionReceipt', await send())).toMatchObject({ from: A });
  });
});

test('anvil_setAutomine, the pool as geth shows it, and hardhat_dropAllTransactions', async () => {
  const dev = await scene();
  const { ask } = dev;
  expect(await ask('anvil_setAutomine', false)).toBe(true);
  const hash = await sendFrom(dev, 0, A);
  const shown = await ask<Record<string, Record<string, unknown>>>('txpool_contentFrom', accountAt(0));
  expect(shown).toMatchObject({ pending: { 0: { hash, to: A } }, queued: {} });
  expect(await ask('txpool_inspect')).toEqual({
    pending: { [accountAt(0)]: { 0: expect.stringMatching(new RegExp(`^${A}: 0 wei \\+ \\d+ gas × \\d+ wei$`)) } },
    queued: {},
  });
  expect(await ask('hardhat_dropAllTransactions')).toBeNull();
  expect(await ask('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' });
});

test('hardhat_setLoggingEnabled is accepted', async () => {
  expect(await (await scene()).ask('hardhat_setLoggingEnabled', false)).toBe(true);
});

test('admin_nodeInfo has the members of geth, with genesis and head', async () => {
  const { ask } = await scene();
  await ask('evm_mine');
  const [genesis, head] = await Promise.all(
    ['0x0', '0x1'].map(async (number) => (await ask<{ hash: Hex }>('eth_getBlockByNumber', number, false)).hash),
  );
  const info = await ask<object>('admin_nodeInfo');
  expect(Object.keys(info).sort()).toEqual(['enode', 'id', 'ip', 'listenAddr', 'name', 'ports', 'protocols']);
  expect(info).toMatchObject({ protocols: { eth: { genesis, head } } });
});
