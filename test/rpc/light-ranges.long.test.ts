import { describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/test-token.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/protocol/answer-report.js';
import { accountAt, PRICE, word } from '../support/dev-node.js';
import { type LightScene, lightScene } from '../support/light-node.js';

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
