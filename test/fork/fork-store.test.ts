import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, type DevNode, devNode, KeptStore, stranger, word } from '../support/dev-node.js';
import { forkScene, HOLDER, LATER, RECEIVER, tokensOf, transferAsHolder } from '../support/fork-scene.js';
import { transferCalldata } from '../support/sign.js';
import { copyOf } from '../support/stored-devnet.js';

describe('a fork in a store', () => {
  test('is reopened without a request, with what was read and what was made', async () => {
    const { dev, open, endpoints, layerOne, requests } = await forkScene();
    const store = new KeptStore();
    const first = await open({}, { store });
    const hash = await transferAsHolder(first.ask, 30n);
    await first.ask('anvil_setBalance', stranger('ee'), '0x5');
    const block = await first.ask('eth_getBlockByNumber', 'latest', true);
    const proof = await first.ask('eth_getProof', TEST_TOKEN, [word(2n)], 'latest');
    const receipt = await first.ask('eth_getTransactionReceipt', hash);
    await first.node.close();
    await Promise.all([...endpoints, layerOne].map((mock) => mock.close()));
    const before = requests();

    const { ask } = await open({}, { store });
    expect(await tokensOf(ask, HOLDER)).toBe((await tokensOf(dev.ask, HOLDER)) - 30n);
    expect(await tokensOf(ask, HOLDER, '0x4')).toBe(await tokensOf(dev.ask, HOLDER));
    expect(await tokensOf(ask, RECEIVER)).toBe(30n);
    expect(await ask('eth_getBlockByNumber', 'latest', true)).toEqual(block);
    expect(await ask('eth_getProof', TEST_TOKEN, [word(2n)], 'latest')).toEqual(proof);
    expect(await ask('eth_getTransactionReceipt', hash)).toEqual(receipt);
    // An edit that no block includes yet.
    expect(await ask('eth_getBalance', stranger('ee'), 'latest')).toBe('0x5');
    // A call that reads what the transfer read: the same again.
    const call = { from: HOLDER, to: TEST_TOKEN, data: transferCalldata(RECEIVER, 12n) };
    expect(await ask('eth_call', call, 'latest')).toBe(word(1n));
    expect(requests()).toBe(before);
    // What was never read cannot be had without the endpoints.
    await expect(tokensOf(ask, accountAt(5))).rejects.toThrow();
  });

  test('has its accounts also if its first opening did not end', async () => {
    const { endpoints, open } = await forkScene();
    const store = new KeptStore();
    const chain = { alloc: { [stranger('ee')]: { balance: 5n } } };
    const { options } = endpoints[0]!;
    options.tamper = ({ method }, result) => (method === 'eth_getProof' ? null : result);
    await expect(open({}, { store }, chain)).rejects.toThrow();
    options.tamper = (_, result) => result;
    const { ask } = await open({}, { store }, chain);
    expect(await ask('eth_getBalance', stranger('ee'), 'latest')).toBe('0x5');
  });

  test('makes the same blocks after a rollback during which its trie catches up', async () => {
    const { open } = await forkScene();
    const store = new KeptStore();
    const first = await open({}, { store });
    const send = async (ask: DevNode['ask'], to: Hex, time: number) => {
      await ask('evm_setNextBlockTimestamp', time);
      await ask('eth_sendTransaction', { from: accountAt(0), to, value: '0x1', gasPrice: '0x77359400' });
    };
    for (let i = 0; i < 3; i++) await send(first.ask, stranger(`c${i}`), LATER + i);
    await first.node.close();
    const made: unknown[] = [];
    for (let turns = 0; turns < 24; turns++) {
      const { ask, node } = await open({}, { store: await copyOf(store) });
      // The first one has no reader beside it.
      const reading = turns === 0 ? undefined : ask('eth_getProof', TEST_TOKEN, [], 'latest').catch(() => {});
      for (let turn = 1; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      await ask('anvil_rollback', 2);
      await send(ask, stranger('dd'), LATER + 9);
      const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
      await reading;
      made.push(hash);
      await ask('eth_getProof', TEST_TOKEN, [], 'latest');
      await node.close();
    }
    expect(new Set(made).size).toBe(1);
  });

  test('belongs to one block of one network', async () => {
    const { open } = await forkScene();
    const store = new KeptStore();
    const first = await open({ block: 2 }, { store });
    await first.node.close();
    await expect(open({ block: 3 }, { store })).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
      message: expect.stringMatching(/^chain.fork.block: is another block than that of the stored fork, 2 /),
    });
    const again = await open({ block: 2 }, { store });
    expect(await again.ask('eth_blockNumber')).toBe('0x2');
    await again.node.close();
    await expect(devNode({ store })).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });

  test('a store with a devnet is not taken for a fork', async () => {
    const { open } = await forkScene();
    const store = new KeptStore();
    const { node } = await devNode({ store });
    await node.close();
    await expect(open({}, { store })).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  });

  test('a stored node that is damaged is fetched again', async () => {
    const { dev, open, requests } = await forkScene();
    const store = new KeptStore();
    const first = await open({}, { store });
    await tokensOf(first.ask, HOLDER);
    await first.node.close();
    for (const key of await store.keys('proofs')) {
      const value = (await store.get('proofs', key))!.slice();
      value[value.length - 1]! ^= 1;
      await store.commit({ puts: [{ table: 'proofs', key, value }] });
    }
    const before = requests();
    const { ask } = await open({}, { store });
    expect(await tokensOf(ask, HOLDER)).toBe(await tokensOf(dev.ask, HOLDER));
    expect(requests()).toBeGreaterThan(before);
  });

  test('is reset without a request: what was read is still known', async () => {
    const { endpoints, open } = await forkScene();
    const { ask } = await open();
    const before = await tokensOf(ask, HOLDER);
    await transferAsHolder(ask, 30n);
    for (const endpoint of endpoints) await endpoint.close();
    await ask('anvil_reset', { forking: { blockNumber: 4 } });
    expect(await ask('eth_blockNumber')).toBe('0x4');
    expect(await tokensOf(ask, HOLDER)).toBe(before);
    expect(await tokensOf(ask, RECEIVER)).toBe(0n);
    // Snapshots of the fork before are gone.
    expect(await ask('evm_revert', '0x1')).toBe(false);
  });

  test('is cleared: only the network is left', async () => {
    const { open } = await forkScene();
    const store = new KeptStore();
    const { ask, node } = await open({}, { store });
    const before = await tokensOf(ask, HOLDER);
    await transferAsHolder(ask, 30n);
    await ask('anvil_reset');
    expect(await ask('eth_blockNumber')).toBe('0x4');
    expect(await tokensOf(ask, HOLDER)).toBe(before);
    expect(BigInt(await ask<Hex>('eth_getBalance', accountAt(2), 'latest'))).toBe(10_000n * 10n ** 18n);
    await transferAsHolder(ask, 7n);
    await node.close();
    const again = await open({}, { store });
    expect(await tokensOf(again.ask, RECEIVER)).toBe(7n);
  });
});
