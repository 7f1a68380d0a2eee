import { describe, expect, test } from 'vitest';
import { TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import {
  accountAt,
  type DevNode,
  devNode,
  KeptStore,
  PRICE,
  proved,
  settled,
  stranger,
  word,
} from '../support/dev-node.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const slotOf = (address: Hex) => bytesToHex(tokenBalanceSlot(hexToBytes(address)));
const NEWCOMER = stranger('77');

/** Moves tokens and wei, one transaction and so one block each. */
async function trade({ ask }: DevNode, account: number, from: number, count: number): Promise<Hex[]> {
  const hashes: Hex[] = [];
  for (let nonce = from; nonce < from + count; nonce++) {
    const data = transferCalldata(NEWCOMER, BigInt(nonce + 1));
    const raw = signTransaction(account, { nonce, to: TEST_TOKEN, data, gasLimit: 80_000n, ...PRICE });
    hashes.push(await ask('eth_sendRawTransaction', raw));
  }
  return hashes;
}

/** Everything that can be read of a node, at every block it has. */
async function everything({ node, ask, number }: DevNode, hashes: readonly Hex[]) {
  const head = await number();
  const tags = ['latest', 'pending', 'safe', 'finalized', 'earliest'];
  const at = Array.from({ length: head + 1 }, (_, i) => `0x${i.toString(16)}`);
  const read = (method: string, ...params: unknown[]) => ask(method, ...params).catch((error: Error) => error.message);
  const l1 = (method: string, ...params: unknown[]) => node.l1.request<UntypedMethod>({ method, params });
  return {
    blocks: await Promise.all([...at, ...tags].map((block) => read('eth_getBlockByNumber', block, true))),
    receipts: await Promise.all(hashes.map((hash) => read('eth_getTransactionReceipt', hash))),
    transactions: await Promise.all(hashes.map((hash) => read('eth_getTransactionByHash', hash))),
    balances: await Promise.all([...at, ...tags].map((block) => read('eth_getBalance', accountAt(0), block))),
    slots: await Promise.all(
      [...at, ...tags].map((block) => read('eth_getStorageAt', TEST_TOKEN, slotOf(NEWCOMER), block)),
    ),
    nonces: await Promise.all([...at, ...tags].map((block) => read('eth_getTransactionCount', accountAt(0), block))),
    proofs: await Promise.all(at.map((block) => read('linea_getProof', TEST_TOKEN, [slotOf(NEWCOMER)], block))),
    mpt: await Promise.all(at.map((block) => read('eth_getProof', TEST_TOKEN, [slotOf(NEWCOMER)], block))),
    pool: await read('txpool_content'),
    logs: await read('eth_getLogs', { fromBlock: 'earliest', toBlock: 'latest' }),
    settled: await settled(node),
    l1Head: await l1('eth_getBlockByNumber', 'latest', false),
    l1Logs: await l1('eth_getLogs', { fromBlock: 'earliest', toBlock: 'latest' }),
  };
}

describe('evm_snapshot and evm_revert', () => {
  test('a revert restores everything that can be read, and the chain continues from there', async () => {
    const dev = await devNode();
    const { ask, number } = dev;
    const before = await trade(dev, 0, 0, 5);
    await ask('evm_setAutomine', false);
    const waiting = await trade(dev, 0, 5, 1);
    await ask('evm_setAutomine', false);
    await ask('anvil_setBalance', NEWCOMER, '0x7');
    const was = await everything(dev, [...before, ...waiting]);
    const root = await settled(dev.node);
    const id = await ask<Hex>('evm_snapshot');

    await ask('evm_setAutomine', true);
    const after = await trade(dev, 0, 6, 4);
    await ask('anvil_setBalance', NEWCOMER, '0x8');
    await ask('evm_mine', { blocks: 3 });
    await ask('evm_setAutomine', false);
    expect((await settled(dev.node)).block).toBeGreaterThan(root.block);
    expect(await ask('evm_revert', id)).toBe(true);

    expect(await everything(dev, [...before, ...waiting])).toEqual(was);
    for (const hash of after) expect(await ask('eth_getTransactionReceipt', hash)).toBeNull();
    expect(await settled(dev.node)).toEqual(root);
    expect((await proved(dev, TEST_TOKEN, [slotOf(NEWCOMER)])).slots).toHaveLength(1);

    await ask('evm_mine', { blocks: 3 });
    expect(await number()).toBe(8);
    expect(await ask('eth_getBalance', NEWCOMER, 'latest')).toBe('0x7');
    const proof = await proved(dev, TEST_TOKEN, [slotOf(NEWCOMER)]);
    expect(BigInt(bytesToHex(proof.slots[0]!.value))).toBe(21n);
  });

  test('the same blocks get the same hashes again after a revert', async () => {
    const dev = await devNode();
    const id = await dev.ask('evm_snapshot');
    const run = async () => {
      const { timestamp } = await dev.ask<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
      await dev.ask('evm_setNextBlockTimestamp', Number(timestamp) + 100);
      await trade(dev, 0, 0, 1);
      await dev.ask('anvil_mine', 4, 10);
      const l1 = (method: string, ...params: unknown[]) => dev.node.l1.request<UntypedMethod>({ method, params });
      return {
        l2: await dev.ask('eth_getBlockByNumber', 'latest', false),
        l1: await l1('eth_getBlockByNumber', 'latest', false),
        l1Proof: await l1('eth_getProof', dev.node.info.rollupAddress!, ['0x119'], 'latest'),
      };
    };
    const first = await run();
    expect(await dev.ask('evm_revert', id)).toBe(true);
    expect(await run()).toEqual(first);
  });

  test('a revert restores the clock', async () => {
    const { ask } = await devNode();
    const time = async () => Number((await ask<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false)).timestamp);
    await ask('evm_mine');
    const before = await time();
    const id = await ask('evm_snapshot');
    await ask('evm_increaseTime', 100_000);
    await ask('evm_mine');
    expect(await time()).toBeGreaterThanOrEqual(before + 100_000);
    await ask('evm_revert', id);
    await ask('evm_mine');
    expect(await time()).toBeLessThan(before + 1000);
  });

  test('a revert removes the snapshot and all later ones', async () => {
    const { ask, number } = await devNode();
    const [first, second] = [await ask<Hex>('evm_snapshot'), await ask<Hex>('evm_snapshot')];
    expect([first, second]).toEqual(['0x1', '0x2']);
    await ask('evm_mine');
    const third = await ask('evm_snapshot');
    expect(await ask('evm_revert', second)).toBe(true);
    expect(await number()).toBe(0);
    expect(await ask('evm_revert', third)).toBe(false);
    expect(await ask('evm_revert', second)).toBe(false);
    expect(await ask('evm_revert', '0x63')).toBe(false);
    expect(await ask('evm_revert', first)).toBe(true);
    await expect(ask('evm_revert', 'never')).rejects.toMatchObject({ code: -32602 });
  });

  test.each(['poseidon2', 'mimc'] as const)(
    'a revert over more blocks than states are held of, %s',
    async (scheme) => {
      const dev = await devNode({ chain: { kind: 'devnet', scheme, finality: { heldFinalizations: 3 } } });
      const { ask, node } = dev;
      const hashes = await trade(dev, 0, 0, 6);
      const was = await everything(dev, hashes);
      const root = await settled(node);
      const id = await ask('evm_snapshot');
      await trade(dev, 1, 0, 6);
      await ask('evm_mine', { blocks: 150 });
      await ask('linea_getProof', TEST_TOKEN, [], '0xa0');
      await expect(ask('linea_getProof', TEST_TOKEN, [], '0x4')).rejects.toMatchObject({ code: -32600 });
      expect(await ask('evm_revert', id)).toBe(true);
      expect(await settled(node)).toEqual(root);
      expect(await everything(dev, hashes)).toEqual(was);
      const proof = await proved(dev, TEST_TOKEN, [slotOf(NEWCOMER)]);
      expect(BigInt(bytesToHex(proof.slots[0]!.value))).toBe(10n);
      await trade(dev, 0, 6, 3);
      const later = await proved(dev, TEST_TOKEN, [slotOf(NEWCOMER)]);
      expect(BigInt(bytesToHex(later.slots[0]!.value))).toBe(28n);
    },
    60_000,
  );

  test('a stored devnet can be reverted too', async () => {
    const store = new KeptStore();
    const dev = await devNode({ store });
    const hashes = await trade(dev, 0, 0, 4);
    await dev.ask('anvil_setStorageAt', TEST_TOKEN, '0x63', word(5n));
    const was = await everything(dev, hashes);
    const id = await dev.ask('evm_snapshot');
    await trade(dev, 0, 4, 4);
    await dev.ask('evm_revert', id);
    await dev.node.close();
    const again = await devNode({ store });
    expect(await everything(again, hashes)).toEqual(was);
    expect(await again.ask('eth_getStorageAt', TEST_TOKEN, '0x63', 'latest')).toBe(word(5n));
    expect(await store.keys('blocks')).toEqual([0, 1, 2, 3, 4]);
    await trade(again, 0, 4, 3);
    await proved(again, TEST_TOKEN, [slotOf(NEWCOMER)]);
  });
});
