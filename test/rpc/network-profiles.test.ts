import { afterEach, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { DEVNET_VERIFICATION_COST_PRICING, devnet } from '../../src/networks/devnet.js';
import { linea } from '../../src/networks/linea.js';
import type { Network } from '../../src/networks/network.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const open: PlumblineNode[] = [];

async function start(options: InlineOptions): Promise<PlumblineNode> {
  const node = await createInlineNode(options);
  open.push(node);
  return node;
}
const startOn = (network: Network, more: InlineOptions = {}) => start({ chain: { kind: 'devnet', network }, ...more });

afterEach(async () => {
  for (const node of open.splice(0)) await node.close();
});

const call = {
  from: DEV_ACCOUNTS[0]!.address,
  to: TEST_TOKEN,
  data: transferCalldata(DEV_ACCOUNTS[1]!.address, 5n),
};

interface Estimate {
  gasLimit: string;
  baseFeePerGas: string;
  priorityFeePerGas: string;
}

describe('pricing by verification cost', () => {
  test.each(['A', 'B', 'C'] as const)('variant %s answers linea_estimateGas by its formula', async (variant) => {
    const pricing = {
      ...DEVNET_VERIFICATION_COST_PRICING,
      variant,
      minGasPriceWei: 1_000_000_000n,
      gasPriceAdjustmentWei: variant === 'A' ? 0n : 1_000n,
      estimateMargin: 1.5,
      floor: false,
    };
    const node = await startOn(devnet({ pricing }));
    const estimate = (await node.request({ method: 'linea_estimateGas', params: [call] })) as Estimate;
    const { evidence } = await node.explainEstimate([call]);
    // docs/spec/fees.md 8.2, written out again.
    const [ratioCost, capacity, price, margin, adjustment] = [15 * 1_200_000, 90_000, 1e9, 1.5, 1_000];
    const [size, gas] = [evidence.compressedTxSize, Number(estimate.gasLimit)];
    const expected = {
      A: Math.trunc((margin * ratioCost * size * price) / (gas * capacity)),
      B: Math.trunc((ratioCost * margin * size * price) / (gas * capacity)) + adjustment,
      C: Math.trunc(((ratioCost * size * price) / (gas * capacity) + adjustment) * margin),
    }[variant];
    expect(Number(estimate.priorityFeePerGas)).toBe(expected);
    expect(estimate.baseFeePerGas).toBe('0x7');
    expect(evidence.pricingModel).toBe('verification-cost');
  });

  test('the floor holds the fee at the minimum gas price less the base fee', async () => {
    const pricing = {
      ...DEVNET_VERIFICATION_COST_PRICING,
      minGasPriceWei: 1_000_000_000n,
      gasPriceRatio: 1,
      floor: true,
    };
    const node = await startOn(devnet({ pricing }));
    const estimate = (await node.request({ method: 'linea_estimateGas', params: [call] })) as Estimate;
    expect(BigInt(estimate.priorityFeePerGas)).toBe(1_000_000_000n - 7n);
    expect(await node.request({ method: 'eth_gasPrice' })).toBe('0x3b9aca00');
  });
});

test('a configured prefix names the two methods, and the usual names stay', async () => {
  const node = await startOn(devnet({ methodPrefix: 'zk' }));
  const answers = await Promise.all(
    ['zk', 'linea', 'l2'].map((prefix) =>
      node.request<UntypedMethod>({ method: `${prefix}_estimateGas`, params: [call] }),
    ),
  );
  expect(answers[0]).toMatchObject({ baseFeePerGas: '0x7' });
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  expect(
    await node.request<UntypedMethod>({ method: 'zk_getProof', params: [TEST_TOKEN, [], 'latest'] }),
  ).toMatchObject({
    storageProofs: [],
  });
});

test('the signed form of sizing is larger', async () => {
  const size = async (sizing: Network['sizing']) =>
    (await (await startOn(devnet({ sizing }))).explainEstimate([call])).evidence.transactionBytes;
  // r, s and v in RLP take 33 + 33 + 1 bytes; the sender in front, 20 bytes, is left out.
  expect((await size('signed')) - (await size('current'))).toBe(33 + 33 + 1 - 20);
});

test('finalizes in batches when told to, and proves only the last block of each', async () => {
  const node = await start({ chain: { kind: 'devnet', finality: { delayBlocks: 1, batchBlocks: 3 } } });
  await node.request({ method: 'evm_mine', params: [{ blocks: 7 }] });
  const prove = (block: string) =>
    node.request<UntypedMethod>({ method: 'linea_getProof', params: [TEST_TOKEN, [], block] });
  const finalized = (await node.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] })) as {
    number: string;
  };
  expect(finalized.number).toBe('0x6');
  for (const block of ['0x0', '0x3', '0x6']) expect(await prove(block)).toHaveProperty('accountProof');
  for (const block of ['0x1', '0x2', '0x4', '0x5', '0x7'])
    await expect(prove(block)).rejects.toMatchObject({ code: -32600 });
});

test('the states of the last finalizations stay provable, older ones do not', async () => {
  const node = await start({ chain: { kind: 'devnet', finality: { delayBlocks: 0, heldFinalizations: 3 } } });
  await node.request({ method: 'evm_mine', params: [{ blocks: 6 }] });
  const prove = (block: string) =>
    node.request<UntypedMethod>({ method: 'linea_getProof', params: [TEST_TOKEN, [], block] });
  for (const block of ['0x4', '0x5', '0x6', 'finalized']) expect(await prove(block)).toHaveProperty('accountProof');
  for (const block of ['0x0', 'earliest', '0x3']) await expect(prove(block)).rejects.toMatchObject({ code: -32600 });
});

test('finality settings outside their bounds are refused', async () => {
  for (const finality of [{ delayBlocks: -1 }, { batchBlocks: 0 }, { batchBlocks: 1.5 }]) {
    await expect(start({ chain: { kind: 'devnet', finality } })).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
  }
});

test('opening tells how far the genesis accounts are loaded', async () => {
  const accounts = Array.from({ length: 1_200 }, (_, i) => [
    `0x${(i + 1_000).toString(16).padStart(40, '0')}`,
    { balance: 1n },
  ]);
  const fractions: number[] = [];
  await start({
    chain: { kind: 'devnet', alloc: Object.fromEntries(accounts) },
    onProgress: ({ stage, fraction }) => {
      if (stage === 'genesis') fractions.push(fraction);
    },
  });
  expect(fractions.length).toBeGreaterThan(2);
  expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  expect(fractions.at(-1)).toBe(1);
});

test('manual mining keeps transactions waiting, in the order of their nonces', async () => {
  const node = await start({ chain: { kind: 'devnet', mining: 'manual' } });
  const send = (nonce: number) =>
    node.request({
      method: 'eth_sendRawTransaction',
      params: [
        signTransaction(0, {
          nonce,
          to: call.to,
          data: call.data,
          gasLimit: 60_000n,
          maxFeePerGas: 10n ** 9n,
          maxPriorityFeePerGas: 10n ** 8n,
        }),
      ],
    });
  const first = await send(0);
  await send(1);
  await send(3);
  await expect(send(201)).rejects.toMatchObject({ code: -32006 });
  await expect(send(0)).rejects.toMatchObject({ code: -32000, message: 'Known transaction' });
  expect(await node.request({ method: 'eth_getTransactionReceipt', params: [first] })).toBeNull();
  await node.request({ method: 'evm_mine' });
  expect(await node.request({ method: 'eth_getTransactionReceipt', params: [first] })).toMatchObject({ status: '0x1' });
  expect(await node.request({ method: 'eth_getTransactionCount', params: [call.from, 'latest'] })).toBe('0x2');
  // In a block already: as Besu, which knows it no longer.
  await expect(send(1)).rejects.toMatchObject({ code: -32001, message: 'Nonce too low' });
});

describe('a stored devnet', () => {
  /** Closing a node closes its store; the bytes of this one outlive it. */
  class KeptStore extends MemoryStore {
    override async close(): Promise<void> {}
  }

  test('has its state again when reopened, and goes on from it', async () => {
    const store = new KeptStore();
    const first = await start({ store });
    const raw = signTransaction(0, {
      nonce: 0,
      to: call.to,
      data: call.data,
      gasLimit: 60_000n,
      maxFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 10n ** 8n,
    });
    const hash = await first.request({ method: 'eth_sendRawTransaction', params: [raw] });
    await first.request({ method: 'evm_mine', params: [{ blocks: 3 }] });
    const proof = await first.request({ method: 'linea_getProof', params: [TEST_TOKEN, ['0x2'], '0x1'] });
    await first.close();
    const second = await start({ store });
    expect(await second.request({ method: 'eth_blockNumber' })).toBe('0x4');
    expect(await second.request({ method: 'eth_getTransactionReceipt', params: [hash] })).toMatchObject({
      status: '0x1',
    });
    expect(await second.request({ method: 'linea_getProof', params: [TEST_TOKEN, ['0x2'], '0x1'] })).toEqual(proof);
    expect(await second.request({ method: 'eth_getTransactionCount', params: [call.from, 'latest'] })).toBe('0x1');
    await second.request({ method: 'evm_mine' });
    expect(await second.request({ method: 'eth_blockNumber' })).toBe('0x5');
  });

  test('is refused when a block is missing, damaged, or of another genesis', async () => {
    const store = new KeptStore();
    const first = await start({ store });
    await first.request({ method: 'evm_mine', params: [{ blocks: 3 }] });
    await first.close();
    const second = await store.get('blocks', 2);
    const reopen = () => createInlineNode({ store });
    await store.commit({ deletes: [{ table: 'blocks', key: 2 }] });
    await expect(reopen()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    for (const at of [0, 40, second!.length - 1]) {
      const damaged = second!.slice();
      damaged[at]! ^= 1;
      await store.commit({ puts: [{ table: 'blocks', key: 2, value: damaged }] });
      await expect(reopen()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    }
    await store.commit({ puts: [{ table: 'blocks', key: 2, value: second! }] });
    const other = { kind: 'devnet', alloc: { [`0x${'55'.repeat(20)}`]: { balance: 1n } } } as const;
    await expect(createInlineNode({ store, chain: other })).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await (await reopen()).close();
  });

  test('a commit that fails leaves chain and state as they were', async () => {
    const store = new KeptStore();
    const node = await start({ store });
    const commit = store.commit.bind(store);
    store.commit = () => Promise.reject(new Error('no room'));
    await expect(node.request({ method: 'evm_mine' })).rejects.toMatchObject({ code: -32603 });
    expect(await node.request({ method: 'eth_blockNumber' })).toBe('0x0');
    store.commit = commit;
    await node.request({ method: 'evm_mine', params: [{ blocks: 4 }] });
    await node.close();
    const again = await start({ store });
    expect(await again.request({ method: 'eth_blockNumber' })).toBe('0x4');
  });
});

describe('an estimate with a nonce that is used already', () => {
  const { pastNonces: _, ...unsaid } = devnet();
  test.each([
    ['the devnet', devnet(), true],
    ['Linea', linea, false],
    ["a profile with Besu's search that says nothing", unsaid, false],
    ["a profile with geth's search that says nothing", { ...unsaid, gasSearch: 'geth' }, true],
    [
      'a profile with the search of geth that refuses',
      { ...devnet({ gasSearch: 'geth' }), pastNonces: 'refused' },
      false,
    ],
  ] as const)('on %s', async (_, network, answered) => {
    const node = await startOn(network);
    const ask = (method: string, ...params: unknown[]) => node.request<UntypedMethod>({ method, params });
    const plain = { from: call.from, to: DEV_ACCOUNTS[1]!.address };
    const gasPrice = 1_000_000_000n;
    const transaction = { nonce: 0, to: plain.to, gasLimit: 21_000n, gasPrice, chainId: network.chainId };
    await ask('eth_sendRawTransaction', signTransaction(0, transaction));
    await ask('evm_mine');
    expect(await ask('eth_getTransactionCount', plain.from, 'latest')).toBe('0x1');
    for (const method of ['eth_estimateGas', 'linea_estimateGas']) {
      const estimate = ask(method, { ...plain, nonce: '0x0' });
      if (answered) expect(JSON.stringify(await estimate)).toContain('0x5208');
      else await expect(estimate).rejects.toMatchObject({ code: -32001, message: 'Nonce too low' });
      expect(JSON.stringify(await ask(method, { ...plain, nonce: '0x1' }))).toContain('0x5208');
    }
  });
});
