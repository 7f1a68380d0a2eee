import { describe, expect, test } from 'vitest';
import { stranger } from '../support/dev-node.js';
import { type LightScene, lightScene } from '../support/light-node.js';

async function mine({ dev }: LightScene, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await dev.ask('evm_mine');
}
const pay = { from: stranger('bb'), to: stranger('aa') };
const hex = (number: number) => `0x${number.toString(16)}`;

/** Four blocks, then `gone` blocks that the node links and the endpoints replace, and `gap` blocks more than the node knows. */
async function replaced(gone: number, gap: number, maxReorgDepth: number): Promise<LightScene> {
  const scene = await lightScene({ chain: { maxReorgDepth } });
  await mine(scene, 4);
  const before = await scene.dev.ask('evm_snapshot');
  for (let nonce = 0; nonce < gone; nonce++) await scene.dev.transfer(0, { nonce, to: stranger('aa'), value: 7n });
  expect(await scene.ask('eth_blockNumber')).toBe(hex(4 + gone));
  await scene.ask('eth_getBlockByNumber', '0x1', false);
  await scene.dev.ask('evm_revert', before);
  for (let nonce = 0; nonce < gone; nonce++) await scene.dev.transfer(0, { nonce, to: stranger('aa'), value: 5n });
  await mine(scene, gap);
  scene.clock.advance(5_000);
  return scene;
}
const tooDeep = { code: -32000, message: /replaces more than 2 blocks/ };

describe('a head above a gap', () => {
  test.each([2, 5, 200, 300])('by %i, on the known chain: accepted and linked to it', async (gap) => {
    const scene = await lightScene();
    await mine(scene, 3);
    expect(await scene.ask('eth_blockNumber')).toBe('0x3');
    await mine(scene, gap);
    for (const [method, ...params] of [
      ['eth_blockNumber'],
      ['eth_getBlockByNumber', hex(3 + gap - 1), false],
    ] as const) {
      scene.clock.advance(5_000);
      expect(await scene.ask(method, ...params)).toEqual(await scene.dev.ask(method, ...params));
    }
  });

  test.each([1, 2, 5])('by %i, with the largest reorg allowed: followed', async (gap) => {
    const scene = await replaced(2, gap, 2);
    expect(await scene.ask('eth_blockNumber')).toBe(hex(6 + gap));
    expect(await scene.ask('eth_getBalance', stranger('aa'), 'latest')).toBe('0xa');
    for (const number of ['0x4', '0x5', '0x6']) {
      const block = await scene.dev.ask('eth_getBlockByNumber', number, true);
      expect(await scene.ask('eth_getBlockByNumber', number, true)).toEqual(block);
    }
  });

  test.each([1, 2, 5])('by %i, with a reorg that is too deep: refused each time', async (gap) => {
    const scene = await replaced(6, gap, 2);
    for (const method of ['eth_blockNumber', 'eth_gasPrice', 'eth_blockNumber']) {
      await expect(scene.ask(method)).rejects.toMatchObject(tooDeep);
    }
    await expect(scene.ask('linea_estimateGas', pay)).rejects.toMatchObject(tooDeep);
    await mine(scene, 3);
    scene.clock.advance(5_000);
    await expect(scene.ask('linea_estimateGas', pay)).rejects.toMatchObject(tooDeep);
    await expect(scene.ask('eth_blockNumber')).rejects.toMatchObject(tooDeep);
  });

  test.each([2, 200])('by %i, first read by an estimate: refused once its headers are linked', async (gap) => {
    const scene = await replaced(6, gap, 2);
    await scene.ask('linea_estimateGas', pay).catch(() => {});
    await expect.poll(() => scene.ask('eth_blockNumber').catch(({ message }) => message)).toMatch(tooDeep.message);
    await expect(scene.ask('linea_estimateGas', pay)).rejects.toMatchObject(tooDeep);
  });

  test('by 200: refused once its headers are linked', async () => {
    const scene = await replaced(6, 200, 2);
    await expect.poll(() => scene.ask('eth_blockNumber').catch(({ message }) => message)).toMatch(tooDeep.message);
    await expect(scene.ask('eth_gasPrice')).rejects.toMatchObject(tooDeep);
  });

  test('by 300: refused by the first block at a height that was linked', async () => {
    const scene = await replaced(6, 300, 2);
    expect(await scene.ask('eth_blockNumber')).toBe(hex(310));
    await expect(scene.ask('eth_getBlockByNumber', '0x8', false)).rejects.toMatchObject(tooDeep);
    for (let again = 0; again < 2; again++) await expect(scene.ask('eth_blockNumber')).rejects.toMatchObject(tooDeep);
  });
});

/**
 * A head that the node has accepted without its ancestors, then another branch that begins `gone` blocks below it.
 *
 * @param served - whether the endpoints still have the blocks of the first branch by their hashes
 */
async function leftAtFirst(gone: number, gap: number, served: boolean): Promise<LightScene> {
  const scene = await lightScene({ chain: { maxReorgDepth: 2 } });
  await mine(scene, 4);
  const before = await scene.dev.ask('evm_snapshot');
  await mine(scene, gone);
  expect(await scene.ask('eth_blockNumber')).toBe(hex(4 + gone));
  const left = new Map<string, unknown>();
  for (let number = 4; number <= 4 + gone; number++) {
    const block = await scene.dev.ask<{ hash: string }>('eth_getBlockByNumber', hex(number), false);
    left.set(block.hash, block);
  }
  await scene.dev.ask('evm_revert', before);
  await scene.dev.transfer(0, { nonce: 0, to: stranger('aa'), value: 5n });
  await mine(scene, gone - 1 + gap);
  for (const { options } of scene.endpoints) {
    options.tamper = ({ method, params }, result) =>
      served && method === 'eth_getBlockByHash' ? (left.get(String(params[0])) ?? result) : result;
  }
  scene.clock.advance(5_000);
  return scene;
}

describe.each([0, 1, 2, 5])('another branch after the first head, %i blocks above it', (gap) => {
  test.each([1, 2])('that replaces %i blocks: followed', async (gone) => {
    const scene = await leftAtFirst(gone, gap, true);
    expect(await scene.ask('eth_blockNumber')).toBe(hex(4 + gone + gap));
    expect(await scene.ask('eth_getBalance', stranger('aa'), 'latest')).toBe('0x5');
  });

  test('that replaces more than it may: refused each time', async () => {
    const scene = await leftAtFirst(3, gap, true);
    for (const method of ['eth_blockNumber', 'eth_gasPrice']) {
      await expect(scene.ask(method)).rejects.toMatchObject(tooDeep);
    }
  });

  test('of which no endpoint has the first head any more: followed, because it is not known to be deeper', async () => {
    const scene = await leftAtFirst(3, gap, false);
    expect(await scene.ask('eth_blockNumber')).toBe(hex(7 + gap));
    expect(await scene.ask('eth_getBalance', stranger('aa'), 'latest')).toBe('0x5');
  });
});
