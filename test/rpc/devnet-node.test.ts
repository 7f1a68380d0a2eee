import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import { DEV_TOKENS } from '../../src/chain/devnet/state/genesis.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { anchorSlots, verifyL1Anchor } from '../../src/proof/l1-anchor.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { type DevNode, devNode, proved, settled, stranger } from '../support/dev-node.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const [sender, receiver] = DEV_ACCOUNTS;
const AMOUNT = 3n * 10n ** 18n;

interface Estimate {
  gasLimit: Hex;
  baseFeePerGas: Hex;
  priorityFeePerGas: Hex;
}

describe.each(['poseidon2', 'mimc'] as const)('a devnet with a %s state', (scheme) => {
  let node: PlumblineNode;
  const ask = <T>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;

  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet', scheme } });
  });
  afterAll(() => node.close());

  const call = { from: sender!.address, to: TEST_TOKEN, data: transferCalldata(receiver!.address, AMOUNT) };

  test('an estimate is enough for the transaction, and its price follows from the header prices', async () => {
    const estimate = await ask<Estimate>('linea_estimateGas', call);
    expect(estimate.baseFeePerGas).toBe('0x7');
    const explained = await node.explainEstimate([call]);
    const head = await ask<{ extraData: Hex }>('eth_getBlockByNumber', 'latest', false);
    // The formula of docs/spec/fees.md 2 written out again, on the bytes of the header.
    const unit = (at: number) => BigInt(`0x${head.extraData.slice(2 + 2 * at, 10 + 2 * at)}`) * 1000n;
    const cost = (unit(5) * BigInt(explained.evidence.compressedTxSize)) / BigInt(estimate.gasLimit) + unit(1);
    expect(BigInt(estimate.priorityFeePerGas)).toBe(BigInt(Math.trunc(1.2 * Number(cost))));
    expect(await ask('l2_estimateGas', call)).toEqual(estimate);
    expect(await ask('eth_estimateGas', call)).toBe(estimate.gasLimit);

    const raw = signTransaction(0, {
      nonce: 0,
      to: TEST_TOKEN,
      data: call.data,
      gasLimit: estimate.gasLimit,
      maxFeePerGas: BigInt(estimate.baseFeePerGas) + BigInt(estimate.priorityFeePerGas),
      maxPriorityFeePerGas: BigInt(estimate.priorityFeePerGas),
    });
    const hash = await ask<Hex>('eth_sendRawTransaction', raw);
    const receipt = await ask<{ status: Hex; blockNumber: Hex; logs: unknown[] }>('eth_getTransactionReceipt', hash);
    expect(receipt).toMatchObject({ status: '0x1', blockNumber: '0x1' });
    expect(receipt.logs).toHaveLength(1);
    expect(await ask('eth_getTransactionByHash', hash)).toMatchObject({
      hash,
      from: sender!.address,
      blockNumber: '0x1',
    });
  });

  test('every shape of proof verifies against the root on layer 1', async () => {
    await ask('evm_mine');
    await ask('evm_mine');
    const { block, root } = await settled(node);
    expect(block).toBe(1);
    const hasher = await loadHasher(scheme);
    const prove = async (address: Hex, keys: readonly Uint8Array[]) => {
      const answer = await ask('linea_getProof', address, keys.map(bytesToHex), '0x1');
      const request = { address: hexToBytes(address), storageKeys: [...keys], stateRoot: root };
      const verdict = verifyLineaProof(hasher, request, answer);
      if (!verdict.verified) throw new Error(verdict.message);
      return verdict;
    };
    const slot = tokenBalanceSlot(hexToBytes(receiver!.address));
    const absentSlot = hexToBytes(`0x${'ab'.repeat(32)}`);
    const token = await prove(TEST_TOKEN, [slot, absentSlot]);
    expect(token.slots.map(({ value }) => BigInt(bytesToHex(value)))).toEqual([DEV_TOKENS + AMOUNT, 0n]);
    const withoutStorage = await prove(sender!.address, [slot]);
    expect(withoutStorage.account?.nonce).toBe(1n);
    expect(withoutStorage.slots.map(({ value }) => BigInt(bytesToHex(value)))).toEqual([0n]);
    const missing = await prove(`0x${'99'.repeat(20)}`, [slot]);
    expect(missing.account).toBeUndefined();
  });

  test('the root on layer 1 can be proved in the state trie of layer 1', async () => {
    const { block, root } = await settled(node);
    const head = (await node.l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) as {
      stateRoot: Hex;
    };
    const { rollup } = devnet();
    const keys = anchorSlots(rollup, block).map(bytesToHex);
    const answer = await node.l1.request({ method: 'eth_getProof', params: [rollup.address, keys, 'latest'] });
    const verdict = verifyL1Anchor({ l1StateRoot: hexToBytes(head.stateRoot), rollup, l2BlockNumber: block }, answer);
    expect(verdict).toMatchObject({ verified: true, l2BlockNumber: block, stateRoot: root });
  });

  test('layer 1 has an event for each finalization', async () => {
    const topic = '0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb';
    const params = [{ address: node.info.rollupAddress!, topics: [topic], fromBlock: 'earliest', toBlock: 'latest' }];
    const logs = (await node.l1.request<UntypedMethod>({ method: 'eth_getLogs', params })) as {
      topics: Hex[];
      data: Hex;
    }[];
    const { block, root } = await settled(node);
    expect(logs).toHaveLength(block);
    expect(logs[block - 1]!.data.slice(66)).toBe(bytesToHex(root).slice(2));
  });

  test('block tags mean the blocks of docs/decisions.md', async () => {
    const numberOf = async (tag: string) =>
      Number((await ask<{ number: Hex }>('eth_getBlockByNumber', tag, false)).number);
    expect(await Promise.all(['earliest', 'finalized', 'safe', 'latest', 'pending'].map(numberOf))).toEqual([
      0, 1, 1, 3, 3,
    ]);
    const newest = await ask('linea_getProof', TEST_TOKEN, [], '0x1');
    for (const tag of ['latest', 'pending', 'finalized', 'safe']) {
      expect(await ask('linea_getProof', TEST_TOKEN, [], tag)).toEqual(newest);
    }
    const genesis = await ask('linea_getProof', TEST_TOKEN, [], 'earliest');
    expect(genesis).toEqual(await ask('linea_getProof', TEST_TOKEN, [], '0x0'));
    expect(genesis).not.toEqual(newest);
    const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', '0x1', false);
    expect(await ask('linea_getProof', TEST_TOKEN, [], hash)).toEqual(newest);
    // @unruggable/gateways asks for 2^64 and 2^256 as for any other block that is not there.
    const large = [2n ** 53n, 2n ** 64n, 2n ** 256n].map((number) => `0x${number.toString(16)}`);
    for (const block of ['0x2', '0x63', `0x${'12'.repeat(32)}`, ...large]) {
      await expect(ask('linea_getProof', TEST_TOKEN, [], block)).rejects.toMatchObject({
        code: -32600,
        message: 'BLOCK_MISSING_IN_CHAIN - block is missing',
      });
    }
  });

  test('an override applies to one call only', async () => {
    const poor = `0x${'77'.repeat(20)}`;
    const transfer = { ...call, from: poor };
    await expect(ask('linea_estimateGas', transfer)).rejects.toMatchObject({ code: 3 });
    const slot = bytesToHex(tokenBalanceSlot(hexToBytes(poor as Hex)));
    const override = {
      [poor]: { balance: '0xde0b6b3a7640000' },
      [TEST_TOKEN]: { stateDiff: { [slot]: `0x${AMOUNT.toString(16).padStart(64, '0')}` } },
    };
    const estimate = await ask<Estimate>('linea_estimateGas', transfer, override);
    expect(BigInt(estimate.gasLimit)).toBeGreaterThan(21_000n);
    await expect(ask('linea_estimateGas', transfer)).rejects.toMatchObject({ code: 3 });
    expect(await ask('eth_getBalance', poor, 'latest')).toBe('0x0');
  });
});

test('the zk state of the genesis is the same whenever it is first needed', async () => {
  const rootOfGenesis = async ({ node }: DevNode) => {
    const data = `0x8be745d1${'0'.repeat(64)}`;
    const call = { to: node.info.rollupAddress!, data };
    return node.l1.request<UntypedMethod>({ method: 'eth_call', params: [call, 'latest'] });
  };
  const finality = { heldFinalizations: 1 };
  // Accounts that are given are written at once.
  const atOnce = await devNode({ chain: { kind: 'devnet', accounts: DEV_ACCOUNTS, finality } });
  const first = await devNode({ chain: { kind: 'devnet', finality } });
  const later = await devNode({ chain: { kind: 'devnet', finality } });
  for (let block = 0; block < 5; block++) await later.ask('evm_mine');
  const root = await rootOfGenesis(atOnce);
  expect(BigInt(root as Hex)).not.toBe(0n);
  expect([await rootOfGenesis(first), await rootOfGenesis(later)]).toEqual([root, root]);
  await proved(first, DEV_ACCOUNTS[0]!.address);
  await proved(later, DEV_ACCOUNTS[0]!.address);
});

test('accounts that the zk state refuses are refused as the devnet opens', async () => {
  const alloc = { [stranger('aa')]: { balance: 1n }, [`0x${'AA'.repeat(20)}`]: { balance: 2n } };
  await expect(createInlineNode({ chain: { kind: 'devnet', alloc } })).rejects.toMatchObject({
    code: 'INVALID_PARAMETER',
  });
});
