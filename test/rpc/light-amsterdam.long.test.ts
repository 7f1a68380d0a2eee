import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { amsterdamFetch, EMPTY_LIST_HASH, hashOfJson } from '../support/amsterdam.js';
import { accountAt } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';

type Block = Record<string, Hex>;

/** A light node whose layers 1 and 2 have headers of Amsterdam from a block on. */
const scene = async (isNew: (block: number) => boolean, chain: object) => {
  const finality = { batchBlocks: 1, delayBlocks: 0 };
  return lightScene({
    dev: { chain: { kind: 'devnet', finality } },
    chain,
    more: { fetch: amsterdamFetch(isNew) },
  });
};

describe.each([
  ['from genesis on', () => true],
  ['from block 3 on', (block: number) => block >= 3],
  ['in no block', () => false],
] as const)('headers of Amsterdam %s', (_, isNew) => {
  test.each(['plain', 'linked'] as const)('are read at level %s, and layer 1 says what is final', async (level) => {
    const { dev, ask } = await scene(isNew, { level });
    await dev.ask('anvil_mine', 5);
    await dev.transfer(0, { nonce: 0 });
    for (let number = 6; number >= 0; number--) {
      const block = await ask<Block>('eth_getBlockByNumber', `0x${number.toString(16)}`, false);
      expect([block.blockAccessListHash, block.slotNumber]).toEqual(
        isNew(number) ? [EMPTY_LIST_HASH, `0x${(0xac6000 + number).toString(16)}`] : [undefined, undefined],
      );
      expect(block.hash).toBe(hashOfJson(block));
      expect(await ask('eth_getBlockByHash', block.hash, false)).toEqual(block);
    }
    const final = await ask<Block>('eth_getBlockByNumber', 'finalized', false);
    expect(Number(final.number)).toBeGreaterThan(3);
    const [account] = [accountAt(1)];
    expect(await ask('eth_getBalance', account, 'finalized')).toBe(
      await dev.ask('eth_getBalance', account, final.number),
    );
    const proof = await ask<{ accountProof: object }>('linea_getProof', account, [], 'finalized');
    expect(proof.accountProof).toEqual(
      (await dev.ask<typeof proof>('linea_getProof', account, [], final.number)).accountProof,
    );
  });
});

test('headers of a later fork are an error that says so, and no endpoint is accused', async () => {
  const degraded: string[] = [];
  const { dev, ask } = await lightScene({
    more: {
      fetch: amsterdamFetch((block) => block > 0, { laterRoot: `0x${'12'.repeat(32)}` }),
      upstreamObserver: { event: ({ type, origin }) => void (type === 'degraded' && degraded.push(origin)) },
    },
  });
  await dev.ask('anvil_mine', 1);
  const error = await ask('eth_getBlockByNumber', 'latest', false).catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: -32000,
    reason: 'HEADER_UNSUPPORTED',
    message: expect.stringMatching(
      /^http:\S+: the header of block 1 has members .* \(laterRoot\): use a newer version$/,
    ),
    details: { block: '1', members: ['laterRoot'], method: expect.stringContaining('eth_getBlockByNumber') },
  });
  expect(degraded).toEqual([]);
});

test('another endpoint is asked where one has headers of a later fork', async () => {
  const later = amsterdamFetch(() => true, { laterRoot: `0x${'12'.repeat(32)}` });
  let newer = '';
  let asked = 0;
  const degraded: string[] = [];
  const { dev, ask, endpoints } = await lightScene({
    chain: { level: 'plain' },
    more: {
      fetch: (input, init) => {
        if (new URL(String(input)).href !== newer) return fetch(input, init);
        asked++;
        return later(input, init);
      },
      upstreamObserver: { event: ({ type, origin }) => void (type === 'degraded' && degraded.push(origin)) },
    },
  });
  newer = new URL(endpoints[0]!.url).href;
  await dev.ask('anvil_mine', 2);
  expect(await ask('eth_getBlockByNumber', '0x1', false)).toEqual(await dev.ask('eth_getBlockByNumber', '0x1', false));
  expect(asked).toBeGreaterThan(0);
  // The first may be right: nothing was proved against it.
  expect(degraded).toEqual([]);
});

test('by its hash, a header of known members shows that one with unknown members was false', async () => {
  const later = amsterdamFetch(() => true, { laterRoot: `0x${'12'.repeat(32)}` });
  let newer = '';
  const degraded: string[] = [];
  const { dev, ask, endpoints } = await lightScene({
    chain: { level: 'plain' },
    more: {
      fetch: (input, init) => (new URL(String(input)).href === newer ? later(input, init) : fetch(input, init)),
      upstreamObserver: { event: ({ type, origin }) => void (type === 'degraded' && degraded.push(origin)) },
    },
  });
  newer = new URL(endpoints[0]!.url).href;
  await dev.ask('anvil_mine', 3);
  const block = await dev.ask<Block>('eth_getBlockByNumber', '0x1', false);
  expect(await ask('eth_getBlockByHash', block.hash, false)).toEqual(block);
  expect(degraded).toEqual([new URL(newer).origin]);
});
