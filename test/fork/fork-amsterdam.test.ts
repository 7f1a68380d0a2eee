import { expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { FORK, FORKING as network } from '../support/amsterdam.js';
import { accountAt, PRICE, stranger } from '../support/dev-node.js';
import { forkScene } from '../support/fork-scene.js';
import type { Json } from '../support/lie-edits.js';
import { signTransaction } from '../support/sign.js';

const chain = { kind: 'devnet', network, mining: 'manual' } as const;

/** Ether to somebody new, and to somebody who is there, from one account. */
const transactions = (nonce: number) => [
  signTransaction(1, { nonce, to: stranger(`5${nonce % 10}`), value: 7n, gasLimit: 300_000n, ...PRICE }),
  signTransaction(1, { nonce: nonce + 1, to: accountAt(2), value: 1n, gasLimit: 60_000n, ...PRICE }),
];

test('a fork of a network crosses to Amsterdam as the network does, and replays its blocks', async () => {
  const scene = await forkScene([{}], { chain });
  await scene.dev.ask('evm_mine');
  const before = await scene.dev.number();
  const fork = await scene.open({ network, block: before }, {}, { mining: 'manual' });
  // Blocks of both, made of the same transactions at the same times: one before the fork, its first one, and one after it.
  for (const [at, time] of [FORK - 10, FORK, FORK + 10].entries()) {
    for (const chainOf of [scene.dev, fork]) {
      for (const raw of transactions(2 * at)) await chainOf.ask('eth_sendRawTransaction', raw);
      await chainOf.ask('evm_mine', time);
    }
    const number = `0x${(before + at + 1).toString(16)}`;
    const [ours, theirs] = await Promise.all(
      [fork, scene.dev].map(({ ask }) => ask<Json>('eth_getBlockByNumber', number, true)),
    );
    expect(ours.gasUsed).toBe(theirs.gasUsed);
    expect(ours.transactions.map(({ hash }: { hash: Hex }) => hash)).toEqual(
      theirs.transactions.map(({ hash }: { hash: Hex }) => hash),
    );
    expect([ours.slotNumber, ours.blockAccessListHash !== undefined]).toEqual([
      theirs.slotNumber,
      theirs.blockAccessListHash !== undefined,
    ]);
    expect(theirs.blockAccessListHash !== undefined).toBe(time >= FORK);
    const receipts = await Promise.all([fork, scene.dev].map(({ ask }) => ask<Json[]>('eth_getBlockReceipts', number)));
    const [own, known] = receipts.map((list) =>
      list.map(({ status, gasUsed, cumulativeGasUsed, logs }) => [
        status,
        gasUsed,
        cumulativeGasUsed,
        logs.map(({ address, topics, data }: Json) => [address, topics, data]),
      ]),
    );
    expect(own).toEqual(known);
  }
  const account = accountAt(1);
  expect(await fork.ask('eth_getBalance', account, 'latest')).toBe(
    await scene.dev.ask('eth_getBalance', account, 'latest'),
  );
  // A fork after the fork to Amsterdam runs what the network ran.
  const later = await scene.open({ network, block: before + 3 }, {}, { mining: 'manual' });
  const last = await scene.dev.ask<Json>('eth_getBlockByNumber', 'latest', false);
  for (const hash of last.transactions)
    for (const options of [{ tracer: 'callTracer' }, { tracer: 'prestateTracer' }])
      expect(await later.ask('debug_traceTransaction', hash, options)).toEqual(
        await scene.dev.ask('debug_traceTransaction', hash, options),
      );
  expect(await later.ask('eth_getBlockAccessList', last.hash)).toEqual(
    await scene.dev.ask('eth_getBlockAccessList', last.hash),
  );
  const call = { from: account, to: stranger('99'), value: '0x1' };
  expect(await later.ask('eth_estimateGas', call)).toBe(await scene.dev.ask('eth_estimateGas', call));
});
