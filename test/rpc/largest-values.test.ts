import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import { anchorSlots, stateRootSlot, verifyL1Anchor } from '../../src/proof/l1-anchor.js';
import { accountAt, devNode } from '../support/dev-node.js';
import { signTransaction } from '../support/sign.js';

const FROM = accountAt(0);
const TO = accountAt(1);
/** 2^256 - 1, 2^64 - 1 and 2^53 - 1. */
const WORD = `0x${'f'.repeat(64)}`;
const LAST_NONCE = '0xffffffffffffffff';
const LAST_TIME = 2 ** 53 - 1;

describe.each(['besu', 'geth', 'exact'] as const)('the largest values, on a network of %s', (gasSearch) => {
  let node: PlumblineNode;
  const ask = (method: string, ...params: unknown[]) => node.request<UntypedMethod>({ method, params });
  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet', network: devnet({ gasSearch }), mining: 'manual' } });
  });
  afterAll(() => node.close());

  const spent = { [FROM]: { nonce: LAST_NONCE } };
  const creation = { from: FROM, data: '0x5f5ff3' };

  // EIP-2681: a transaction whose nonce is 2^64 - 1 or more is invalid, and so is the creation of a contract.
  test.each(['eth_call', 'eth_estimateGas', 'linea_estimateGas', 'eth_createAccessList'])(
    '%s: a creation by a sender without a nonce left',
    async (method) => {
      const refused = { code: -32006, message: 'Nonce too high' };
      await expect(ask(method, creation, 'latest', spent)).rejects.toMatchObject(refused);
      await expect(ask(method, { ...creation, from: TO }, 'latest', spent)).resolves.toBeDefined();
    },
  );

  test.each([creation, { from: FROM, to: TO }])('eth_simulateV1: a sender without a nonce left, %o', async (call) => {
    const simulated = (validation: boolean) =>
      ask('eth_simulateV1', { blockStateCalls: [{ stateOverrides: spent, calls: [call] }], validation }, 'latest');
    await expect(simulated(true)).rejects.toMatchObject({ code: -38011, message: /nonce/ });
    if (!('to' in call)) await expect(simulated(false)).rejects.toMatchObject({ code: -38011, message: /nonce/ });
  });

  test.each([{ gasPrice: WORD }, { maxFeePerGas: WORD }, { maxFeePerGas: WORD, maxPriorityFeePerGas: WORD }])(
    'a price of 2^256 - 1: %o',
    async (price) => {
      const call = { from: FROM, to: TO, ...price };
      const poor = { code: expect.toBeOneOf([-32000, -32004]), message: /balance|insufficient funds|allowance/ };
      for (const method of ['eth_call', 'eth_estimateGas', 'linea_estimateGas', 'eth_createAccessList']) {
        await expect(ask(method, call, 'latest')).rejects.toMatchObject(poor);
      }
      await expect(ask('eth_sendTransaction', call)).rejects.toMatchObject(poor);
      const cost = { code: -32602, message: /gasLimit times the price per gas is 2\^256 or more/ };
      await expect(ask('eth_sendTransaction', { ...call, gas: '0x5208' })).rejects.toMatchObject(cost);
    },
  );

  test('a priority fee of 2^256 - 1', async () => {
    const call = { from: FROM, to: TO, gas: '0x5208', maxPriorityFeePerGas: WORD, maxFeePerGas: '0x3b9aca00' };
    const refused = { code: -32602, message: /maxFeePerGas 1000000000 is below maxPriorityFeePerGas/ };
    await expect(ask('eth_sendTransaction', call)).rejects.toMatchObject(refused);
  });

  test('a nonce of 2^64 - 1', async () => {
    const call = { from: FROM, to: TO, gas: '0x5208', nonce: LAST_NONCE };
    await expect(ask('eth_sendTransaction', call)).rejects.toMatchObject({ code: -32602, message: /EIP-2681/ });
  });
});

describe('times near 2^53', () => {
  const refused = { code: -32602, message: expect.stringContaining('2^53 - 1') };

  test('after a block of the last second there is no other, until a snapshot is reverted', async () => {
    const { ask, transfer } = await devNode();
    const snapshot = await ask('evm_snapshot');
    await ask('evm_mine', LAST_TIME);
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ timestamp: '0x1fffffffffffff' });
    await expect(ask('evm_mine')).rejects.toMatchObject(refused);
    await expect(transfer(0, { nonce: 0 })).rejects.toMatchObject(refused);
    await ask('evm_revert', snapshot);
    await transfer(0, { nonce: 0 });
    expect(await ask('eth_blockNumber')).toBe('0x1');
  });

  test.each([
    ['evm_increaseTime', LAST_TIME],
    ['anvil_mine', '0x3', '0x1fffffffffffff'],
    ['hardhat_mine', '0x3', '0x1fffffffffffff'],
  ])('%s goes no further', async (method, ...params) => {
    const { ask } = await devNode();
    await expect(ask(method, ...params)).rejects.toMatchObject({ code: -32602 });
    await ask('evm_mine');
  });

  test('an interval that leads beyond it', async () => {
    const { ask } = await devNode();
    await ask('anvil_setBlockTimestampInterval', LAST_TIME);
    await expect(ask('evm_mine')).rejects.toMatchObject(refused);
    await ask('anvil_removeBlockTimestampInterval');
    await ask('evm_mine');
  });
});

test.each([Number.NaN, 1.5, -1, Number.POSITIVE_INFINITY, 2 ** 53])('%d is no number of a layer-2 block', (number) => {
  const outside = expect.objectContaining({ code: 'OUT_OF_RANGE', message: expect.stringContaining(`${number}`) });
  const request = { l1StateRoot: new Uint8Array(32), rollup: linea.rollup, l2BlockNumber: number };
  expect(() => stateRootSlot(linea.rollup, number)).toThrow(outside);
  expect(() => anchorSlots(linea.rollup, number)).toThrow(outside);
  expect(() => verifyL1Anchor(request, {})).toThrow(outside);
});

describe('why a transaction is refused, in words of this library', () => {
  test('it is for another chain', async () => {
    const { ask } = await devNode();
    const raw = signTransaction(0, { nonce: 0, to: TO, gasLimit: 21_000n, maxFeePerGas: 10n ** 9n, chainId: 1 });
    const data = 'the transaction is for chain 1, this is chain 59139';
    await expect(ask('eth_sendRawTransaction', raw)).rejects.toMatchObject({
      code: -32000,
      message: 'Wrong chainId',
      data,
    });
  });

  test('its init code is above the limit of EIP-3860', async () => {
    const { ask } = await devNode();
    const creation = { from: FROM, data: `0x${'00'.repeat(49_153)}`, gas: '0x2dc6c0' };
    const message = 'init code of 49153 bytes is above the limit of 49152 (EIP-3860)';
    await expect(ask('eth_sendTransaction', creation)).rejects.toMatchObject({ code: -32000, message });
  });
});
