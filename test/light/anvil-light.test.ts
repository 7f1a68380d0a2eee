import { describe, expect, onTestFinished, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Network } from '../../src/networks/network.js';
import type { AnswerReport } from '../../src/rpc/protocol/answer-report.js';
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
async function overAnvil({ maxReorgDepth = 64, options = [] as readonly string[] } = {}) {
  const anvil = await Anvil.start('prague', options, { chainId: network.chainId, accounts: 10 });
  onTestFinished(() => anvil.close());
  const clock = new ShiftedClock();
  const chain = { kind: 'light', network, endpoints: [anvil.url], maxReorgDepth } as const;
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
    for (let at = 0; at < make; at++)
      await anvil.ask('eth_sendTransaction', { from, to: stranger('aa'), value: '0x5' });
    await expect.poll(() => anvil.ask<string>('eth_blockNumber').then(Number)).toBe(keep + make);
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
});
