import { describe, expect, onTestFinished, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Network } from '../../src/networks/network.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { Anvil, anvilPath } from '../support/anvil.js';
import { stranger } from '../support/dev-node.js';
import { ShiftedClock } from '../support/shifted-clock.js';

if (anvilPath() === undefined)
  console.warn(`No light node over anvil: it has no program for ${process.platform} ${process.arch}.`);

/** A profile of anvil's chain, as `../shared/interop` gives it. */
const network: Network = {
  ...devnet(),
  name: 'anvil',
  chainId: 31_337,
  sealing: {},
  gasSearch: 'exact',
  forks: [
    { hardfork: 'prague', block: 0, timestamp: 0, blobs: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n } },
  ],
};
type BlockJson = { readonly number: string; readonly hash: string };
const quantity = (number: number) => `0x${number.toString(16)}`;

/** Anvil 1.7.1, and a light node over it. */
async function overAnvil({ maxReorgDepth = 64, profile = network } = {}) {
  const anvil = await Anvil.start('prague', [], { chainId: network.chainId, accounts: 10 });
  onTestFinished(() => anvil.close());
  const clock = new ShiftedClock();
  const chain = { kind: 'light', network: profile, endpoints: [anvil.url], maxReorgDepth } as const;
  const node = await createInlineNode({ chain, clock });
  onTestFinished(() => node.close());
  const reports: AnswerReport[] = [];
  node.on('answer', (report) => void reports.push(report));
  const ask = <T = unknown>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;
  return { anvil, node, ask, clock, reports };
}

describe.skipIf(anvilPath() === undefined)('a light node over anvil', () => {
  test.each([
    ['3 blocks', 97, 0, 64],
    ['3 blocks, others in their place', 97, 2, 64],
    ['3 blocks, more in their place', 97, 6, 64],
    ['60 blocks', 40, 1, 64],
    ['all 100 blocks', 0, 3, 128],
  ])('evm_revert at 100 blocks: %s', async (_, keep, make, maxReorgDepth) => {
    const { anvil, ask, clock, reports } = await overAnvil({ maxReorgDepth });
    await anvil.ask('anvil_setBlockTimestampInterval', 1);
    const [from] = await anvil.ask<string[]>('eth_accounts');
    if (keep > 0) await anvil.ask('anvil_mine', quantity(keep));
    const snapshot = await anvil.ask('evm_snapshot');
    await anvil.ask('anvil_mine', quantity(100 - keep));
    expect(await ask('eth_blockNumber')).toBe('0x64');
    const known = await ask<BlockJson>('eth_getBlockByNumber', 'latest', false);
    await anvil.ask('evm_revert', snapshot);
    const height = () => anvil.ask<string>('eth_blockNumber').then(Number);
    expect(await height()).toBe(keep);
    for (let at = 1; at <= make; at++) {
      await anvil.ask('eth_sendTransaction', { from, to: stranger('aa'), value: '0x5' });
      // Anvil makes a block some time after its answer, of all that came until then.
      await expect.poll(height).toBe(keep + at);
    }
    clock.advance(60_000);
    reports.length = 0;
    expect(await ask('eth_blockNumber')).toBe(quantity(keep + make));
    expect(reports).toMatchObject([{ takenBack: { from: { number: 100, hash: known.hash } } }]);
    for (const [method, ...params] of [
      ['eth_getBalance', stranger('aa'), 'latest'],
      ['eth_getTransactionCount', from, 'latest'],
      ['eth_getLogs', { fromBlock: '0x1', toBlock: 'latest' }],
    ] as const)
      expect(await ask(method, ...params), method).toEqual(await anvil.ask(method, ...params));
    const newest = await anvil.ask<BlockJson>('eth_getBlockByNumber', 'latest', false);
    expect(await ask<BlockJson>('eth_getBlockByNumber', 'latest', false)).toMatchObject({ hash: newest.hash });
  });

  /** Several blocks of one second, with transfers and a contract's logs. */
  async function defaultBlocks(anvil: Anvil): Promise<string> {
    const [from] = await anvil.ask<string[]>('eth_accounts');
    // LOG0 of the block's number: NUMBER, PUSH0, MSTORE, PUSH1 32, PUSH0, LOG0.
    await anvil.ask('anvil_setCode', stranger('cc'), '0x435f5260205fa000');
    for (let at = 0; at < 8; at++) {
      await anvil.ask('anvil_setNextBlockBaseFeePerGas', '0x3b9aca00');
      const to = at % 2 === 0 ? stranger('cc') : stranger('aa');
      await anvil.ask('eth_sendTransaction', { from, to, value: at % 2 === 0 ? '0x0' : '0x7' });
      await expect.poll(() => anvil.ask<string>('eth_blockNumber').then(Number)).toBe(at + 1);
    }
    const times = new Set<string>();
    for (let at = 1; at <= 8; at++) {
      const { timestamp } = await anvil.ask<{ timestamp: string }>('eth_getBlockByNumber', quantity(at), false);
      times.add(timestamp);
    }
    expect(times.size, 'no two blocks share a second').toBeLessThan(8);
    return from!;
  }
  /** Without what receipts of anvil 1.7.1 have besides: a price of blobs where there are none, and a time as a number. */
  function plain(method: string, answer: unknown): unknown {
    if (method !== 'eth_getBlockReceipts') return answer;
    return (answer as Record<string, unknown>[]).map(({ blobGasPrice, blockTimestamp, ...receipt }) => {
      expect([blobGasPrice, typeof blockTimestamp], 'a fault of anvil is gone').toEqual(['0x1', 'number']);
      return receipt;
    });
  }
  const questions = (from: string) =>
    [
      ['eth_getBalance', stranger('aa'), 'latest'],
      ['eth_getTransactionCount', from, 'latest'],
      ['eth_getLogs', { fromBlock: '0x1', toBlock: 'latest' }],
      ['eth_getBlockReceipts', '0x1'],
      ['eth_getCode', stranger('cc'), 'latest'],
      ['eth_call', { to: stranger('cc') }, 'latest'],
    ] as const;

  test('with its default times: refused by default, with block, times and setting', async () => {
    const { anvil, ask } = await overAnvil();
    const from = await defaultBlocks(anvil);
    await expect(ask(...questions(from)[2]!)).rejects.toThrow(
      /header of block \d+ was refused: TIMESTAMP_ORDER \(its time is (\d+), that of its parent \1; the profile's equalTimestamps: 'allowed' takes/,
    );
  });

  test('with its default times, which the profile allows', async () => {
    const { anvil, ask } = await overAnvil({ profile: { ...network, equalTimestamps: 'allowed' } });
    const from = await defaultBlocks(anvil);
    for (const [method, ...params] of questions(from))
      expect(await ask(method, ...params), method).toEqual(plain(method, await anvil.ask(method, ...params)));
  });

  test('a fork of it, with its default times', async () => {
    const profile: Network = { ...network, equalTimestamps: 'allowed' };
    const { anvil } = await overAnvil();
    const from = await defaultBlocks(anvil);
    const fork = await createInlineNode({
      chain: { kind: 'devnet', fork: { network: profile, endpoints: [anvil.url] } },
    });
    onTestFinished(() => fork.close());
    const ask = <T = unknown>(method: string, ...params: unknown[]) =>
      fork.request<UntypedMethod>({ method, params }) as Promise<T>;
    for (const [method, ...params] of questions(from))
      expect(await ask(method, ...params), method).toEqual(plain(method, await anvil.ask(method, ...params)));
    // The fork goes on by itself.
    await ask('anvil_impersonateAccount', from);
    const before = BigInt(await ask<string>('eth_getBalance', stranger('aa'), 'latest'));
    await ask('eth_sendTransaction', { from, to: stranger('aa'), value: '0x9' });
    expect(BigInt(await ask<string>('eth_getBalance', stranger('aa'), 'latest'))).toBe(before + 9n);
    expect(BigInt(await anvil.ask<string>('eth_getBalance', stranger('aa'), 'latest'))).toBe(before);
  });
});
