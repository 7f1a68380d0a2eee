import { decodeEventLog, encodeErrorResult, encodeFunctionData, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { layerOneOf, ROLLUP, SERVICE, sendMessage, withdraw } from '../support/bridge.js';
import { accountAt, devNode, stranger, word } from '../support/dev-node.js';
import { hashOf, treeOf } from '../support/message-scene.js';
import { settledScene } from '../support/settled-scene.js';

const ETHER = 10n ** 18n;
const quantity = (value: bigint): Hex => `0x${value.toString(16)}`;

test.each([0, 1, 31, 32, 33])('a finalization of %i messages anchors their trees, and no others', async (count) => {
  const dev = await devNode({ chain: { kind: 'devnet', mining: 'manual', finality: { delayBlocks: 0 } } });
  const l1 = layerOneOf(dev);
  const [from, to] = [accountAt(2), stranger('c1')];
  const sent = Array.from({ length: count }, (_, i) => ({
    ...{ from, to, fee: 0n, value: BigInt(i), nonce: BigInt(i + 1), data: '0x' as const },
  }));
  for (const { value } of sent)
    await dev.ask('eth_sendTransaction', { from, to: SERVICE, value: quantity(value), data: sendMessage(to) });
  await dev.ask('anvil_mine', '0x1');
  const hashes = sent.map(hashOf);
  const trees = [hashes.slice(0, 32), hashes.slice(32)].filter((run) => run.length > 0).map((run) => treeOf(run));
  const topics = ['0x300e6f978eee6a4b0bba78dd8400dc64fd5652dbfc868a2258e16d0977be222b'];
  const added = await l1<{ topics: Hex[] }[]>('eth_getLogs', { fromBlock: '0x0', address: ROLLUP, topics });
  expect(added.map((log) => log.topics.slice(1))).toEqual(trees.map((levels) => [levels.at(-1)![0], word(5n)]));
  const { messages } = await dev.node.messages({ address: to, fromBlock: 0, toBlock: 1 });
  expect(messages.map(({ hash, state }) => [hash, state])).toEqual(hashes.map((hash) => [hash, 'anchored']));
  for (const [i, hash] of hashes.entries())
    expect(await dev.node.prepareClaim(hash, { fromBlock: 1, toBlock: 1 })).toMatchObject({
      ...{ status: 'anchored', slotsAllow: true, wouldPass: true, leafIndex: i % 32, depth: 5 },
      root: trees[i >> 5]!.at(-1)![0],
      siblings: Array.from({ length: 5 }, (_, height) => trees[i >> 5]![height]![((i % 32) >> height) ^ 1]),
    });
  const unsent = hashOf({ from, to, fee: 0n, value: 1n, nonce: 99n, data: '0x' });
  expect(await dev.node.prepareClaim(unsent, { fromBlock: 1, toBlock: 1 })).toMatchObject({
    ...{ status: 'notFound', proved: { from: 1, to: 1 } },
  });
});

describe('the rate limit of withdrawals', () => {
  const abi = parseAbi([
    'function resetRateLimitAmount(uint256 amount)',
    'event LimitAmountChanged(address indexed amountChangeBy, uint256 amount, bool amountUsedLoweredToLimit, bool usedAmountResetToZero)',
    'error RateLimitExceeded()',
  ]);
  const limitTo = (amount: bigint) => encodeFunctionData({ abi, functionName: 'resetRateLimitAmount', args: [amount] });
  const EXCEEDED = encodeErrorResult({ abi, errorName: 'RateLimitExceeded' });
  const REFUSED = { status: 'anchored', slotsAllow: false, refusal: 'RateLimitExceeded' };
  const to = stranger('c0');

  test('is told before a claim, which fails when it is sent, by a devnet and by a light node', async () => {
    const { dev, clock, checkpoint, open } = await settledScene(0);
    const l1 = layerOneOf(dev);
    const set = await l1('eth_sendTransaction', { from: accountAt(0), to: ROLLUP, data: limitTo(5n * ETHER) });
    const { logs } = await l1<{ logs: { topics: [Hex]; data: Hex }[] }>('eth_getTransactionReceipt', set);
    expect(logs.map((log) => decodeEventLog({ abi, ...log }).args)).toMatchObject([
      { amount: 5n * ETHER, amountUsedLoweredToLimit: false, usedAmountResetToZero: true },
    ]);
    const sent: Awaited<ReturnType<typeof withdraw>>[] = [];
    for (const value of [3n * ETHER, 2n * ETHER + 1n, 2n * ETHER, 0n, 5n * ETHER + 1n])
      sent.push(await withdraw(dev, accountAt(1), to, value));
    await dev.ask('anvil_mine', '0x3');
    const { node } = await open({ checkpoint: { root: await checkpoint() } });
    const ask = async (at: number) => {
      clock.advance(10_000);
      const { hash, blockNumber } = sent[at]!;
      const [own, light] = [
        await dev.node.prepareClaim(hash),
        await node.prepareClaim(hash, { fromBlock: blockNumber }),
      ];
      if (own.status !== 'anchored' || light.status !== 'anchored') throw new Error(`${own.status}, ${light.status}`);
      const told = ({ slotsAllow, refusal, wouldPass }: typeof own) => ({ slotsAllow, refusal, wouldPass });
      expect(told(light)).toEqual(told(own));
      return own;
    };
    const claim = async (at: number) => {
      const { transaction } = await ask(at);
      const hash = await l1('eth_sendTransaction', { from: accountAt(1), gas: '0x50000', ...transaction });
      return (await l1<{ status: Hex }>('eth_getTransactionReceipt', hash)).status;
    };
    const passes = { slotsAllow: true, wouldPass: true };
    // More than the limit of a day is never paid, not even first.
    expect(await ask(4)).toMatchObject(REFUSED);
    expect(await ask(1)).toMatchObject(passes);
    expect(await ask(0)).toMatchObject(passes);
    expect(await claim(0)).toBe('0x1');
    // A wei too much, with what is used.
    const above = await ask(1);
    expect(above).toMatchObject(REFUSED);
    expect(above).not.toHaveProperty('wouldPass');
    await expect(l1('eth_call', { from: accountAt(1), ...above.transaction }, 'latest')).rejects.toMatchObject({
      data: EXCEEDED,
    });
    expect(await claim(1)).toBe('0x0');
    expect(await l1('eth_getBalance', to, 'latest')).toBe(quantity(3n * ETHER));
    expect(await ask(2)).toMatchObject(passes);
    expect(await claim(2)).toBe('0x1');
    // Nothing is no amount.
    expect(await ask(3)).toMatchObject(passes);
    expect(await claim(3)).toBe('0x1');
  });

  test('begins anew a day later', async () => {
    const dev = await devNode();
    const l1 = layerOneOf(dev);
    await l1('eth_sendTransaction', { from: accountAt(0), to: ROLLUP, data: limitTo(5n * ETHER) });
    const [first, second] = [
      await withdraw(dev, accountAt(1), to, 5n * ETHER),
      await withdraw(dev, accountAt(1), to, 1n),
    ];
    await dev.ask('anvil_mine', '0x2');
    const claim = async ({ hash }: typeof first) => {
      const prepared = await dev.node.prepareClaim(hash);
      if (prepared.status !== 'anchored') throw new Error(prepared.status);
      const { transaction, slotsAllow } = prepared;
      const sent = await l1('eth_sendTransaction', { from: accountAt(1), gas: '0x50000', ...transaction });
      return [slotsAllow, (await l1<{ status: Hex }>('eth_getTransactionReceipt', sent)).status];
    };
    expect(await claim(first)).toEqual([true, '0x1']);
    expect(await claim(second)).toEqual([false, '0x0']);
    await dev.ask('anvil_increaseTime', 86_400 - 60);
    await dev.ask('anvil_mine', '0x3');
    expect(await claim(second)).toEqual([false, '0x0']);
    await dev.ask('anvil_increaseTime', 120);
    await dev.ask('anvil_mine', '0x3');
    expect(await claim(second)).toEqual([true, '0x1']);
    expect(await l1('eth_getBalance', to, 'latest')).toBe(quantity(5n * ETHER + 1n));
  });

  test('is set by the first account alone; one below what is used lowers that', async () => {
    const dev = await devNode();
    const l1 = layerOneOf(dev);
    await expect(l1('eth_call', { from: accountAt(1), to: ROLLUP, data: limitTo(1n) }, 'latest')).rejects.toMatchObject(
      { code: 3 },
    );
    const sent = await withdraw(dev, accountAt(1), to, 3n * ETHER);
    await dev.ask('anvil_mine', '0x2');
    const claim = await dev.node.prepareClaim(sent.hash);
    if (claim.status !== 'anchored') throw new Error(claim.status);
    await l1('eth_sendTransaction', { from: accountAt(1), ...claim.transaction });
    // currentPeriodAmountInWei
    const used = () => l1('eth_getStorageAt', ROLLUP, word(154n), 'latest');
    expect(await used()).toBe(word(3n * ETHER));
    await l1('eth_sendTransaction', { from: accountAt(0), to: ROLLUP, data: limitTo(2n * ETHER) });
    expect(await used()).toBe(word(2n * ETHER));
    const next = await withdraw(dev, accountAt(1), to, 1n);
    await dev.ask('anvil_mine', '0x2');
    expect(await dev.node.prepareClaim(next.hash)).toMatchObject(REFUSED);
    await l1('eth_sendTransaction', { from: accountAt(0), to: ROLLUP, data: limitTo(2n * ETHER + 1n) });
    expect(await dev.node.prepareClaim(next.hash)).toMatchObject({ slotsAllow: true, wouldPass: true });
  });
});
