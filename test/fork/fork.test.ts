import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { forkScene, fund, HOLDER, RECEIVER, tokensOf, transferAsHolder } from '../support/fork-scene.js';

interface BlockJson {
  readonly number: Hex;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly stateRoot: Hex;
}

describe('a fork of a network', () => {
  test('begins with the state of the network, which it proves', async () => {
    const { dev, open } = await forkScene();
    const fork = await open();
    expect(await fork.ask('eth_chainId')).toBe(await dev.ask('eth_chainId'));
    expect(await fork.ask('eth_blockNumber')).toBe(await dev.ask('eth_blockNumber'));
    expect(await tokensOf(fork.ask, HOLDER)).toBe(await tokensOf(dev.ask, HOLDER));
    expect(await fork.ask('eth_getCode', TEST_TOKEN, 'latest')).toBe(
      await dev.ask('eth_getCode', TEST_TOKEN, 'latest'),
    );
    const at = await dev.ask<Hex>('eth_blockNumber');
    expect(await fork.ask('eth_getProof', TEST_TOKEN, [word(2n)], at)).toEqual(
      await dev.ask('eth_getProof', TEST_TOKEN, [word(2n)], at),
    );
    expect(await fork.ask('eth_getBlockByNumber', at, true)).toEqual(await dev.ask('eth_getBlockByNumber', at, true));
    expect(await fork.ask('eth_getBlockByNumber', '0x1', true)).toEqual(
      await dev.ask('eth_getBlockByNumber', '0x1', true),
    );
  });

  test('a holder is impersonated and makes a transfer: the block is the one that the network would make', async () => {
    const { dev, open } = await forkScene();
    const fork = await open();
    const number = BigInt(await dev.ask<Hex>('eth_blockNumber'));
    const before = await tokensOf(fork.ask, HOLDER);
    const hash = await transferAsHolder(fork.ask, 30n);
    // The network itself does the same afterwards. The fork, which began before, must not see it.
    await fund(dev.ask);
    expect(await transferAsHolder(dev.ask, 30n)).toBe(hash);
    expect(await tokensOf(fork.ask, HOLDER)).toBe(before - 30n);
    expect(await tokensOf(fork.ask, RECEIVER)).toBe(30n);
    const own = await fork.ask<BlockJson>('eth_getBlockByNumber', 'latest', true);
    expect(own).toEqual(await dev.ask('eth_getBlockByNumber', 'latest', true));
    expect(BigInt(own.number)).toBe(number + 1n);
    expect(await fork.ask('eth_getTransactionReceipt', hash)).toEqual(await dev.ask('eth_getTransactionReceipt', hash));
    for (const address of [TEST_TOKEN, HOLDER, RECEIVER, accountAt(3)])
      expect(await fork.ask('eth_getProof', address, [word(2n)], 'latest')).toEqual(
        await dev.ask('eth_getProof', address, [word(2n)], 'latest'),
      );
    // Before the transfer.
    const at = `0x${number.toString(16)}`;
    expect(await tokensOf(fork.ask, HOLDER, at)).toBe(before);
    expect(await fork.ask('eth_getProof', HOLDER, [], at)).toEqual(await dev.ask('eth_getProof', HOLDER, [], at));
  });

  test('logs of a range that spans the network and the fork', async () => {
    const { dev, open } = await forkScene();
    const fork = await open();
    await transferAsHolder(fork.ask, 30n);
    await fund(dev.ask);
    await transferAsHolder(dev.ask, 30n);
    const filter = { address: TEST_TOKEN, fromBlock: '0x0', toBlock: 'latest' };
    const logs = await fork.ask<unknown[]>('eth_getLogs', filter);
    expect(logs).toHaveLength(5);
    expect(logs).toEqual(await dev.ask('eth_getLogs', filter));
    expect(await fork.ask('eth_getLogs', { ...filter, fromBlock: 'latest' })).toEqual(
      await dev.ask('eth_getLogs', { ...filter, fromBlock: 'latest' }),
    );
  });

  test('an older block is forked by its number', async () => {
    const { dev, open } = await forkScene();
    const fork = await open({ block: 2 });
    expect(await fork.ask('eth_blockNumber')).toBe('0x2');
    expect(await tokensOf(fork.ask, HOLDER)).toBe(2_000n);
    expect(await tokensOf(fork.ask, HOLDER, '0x1')).toBe(1_000n);
    expect(await fork.ask('eth_getBlockByNumber', '0x3', false)).toBeNull();
    const { hash } = await dev.ask<BlockJson>('eth_getBlockByNumber', '0x3', false);
    expect(await fork.ask('eth_getBlockByHash', hash, false)).toBeNull();
    const byHash = await open({ block: (await dev.ask<BlockJson>('eth_getBlockByNumber', '0x1', false)).hash });
    expect(await byHash.ask('eth_blockNumber')).toBe('0x1');
  });

  test('BLOCKHASH of the network and of the fork', async () => {
    const { dev, open } = await forkScene();
    const fork = await open();
    await fork.ask('anvil_mine', 2);
    // Returns the hash of the block whose number is the calldata.
    const reader = stranger('cc');
    await fork.ask('anvil_setCode', reader, '0x5f354060005260206000f3');
    for (const number of [1n, 3n, 4n, 5n, 6n]) {
      const found = await fork.ask<BlockJson>('eth_getBlockByNumber', `0x${number.toString(16)}`, false);
      expect(await fork.ask('eth_call', { to: reader, data: word(number) }, 'latest'), String(number)).toBe(
        number === 6n ? word(0n) : found.hash,
      );
    }
    expect((await fork.ask<BlockJson>('eth_getBlockByNumber', '0x3', false)).hash).toBe(
      (await dev.ask<BlockJson>('eth_getBlockByNumber', '0x3', false)).hash,
    );
  });
});

describe('what an answer of a fork rests on', () => {
  test('the network is named where its state was read, with its level', async () => {
    const { open, dev } = await forkScene();
    const reports: AnswerReport[] = [];
    const { ask, node } = await open();
    node.on('answer', (report) => reports.push(report));
    const last = async (method: string, ...params: unknown[]) => {
      await ask(method, ...params);
      return reports.at(-1)!;
    };
    await transferAsHolder(ask, 30n);
    const { hash } = await dev.ask<BlockJson>('eth_getBlockByNumber', 'latest', false);
    const made = await last('eth_getBalance', HOLDER, 'latest');
    expect(made).toMatchObject({ class: 'held', level: 'held', blocks: [{ number: 5 }] });
    const read = await last('eth_getBalance', stranger('dd'), 'latest');
    expect(read).toMatchObject({ class: 'proved', level: 'plain', blocks: [{ number: 5 }, { number: 4, hash }] });
    const called = await last(
      'eth_call',
      { to: TEST_TOKEN, data: `0x70a08231${word(BigInt(stranger('de'))).slice(2)}` },
      'latest',
    );
    expect(called).toMatchObject({ class: 'computed', level: 'plain' });
    const old = await last('eth_getBlockByNumber', '0x1', false);
    expect(old).toMatchObject({ class: 'proved', level: 'plain', blocks: [{ number: 1 }] });
    const own = await last('eth_getBlockByNumber', '0x5', false);
    expect(own).toMatchObject({ class: 'held', level: 'held', blocks: [{ number: 5 }] });
  });
});
