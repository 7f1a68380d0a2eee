import { describe, expect, test } from 'vitest';
import { HISTORY_WINDOW } from '../../src/ethereum/constants.js';
import type { Hex } from '../../src/primitives/hex.js';
import { devNode } from '../support/dev-node.js';
import { type SettledScene, settledScene } from '../support/settled-scene.js';

const quantity = (value: number) => `0x${value.toString(16)}` as const;

/** The two newest blocks are not finalized. */
const BLOCKS = HISTORY_WINDOW + 111;
const FINALIZED = BLOCKS - 2;
/** The state after the finalized block holds the hashes of this block and those above it. */
const OLDEST = FINALIZED - HISTORY_WINDOW;
/** Mining them and walking back over them may take long on a busy machine. */
const PATIENT = { requestTimeoutMs: 600_000 };
const FINALITY = { finalityMaxAgeMs: 600_000 };

describe('a chain longer than the ring', () => {
  test('blocks in the ring are settled by their hash there, those below it as their ancestors', async () => {
    const { dev, endpoint, open, checkpoint } = await settledScene(BLOCKS, PATIENT);
    const { ask, reports } = await open({ checkpoint: { root: await checkpoint() } }, FINALITY, PATIENT);
    const settled = async (number: number) => {
      const block = await dev.ask<{ hash: string }>('eth_getBlockByNumber', quantity(number), false);
      expect(await ask('eth_getBlockByNumber', quantity(number), false), `block ${number}`).toEqual(block);
      expect(reports.at(-1), `block ${number}`).toMatchObject({ level: 'settled' });
      expect(await ask('eth_getBlockByHash', block.hash, false)).toEqual(block);
      expect(reports.at(-1), `block ${number} by hash`).toMatchObject({ level: 'settled' });
    };
    // The slot of the first was written twice: the hash of block 0 was there before.
    for (const number of [HISTORY_WINDOW, FINALIZED - 1, OLDEST + 1, OLDEST]) await settled(number);
    const proofs = () => endpoint.seen.flat().filter(({ method }) => method === 'linea_getProof').length;
    const before = proofs();
    for (const number of [OLDEST - 1, 3, 0]) await settled(number);
    expect(proofs()).toBe(before);
    await ask('eth_getBlockByNumber', quantity(FINALIZED), false);
    expect(reports.at(-1)).toMatchObject({ level: 'plain' });
    const short = await open({ checkpoint: { root: await checkpoint() }, maxWalkBack: 2 }, FINALITY, PATIENT);
    const levels: unknown[] = [];
    for (const number of [OLDEST - 2, OLDEST - 3]) {
      await short.ask('eth_getBlockByNumber', quantity(number), false);
      levels.push(short.reports.at(-1)!.level);
    }
    expect(levels).toEqual(['settled', 'plain']);
  });
});

const HISTORY: Hex = '0x0000f90827f1c53a10cb7a02335b175320002935';

/** Makes a block of pending edits, and finalizes it. */
async function settleNow({ dev, clock }: Pick<SettledScene, 'dev' | 'clock'>): Promise<void> {
  await dev.ask('anvil_mine', '0x3');
  clock.advance(30_000);
}

describe('a history contract that begins inside the chain', () => {
  test('nothing is settled before it; blocks before it are settled as ancestors', async () => {
    const alloc = { [HISTORY]: { nonce: 1n } };
    const scene = await settledScene(8, { chain: { kind: 'devnet', alloc } });
    const { dev, open, checkpoint } = scene;
    const code = await (await devNode()).ask<Hex>('eth_getCode', HISTORY, 'latest');
    const root = await checkpoint();
    const early = await open({ checkpoint: { root } });
    await expect(early.ask('eth_getBlockByNumber', 'finalized', false)).rejects.toMatchObject({
      message: /no history contract/,
    });
    await dev.ask('anvil_setCode', HISTORY, '0x600160015500');
    await settleNow(scene);
    const other = await open({ checkpoint: { root } });
    await expect(other.ask('eth_getBlockByNumber', 'finalized', false)).rejects.toMatchObject({
      message: /does not have the code of EIP-2935/,
    });
    // It is called from block 12 on, the first one after it was set, and stores the hash of block 11.
    await dev.ask('anvil_setCode', HISTORY, code);
    await settleNow(scene);
    const levels = async (maxWalkBack: number) => {
      const { ask, reports } = await open({ checkpoint: { root }, maxWalkBack });
      const found: unknown[] = [];
      for (const number of [0, 9, 10, 11]) {
        expect(await ask('eth_getBlockByNumber', quantity(number), false)).toEqual(
          await dev.ask('eth_getBlockByNumber', quantity(number), false),
        );
        found.push(reports.at(-1)!.level);
      }
      return found;
    };
    expect(await levels(0)).toEqual(['plain', 'plain', 'plain', 'settled']);
    expect(await levels(100)).toEqual(['settled', 'settled', 'settled', 'settled']);
  });
});

test('a hash in the ring that is of another block settles nothing', async () => {
  const scene = await settledScene(8);
  const { dev, open, checkpoint } = scene;
  const { hash } = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', '0x2', false);
  await dev.ask('anvil_setStorageAt', HISTORY, '0x5', hash);
  await settleNow(scene);
  const { ask, reports } = await open({ checkpoint: { root: await checkpoint() } });
  const levels: unknown[] = [];
  for (const number of ['0x5', '0x4', '0x2']) {
    expect(await ask('eth_getBlockByNumber', number, false)).toEqual(
      await dev.ask('eth_getBlockByNumber', number, false),
    );
    levels.push(reports.at(-1)!.level);
  }
  expect(levels).toEqual(['plain', 'settled', 'settled']);
});

test('where no endpoint holds the state after the newest finalized block, the one before it is taken', async () => {
  const { dev, endpoint, open, checkpoint } = await settledScene(12);
  let held = 9;
  endpoint.options.tamper = ({ method, params }, result) => {
    if (method !== 'linea_getProof' || Number(params[2]) <= held) return result;
    throw Object.assign(new Error('BLOCK_MISSING_IN_CHAIN - block is missing'), { code: -32600 });
  };
  const { ask, reports } = await open({ checkpoint: { root: await checkpoint() } });
  expect(await ask('eth_getBlockByNumber', 'finalized', false)).toEqual(
    await dev.ask('eth_getBlockByNumber', '0x8', false),
  );
  expect(reports.at(-1)).toMatchObject({ level: 'settled' });
  held = 0;
  const none = await open({ checkpoint: { root: await checkpoint() } });
  await expect(none.ask('eth_getBlockByNumber', 'finalized', false)).rejects.toMatchObject({
    message: /BLOCK_MISSING_IN_CHAIN/,
  });
});
