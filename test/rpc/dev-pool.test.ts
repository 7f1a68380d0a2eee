import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { RLP } from '@ethereumjs/rlp';
import { createEOACode7702Tx } from '@ethereumjs/tx';
import { eoaCode7702SignAuthorization } from '@ethereumjs/util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, devNode, stranger } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';

const manual = { chain: { kind: 'devnet', mining: 'manual' } } as const;
const blockOf = async (ask: (method: string, ...params: unknown[]) => Promise<unknown>, tag: string) =>
  (await ask('eth_getBlockByNumber', tag, false)) as { transactions: Hex[]; number: Hex; timestamp: Hex };

describe('the order of the pool', () => {
  test('a transaction behind a nonce gap waits until the gap is filled, then both are sealed', async () => {
    const { ask, transfer, number } = await devNode();
    const second = await transfer(0, { nonce: 1 });
    expect(await number()).toBe(0);
    expect(await ask('eth_getTransactionCount', accountAt(0), 'pending')).toBe('0x0');
    expect(await ask('txpool_status')).toEqual({ pending: '0x0', queued: '0x1' });
    const first = await transfer(0, { nonce: 0 });
    expect((await blockOf(ask, 'latest')).transactions).toEqual([first, second]);
    expect(await ask('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' });
  });

  test('transactions are ordered by arrival, and by nonce for each sender', async () => {
    const { ask, transfer } = await devNode(manual);
    const late = await transfer(0, { nonce: 1 });
    const other = await transfer(1, { nonce: 0 });
    const early = await transfer(0, { nonce: 0 });
    for (const pending of ['pending', { blockNumber: 'pending' }])
      expect(await ask('eth_getTransactionCount', accountAt(0), pending)).toBe('0x2');
    expect(await ask('eth_getTransactionCount', accountAt(0), 'latest')).toBe('0x0');
    await ask('evm_mine');
    expect((await blockOf(ask, 'latest')).transactions).toEqual([other, early, late]);
  });

  test('a replacement must pay 10 % more in both prices', async () => {
    const { ask, transfer } = await devNode(manual);
    const [maxFeePerGas, maxPriorityFeePerGas] = [10n ** 9n, 10n ** 8n];
    const held = await transfer(0, { nonce: 0, maxFeePerGas, maxPriorityFeePerGas });
    const bump = (fee: bigint, tip: bigint) => transfer(0, { nonce: 0, maxFeePerGas: fee, maxPriorityFeePerGas: tip });
    const refused = { code: -32000, message: expect.stringContaining('Replacement transaction underpriced') };
    await expect(bump(11n * 10n ** 8n - 1n, 11n * 10n ** 7n)).rejects.toMatchObject(refused);
    await expect(bump(11n * 10n ** 8n, 11n * 10n ** 7n - 1n)).rejects.toMatchObject(refused);
    expect(await ask('eth_getTransactionByHash', held)).toMatchObject({ hash: held, blockHash: null });
    const replacement = await bump(11n * 10n ** 8n, 11n * 10n ** 7n);
    expect(await ask('eth_getTransactionByHash', held)).toBeNull();
    await expect(bump(maxFeePerGas, maxPriorityFeePerGas)).rejects.toMatchObject(refused);
    await ask('evm_mine');
    expect((await blockOf(ask, 'latest')).transactions).toEqual([replacement]);
  });

  test('a transaction that pays less than the base fee waits until that falls, or is replaced', async () => {
    const { ask, transfer } = await devNode(manual);
    const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
    const first = await transfer(0, { nonce: 0, ...fees });
    const second = await transfer(0, { nonce: 1, ...fees });
    const mineAt = async (baseFee: Hex) => {
      await ask('anvil_setNextBlockBaseFeePerGas', baseFee);
      await ask('evm_mine');
      return (await blockOf(ask, 'latest')).transactions;
    };
    expect(await mineAt('0x174876e800')).toEqual([]);
    expect(await ask('eth_getTransactionByHash', first)).toMatchObject({ hash: first, blockHash: null });
    expect(await mineAt('0x7')).toEqual([first, second]);
  });

  test('a transaction whose nonce was used is removed', async () => {
    const { ask, transfer } = await devNode(manual);
    await transfer(0, { nonce: 0 });
    await transfer(0, { nonce: 2 });
    await ask('anvil_setNonce', accountAt(0), '0x2');
    expect(await ask('txpool_status')).toEqual({ pending: '0x1', queued: '0x0' });
    await ask('evm_mine');
    expect(await ask('eth_getTransactionCount', accountAt(0), 'latest')).toBe('0x3');
    await expect(transfer(0, { nonce: 1 })).rejects.toMatchObject({ code: -32001, message: 'Nonce too low' });
  });

  test('a transaction that can no longer pay is dropped, and the reason is recorded', async () => {
    const { ask, transfer } = await devNode(manual);
    const hash = await transfer(0, { nonce: 0, value: 10n ** 18n });
    await ask('hardhat_setBalance', accountAt(0), '0x1');
    await ask('evm_mine');
    expect((await blockOf(ask, 'latest')).transactions).toEqual([]);
    expect(await ask('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' });
    expect(await ask('linea_getTransactionExclusionStatusV1', hash)).toMatchObject({
      txHash: hash,
      txRejectionStage: 'SEQUENCER',
      blockNumber: '0x1',
    });
  });

  test('dropping removes a transaction', async () => {
    const { ask, transfer } = await devNode(manual);
    const [first, second] = [await transfer(0, { nonce: 0 }), await transfer(1, { nonce: 0 })];
    expect(await ask('anvil_dropTransaction', first)).toBe(first);
    expect(await ask('anvil_dropTransaction', first)).toBeNull();
    expect(await ask('hardhat_dropTransaction', second)).toBe(true);
    await transfer(2, { nonce: 0 });
    expect(await ask('txpool_content')).toMatchObject({ pending: { [accountAt(2)]: { 0: { nonce: '0x0' } } } });
    await ask('anvil_dropAllTransactions');
    await ask('evm_mine');
    expect((await blockOf(ask, 'latest')).transactions).toEqual([]);
  });
});

describe('the pool refuses transactions with the messages of docs/spec/fees.md 7', () => {
  const denied = [accountAt(3), stranger('dd').toUpperCase().replace('0X', '0x') as Hex];
  const profile = devnet({ pool: { margin: 0.8, deniedAddresses: denied, delegationsRefused: true } });
  const strict = () => devNode({ chain: { kind: 'devnet', network: profile } });
  const common = new Common({ chain: { ...Mainnet, chainId: 59_139 }, hardfork: Hardfork.Prague });
  const key = hexToBytes(DEV_ACCOUNTS[0]!.privateKey);
  const authorizationList = [
    eoaCode7702SignAuthorization(
      { chainId: '0xe703', address: stranger('dd'), nonce: '0x0' },
      hexToBytes(DEV_ACCOUNTS[1]!.privateKey),
    ),
  ];
  const delegation = bytesToHex(
    createEOACode7702Tx(
      {
        nonce: 0,
        gasLimit: 100_000n,
        to: stranger('11'),
        maxFeePerGas: 10n ** 9n,
        maxPriorityFeePerGas: 10n ** 8n,
        authorizationList,
      },
      { common },
    )
      .sign(key)
      .serialize(),
  );

  test.each<[string, Parameters<Awaited<ReturnType<typeof devNode>>['transfer']>, string]>([
    [
      'gas limit',
      [0, { nonce: 0, gasLimit: 24_000_001n }],
      'Gas limit of transaction is greater than the allowed max of 24000000',
    ],
    [
      'calldata',
      [0, { nonce: 0, gasLimit: 9_000_000n, data: `0x${'00'.repeat(60_001)}` }],
      'Calldata of transaction is greater than the allowed max of 60000',
    ],
    [
      'precompile 0x11',
      [0, { nonce: 0, to: `0x${'11'.padStart(40, '0')}` }],
      'destination address is a precompile address and cannot receive transactions',
    ],
    [
      'precompile 0x100',
      [0, { nonce: 0, to: `0x${'100'.padStart(40, '0')}` }],
      'destination address is a precompile address and cannot receive transactions',
    ],
    [
      'sender',
      [3, { nonce: 0 }],
      `sender ${accountAt(3)} is blocked as appearing on the SDN or other legally prohibited list`,
    ],
    [
      'recipient',
      [0, { nonce: 0, to: stranger('dd') }],
      `recipient ${stranger('dd')} is blocked as appearing on the SDN or other legally prohibited list`,
    ],
    ['price', [0, { nonce: 0, maxPriorityFeePerGas: 1n }], 'Gas price too low'],
  ])('%s', async (_name, [account, fields], message) => {
    const { transfer } = await strict();
    await expect(transfer(account, fields)).rejects.toMatchObject({ code: -32000, message });
  });

  test('types 3 and 4 are refused where the pool denies them, and a delegation is sealed elsewhere', async () => {
    const { ask } = await strict();
    // Fields of EIP-4844, the signature recovers to no account: the type is refused before it is looked at.
    const fields = ['0xe703', '0x', '0x1', '0x1', '0x5208', stranger('11'), '0x', '0x', [], '0x1', [stranger('01')]];
    const raw = bytesToHex(Uint8Array.of(3, ...RLP.encode([...fields, '0x', '0x1', '0x1'])));
    const refused = (name: string) => ({ code: -32000, message: expect.stringContaining(name) });
    await expect(ask('eth_sendRawTransaction', raw)).rejects.toMatchObject(refused('BLOB_TX_NOT_ALLOWED'));
    await expect(ask('eth_sendRawTransaction', delegation)).rejects.toMatchObject(
      refused('DELEGATE_CODE_TX_NOT_ALLOWED'),
    );
    const open = await devNode();
    const hash = await open.ask<Hex>('eth_sendRawTransaction', delegation);
    expect(await open.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', type: '0x4' });
    expect(await open.ask('eth_getCode', accountAt(1), 'latest')).toBe(`0xef0100${'dd'.repeat(20)}`);
  });

  test('an authorization with a denied address', async () => {
    const deny = async (address: Hex) => {
      const network = devnet({ pool: { deniedAddresses: [address] } });
      return (await devNode({ chain: { kind: 'devnet', network } })).ask('eth_sendRawTransaction', delegation);
    };
    await expect(deny(accountAt(1))).rejects.toMatchObject({
      message: expect.stringMatching(/^authorization authority /),
    });
    await expect(deny(stranger('dd'))).rejects.toMatchObject({
      message: expect.stringMatching(/^authorization address /),
    });
  });

  test('checks run in the order of the reference node', async () => {
    const { transfer } = await strict();
    const everything = {
      nonce: 0,
      gasLimit: 24_000_001n,
      maxPriorityFeePerGas: 1n,
      data: `0x${'00'.repeat(60_001)}`,
    } as const;
    const to = `0x${'1'.padStart(40, '0')}` as const;
    const refusal = (account: number, fields: object) => transfer(account, { ...everything, ...fields });
    await expect(refusal(3, { to })).rejects.toMatchObject({ message: expect.stringMatching(/^sender/) });
    await expect(refusal(0, { to })).rejects.toMatchObject({ message: expect.stringMatching(/precompile/) });
    await expect(refusal(0, {})).rejects.toMatchObject({ message: expect.stringMatching(/^Gas limit/) });
    await expect(refusal(0, { gasLimit: 9_000_000n })).rejects.toMatchObject({
      message: expect.stringMatching(/^Calldata/),
    });
    await expect(refusal(0, { gasLimit: 21_000n, data: '0x' })).rejects.toMatchObject({ message: 'Gas price too low' });
    await expect(refusal(0, { gasLimit: 21_000n, data: '0x', maxFeePerGas: 6n })).rejects.toMatchObject({
      code: -32009,
    });
  });

  test('the margin of the pool is 0.8 of the cost, to the wei (docs/spec/fees.md 2.1)', async () => {
    const { ask, node, transfer } = await devNode();
    const fields = { nonce: 0, maxFeePerGas: 10n ** 9n, gasLimit: 21_000n };
    const explained = await node.explainEstimate([
      {
        from: accountAt(0),
        to: stranger('11'),
        value: '0x1',
        maxFeePerGas: '0x3b9aca00',
        maxPriorityFeePerGas: '0x1bb0000',
      },
    ]);
    const { extraData } = await ask<{ extraData: Hex }>('eth_getBlockByNumber', 'latest', false);
    const unit = (at: number) => BigInt(`0x${extraData.slice(2 + 2 * at, 10 + 2 * at)}`) * 1000n;
    const cost = (unit(5) * BigInt(explained.evidence.compressedTxSize)) / 21_000n + unit(1);
    const least = BigInt(Math.trunc(0.8 * Number(cost)));
    await expect(transfer(0, { ...fields, maxPriorityFeePerGas: least - 1n })).rejects.toMatchObject({
      message: 'Gas price too low',
    });
    await transfer(0, { ...fields, maxPriorityFeePerGas: least });
  });
});

describe('sealing', () => {
  test('automatic mining starts with pending transactions, and can be switched off', async () => {
    const { ask, transfer, number } = await devNode(manual);
    expect(await ask('hardhat_getAutomine')).toBe(false);
    await transfer(0, { nonce: 0 });
    expect(await number()).toBe(0);
    await ask('evm_setAutomine', true);
    expect(await ask('anvil_getAutomine')).toBe(true);
    expect(await number()).toBe(1);
    await ask('evm_setAutomine', false);
    await transfer(0, { nonce: 1 });
    expect(await number()).toBe(1);
  });

  test('interval mining seals blocks, also empty ones, until the interval is zero', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { ask, transfer, number } = await devNode({ chain: { kind: 'devnet', mining: { intervalSeconds: 2000 } } });
    const hash = await transfer(0, { nonce: 0 });
    for (let block = 1; block <= 4; block++) {
      await vi.advanceTimersByTimeAsync(2_000_000);
      await eventually(async () => expect(await number()).toBe(block));
    }
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' });
    expect(await ask('anvil_getIntervalMining')).toBe(2000);
    await ask('evm_setIntervalMining', 0);
    await vi.advanceTimersByTimeAsync(10_000_000);
    expect(await number()).toBe(4);
    await ask('evm_mine');
    expect(await number()).toBe(5);
    await ask('evm_setIntervalMining', 1000);
    expect(await ask('anvil_getIntervalMining')).toBe(1);
  });

  test('an interval must be above zero', async () => {
    const chain = { kind: 'devnet', mining: { intervalSeconds: 0 } } as const;
    await expect(devNode({ chain })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
  });

  test('evm_mine, anvil_mine and hardhat_mine accept the parameters of their tools', async () => {
    const { ask, number } = await devNode();
    const time = async () => Number((await blockOf(ask, 'latest')).timestamp);
    await ask('evm_mine');
    await ask('evm_mine', { blocks: 2 });
    expect(await number()).toBe(3);
    const later = (await time()) + 1000;
    await ask('evm_mine', later);
    expect([await number(), await time()]).toEqual([4, later]);
    await expect(ask('evm_mine', later)).rejects.toMatchObject({ code: -32602 });
    await ask('anvil_mine', '0x3', '0x3c');
    expect([await number(), await time()]).toEqual([7, later + 180]);
    await ask('hardhat_mine', '0x2', '0x3c');
    const first = Number((await blockOf(ask, '0x8')).timestamp);
    expect([await number(), await time()]).toEqual([9, first + 60]);
    await ask('hardhat_mine', '0x2', '0x0');
    await ask('hardhat_mine');
    expect(await number()).toBe(12);
  });
});
