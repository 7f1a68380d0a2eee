import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { accountAt, PRICE, stranger, word } from '../support/dev-node.js';
import { type LightScene, lightScene } from '../support/light-node.js';
import { serveMock } from '../support/mock-chain.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const HEAD = 80;

/** Eighty blocks with a transfer each, of differing tips. */
async function chain(): Promise<LightScene> {
  // The head is read once, however long the rest takes.
  const scene = await lightScene({ chain: { headMaxAgeMs: 3_600_000 } });
  for (let nonce = 0; nonce < HEAD; nonce++) {
    const maxPriorityFeePerGas = PRICE.maxPriorityFeePerGas + BigInt(nonce % 7) * 1_000_000n;
    await scene.dev.transfer(0, { nonce, maxPriorityFeePerGas });
  }
  return scene;
}

const requests = ({ endpoints }: LightScene) => endpoints.reduce((sum, { seen }) => sum + seen.splice(0).length, 0);

describe('eth_feeHistory on a light node', () => {
  test.each([
    ['latest', '0x3c', [10, 50, 90], 14],
    ['0x20', '0x20', [50], 14],
    ['0x46', '0x400', [], 9],
    ['0x0', '0x5', [50], 9],
  ])('up to %s, %s blocks: as the node that holds the chain has it, fetched together', async (...given) => {
    const [newest, count, percentiles, most] = given;
    const scene = await chain();
    const params = [count, newest, percentiles];
    expect(await scene.ask('eth_feeHistory', ...params)).toEqual(await scene.dev.ask('eth_feeHistory', ...params));
    expect(requests(scene)).toBeLessThanOrEqual(most);
  });

  test('every header is linked to one that was vouched for, or it is no answer', async () => {
    const scene = await chain();
    const params = ['0x20', '0x30', [50]];
    const truth = await scene.dev.ask('eth_feeHistory', ...params);
    const [first, second] = scene.endpoints;
    const heard: AnswerReport[] = [];
    // A block of the same chain in the place of another: its hash is right.
    const other = await scene.dev.ask('eth_getBlockByNumber', '0x1f', false);
    first!.options.tamper = ({ method, params: [at] }, result) =>
      method === 'eth_getBlockByNumber' && at === '0x20' ? { ...(other as object), number: '0x20' } : result;
    const node = await scene.open();
    node.on('answer', (report) => heard.push(report));
    expect(await node.request<UntypedMethod>({ method: 'eth_feeHistory', params })).toEqual(truth);
    expect(heard[0]).toMatchObject({ class: 'computed', level: 'linked' });
    second!.options.tamper = first!.options.tamper;
    await expect(
      (await scene.open()).request<UntypedMethod>({ method: 'eth_feeHistory', params }),
    ).rejects.toMatchObject({
      code: -32000,
      message: /header/,
    });
  });

  test('it is as good as the block it ends with', async () => {
    const scene = await chain();
    const heard: AnswerReport[] = [];
    scene.light.on('answer', (report) => heard.push(report));
    await scene.ask('eth_feeHistory', '0x8', '0x14', []);
    expect(heard).toMatchObject([{ class: 'computed', level: 'linked' }]);
    expect(heard[0]!.blocks.map(({ number }) => number)).toEqual(expect.arrayContaining([0x14, 0xd]));
    const { hash } = await scene.dev.ask<{ hash: Hex }>('eth_getBlockByNumber', '0xd', false);
    expect(heard[0]!.blocks).toContainEqual({ number: 0xd, hash });
  });
});

test('eth_getStorageValues: all slots of all accounts with one request beside the head', async () => {
  // The head is read once, however long the rest takes.
  const scene = await lightScene({ chain: { headMaxAgeMs: 3_600_000 } });
  const keys = Array.from({ length: 40 }, (_, i) => word(BigInt(i)));
  const params = [{ [token]: keys, [accountAt(0)]: keys.slice(0, 3), [accountAt(1)]: ['0x1'] }, 'latest'];
  await scene.ask('eth_blockNumber');
  requests(scene);
  expect(await scene.ask('eth_getStorageValues', ...params)).toEqual(
    await scene.dev.ask('eth_getStorageValues', ...params),
  );
  expect(requests(scene)).toBeLessThanOrEqual(3);
});

const quantity = (number: number): Hex => `0x${number.toString(16)}`;
const logs = (node: PlumblineNode, filter: object) =>
  node.request<UntypedMethod>({ method: 'eth_getLogs', params: [filter] }) as Promise<
    { blockNumber: Hex; data: Hex }[]
  >;

describe('eth_getLogs of more than 5000 blocks', () => {
  const LENGTH = 5_300;
  /** Blocks with a token transfer, on both sides of the ends of pieces of 1024 blocks, and at both ends. */
  const busy = [1, 180, 181, 1_204, 2_228, 5_000, LENGTH];
  let long: PlumblineNode;
  beforeAll(async () => {
    long = await createInlineNode({ chain: { kind: 'devnet', mining: 'manual' } });
    const ask = (method: string, ...params: unknown[]) => long.request<UntypedMethod>({ method, params });
    let at = 0;
    for (const [nonce, block] of busy.entries()) {
      if (block - at > 1) await ask('anvil_mine', quantity(block - at - 1));
      const data = transferCalldata(stranger('aa'), BigInt(block));
      await ask('eth_sendRawTransaction', signTransaction(0, { nonce, to: token, data, gasLimit: 100_000n, ...PRICE }));
      await ask('evm_mine');
      at = block;
    }
  });
  afterAll(() => long.close());

  const amounts = async (node: PlumblineNode, filter: object) =>
    (await logs(node, filter)).map(({ blockNumber, data }) => {
      expect(BigInt(data)).toBe(BigInt(blockNumber));
      return Number(blockNumber);
    });

  test('is answered by a devnet from its blooms, within the bytes of an answer', async () => {
    const all = { fromBlock: '0x0', toBlock: 'latest' };
    expect(await amounts(long, all)).toEqual(busy);
    expect(await amounts(long, { ...all, address: stranger('77') })).toEqual([]);
    const small = await createInlineNode({ maxAnswerBytes: 1_000, chain: { kind: 'devnet', mining: 'manual' } });
    try {
      for (let nonce = 0; nonce < 2; nonce++) {
        const data = transferCalldata(stranger('aa'), 1n);
        const raw = signTransaction(0, { nonce, to: token, data, gasLimit: 100_000n, ...PRICE });
        await small.request<UntypedMethod>({ method: 'eth_sendRawTransaction', params: [raw] });
        await small.request<UntypedMethod>({ method: 'anvil_mine', params: ['0xa00'] });
      }
      await expect(logs(small, all)).rejects.toMatchObject({ code: -32003 });
    } finally {
      await small.close();
    }
  });

  test('is split by a light node, which proves each piece', async () => {
    const mock = await serveMock(long);
    const options = { kind: 'light', network: devnet(), endpoints: [mock.url], headMaxAgeMs: 3_600_000 } as const;
    const node = await createInlineNode({ chain: options });
    try {
      expect(await amounts(node, { fromBlock: '0x0', toBlock: 'latest' })).toEqual(busy);
      expect(await amounts(node, { fromBlock: '0xb5', toBlock: '0x4b4' })).toEqual([181, 1_204]);
      expect(await amounts(node, { fromBlock: '0xb4', toBlock: '0x4b4' })).toEqual([180, 181, 1_204]);
      // A block of the range that hides its logs is found, however far below the head it is.
      mock.options.tamper = ({ method, params: [hash] }, result) => {
        if (method !== 'eth_getBlockReceipts') return result;
        return (result as { blockNumber: Hex }[]).some(({ blockNumber }) => blockNumber === '0xb4')
          ? []
          : (result ?? hash);
      };
      const other = await createInlineNode({ chain: options });
      try {
        await expect(logs(other, { fromBlock: '0x0', toBlock: 'latest' })).rejects.toMatchObject({ code: -32000 });
      } finally {
        await other.close();
      }
    } finally {
      await node.close();
      await mock.close();
    }
  });
});
