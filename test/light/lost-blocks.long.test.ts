import { describe, expect, onTestFinished, test } from 'vitest';
import { HeaderChain } from '../../src/chain/light/heads/header-chain.js';
import type { AcceptedBlock } from '../../src/chain/light/heads/heads.js';
import { readLightBlock } from '../../src/chain/light/heads/light-block.js';
import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import { accountAt, devNode, PRICE, stranger } from '../support/dev-node.js';
import { type LightScene, lightScene } from '../support/light-node.js';
import type { MockOptions } from '../support/mock-chain.js';

/** A block of JSON-RPC, as far as these tests read it. */
type BlockJson = { readonly number: string; readonly hash: string };

/** Heights above which a snapshot is taken, and of the known head. */
const HEAD = 100;

interface Lost extends LightScene {
  /** The head that the light node knows, as its endpoints named it. */
  readonly known: BlockJson;
  readonly reports: AnswerReport[];
}

/** A light node that knows the head of 100 blocks, whose endpoints then lose all blocks above one and make others. */
async function lose(
  keep: number,
  make: number,
  { chain = {}, endpoints = [{}, {}] }: { chain?: Partial<LightChainOptions>; endpoints?: MockOptions[] } = {},
): Promise<Lost> {
  const scene = await lightScene({ endpoints, chain: { layerOne: undefined as never, ...chain } });
  const { dev, light, clock } = scene;
  const reports: AnswerReport[] = [];
  await dev.ask('anvil_mine', keep);
  const snapshot = await dev.ask('evm_snapshot');
  for (let at = keep; at < HEAD; at++) await dev.ask('evm_mine');
  const known = await scene.ask<BlockJson>('eth_getBlockByNumber', 'latest', false);
  expect(Number(known.number)).toBe(HEAD);
  await dev.ask('evm_revert', snapshot);
  for (let nonce = 0; nonce < make; nonce++) await dev.transfer(0, { nonce, to: stranger('aa'), value: 5n, ...PRICE });
  // None has a block that is gone: the devnet forgets it.
  expect(await dev.ask('eth_getBlockByHash', known.hash, false)).toBeNull();
  light.on('answer', (report) => void reports.push(report));
  clock.advance(5_000);
  return { ...scene, known, reports };
}

describe('blocks that all endpoints have lost', () => {
  test.each([
    ['3 blocks, and none in their place', 97, 0, {}],
    ['3 blocks, and fewer in their place', 97, 1, {}],
    ['3 blocks, and as many in their place', 97, 3, {}],
    ['3 blocks, and more in their place', 97, 9, {}],
    ['50 blocks, further than an endpoint may lag', 50, 0, {}],
    ['50 blocks, and others in their place', 50, 4, {}],
    ['64 blocks, and none in their place', 36, 0, {}],
    ['all but two, where that is allowed', 2, 1, { maxReorgDepth: 128 }],
    ['3 blocks, level plain', 97, 2, { level: 'plain' }],
  ] as const)('%s', async (_, keep, make, chain) => {
    const { dev, ask, known, reports } = await lose(keep, make, { chain });
    const newest = await dev.ask<BlockJson>('eth_getBlockByNumber', 'latest', false);
    expect(await ask('eth_blockNumber')).toBe(newest.number);
    expect(reports).toMatchObject([
      {
        takenBack: {
          from: { number: HEAD, hash: known.hash },
          to: { number: Number(newest.number), hash: newest.hash },
        },
      },
    ]);
    for (const [method, ...params] of [
      ['eth_getBlockByNumber', 'latest', true],
      ['eth_getBlockByNumber', `0x${keep.toString(16)}`, false],
      ['eth_getBalance', stranger('aa'), 'latest'],
      ['eth_getTransactionCount', accountAt(0), 'latest'],
    ] as const)
      expect(await ask(method, ...params), method).toEqual(await dev.ask(method, ...params));
    expect(await ask('eth_getBlockByHash', known.hash, false)).toBeNull();
    // It is said once.
    expect(reports.slice(1).filter(({ takenBack }) => takenBack !== undefined)).toEqual([]);
  });

  test.each([
    ['50 blocks below a head of 100', 50, 0, 32],
    ['80 blocks', 20, 0, undefined],
  ])('a reorg that is known to be deeper is refused: %s', async (_, keep, make, maxReorgDepth) => {
    const { ask } = await lose(keep, make, { chain: maxReorgDepth === undefined ? {} : { maxReorgDepth } });
    await expect(ask('eth_blockNumber')).rejects.toThrow(/replaces more than \d+ blocks/);
  });

  test.each([
    [
      'one endpoint still has them',
      (known: BlockJson): MockOptions['tamper'] =>
        ({ method, params }, result) =>
          method === 'eth_getBlockByHash' && params[0] === known.hash ? known : result,
    ],
    [
      'one endpoint names another block',
      (): MockOptions['tamper'] =>
        ({ method, params }, result) => {
          if (method !== 'eth_getBlockByNumber' || params[0] === 'latest' || Number(params[0]) < 97) return result;
          return null;
        },
    ],
  ])('nothing is taken where %s', async (_, tamper) => {
    const { ask, endpoints, known } = await lose(97, 0);
    endpoints[1]!.options.tamper = tamper(known)!;
    await expect(ask('eth_blockNumber')).rejects.toThrow(/no endpoint has block 99 of the known one any more/);
  });

  test('nothing is taken while one endpoint does not answer: it may have them', async () => {
    const { ask, endpoints } = await lose(97, 0, { chain: { level: 'plain' } });
    endpoints[1]!.options.intercept = (response) => {
      response.writeHead(503).end();
      return true;
    };
    await expect(ask('eth_blockNumber')).rejects.toThrow(/too few endpoints answered/);
  });

  test('a node behind the same address that lags is no loss', async () => {
    let lags = false;
    let asked = 0;
    const scene = await lightScene({ endpoints: [{}], chain: { layerOne: undefined as never } });
    const { dev, ask, clock, endpoints } = scene;
    await dev.ask('anvil_mine', HEAD);
    const [before, head] = await Promise.all(
      ['0x62', '0x64'].map((number) => dev.ask<BlockJson>('eth_getBlockByNumber', number, false)),
    );
    endpoints[0]!.options.tamper = ({ method, params }, result) => {
      if (!lags) return result;
      if (params[0] === 'latest') return before;
      // The first time, the node that is behind answers.
      return method === 'eth_getBlockByHash' && params[0] === head!.hash && asked++ === 0 ? null : result;
    };
    expect(await ask('eth_blockNumber')).toBe('0x64');
    await ask('eth_getBlockByNumber', '0x60', false);
    lags = true;
    clock.advance(5_000);
    expect(await ask('eth_blockNumber')).toBe('0x64');
    expect(asked).toBe(2);
  });
});

describe('what is never taken back', () => {
  /** Headers down to block 95 of a chain that has lost the blocks above 97, and its head of before and now. */
  async function lostHeaders(
    finalized: number | undefined,
    level: AcceptedBlock['level'] = 'plain',
    newest = finalized,
  ) {
    const dev = await devNode();
    await dev.ask('anvil_mine', 97);
    const snapshot = await dev.ask('evm_snapshot');
    for (let at = 97; at < HEAD; at++) await dev.ask('evm_mine');
    const provider = { request: dev.node.request.bind(dev.node) as (asked: UntypedMethod) => Promise<unknown> };
    const group = new EndpointGroup({ role: 'l2', endpoints: [{ provider: provider as never, name: 'dev' }] });
    onTestFinished(() => group.close());
    const at = async (number: string) =>
      readLightBlock(devnet(), await dev.ask('eth_getBlockByNumber', number, false))!;
    const chain = new HeaderChain(group, devnet(), 64, 8192, undefined, {
      known: () => finalized,
      newest: async () => newest,
    });
    const head = await at('latest');
    const settled = await at('0x62');
    await chain.adopt({ block: head, level, origins: ['dev'] });
    await chain.ancestor(95);
    await dev.ask('evm_revert', snapshot);
    const adopt = async () => chain.adopt({ block: await at('latest'), level, origins: ['dev'] });
    return { dev, chain, head, settled, adopt };
  }

  test.each([undefined, 50, 97])('a head above what layer 1 finalized is taken (%s)', async (finalized) => {
    const { chain, adopt } = await lostHeaders(finalized);
    await adopt();
    expect(chain.head?.header.number).toBe(97);
  });

  test.each([0, 1, 5])('a block that layer 1 finalized, by %i new blocks', async (made) => {
    const { dev, chain, head, adopt } = await lostHeaders(98);
    for (let nonce = 0; nonce < made; nonce++) await dev.transfer(0, { nonce });
    await expect(adopt()).rejects.toMatchObject({
      code: 'TRUST_LEVEL_NOT_REACHED',
      message: expect.stringMatching(/takes back block 98, which layer 1 has finalized/),
    });
    expect(chain.head).toBe(head);
  });

  test('a head below what layer 1 has finalized by now', async () => {
    const { chain, head, adopt } = await lostHeaders(undefined, 'plain', 98);
    await expect(adopt()).rejects.toThrow(/takes back block 98/);
    expect(chain.head).toBe(head);
  });

  test.each([0, 1, 5])('a block that consensus of layer 1 settled, by %i new blocks', async (made) => {
    const { dev, chain, head, settled, adopt } = await lostHeaders(undefined);
    chain.settle(settled);
    for (let nonce = 0; nonce < made; nonce++) await dev.transfer(0, { nonce });
    for (let time = 0; time < 2; time++)
      await expect(adopt()).rejects.toMatchObject({ code: 'TRUST_LEVEL_NOT_REACHED' });
    // By 5 the new head is above a gap: it is not accepted before its headers are linked.
    if (made < 5) expect(chain.head).toBe(head);
  });

  test('a sealed head: a seal outlasts the endpoints', async () => {
    const { chain, head, adopt } = await lostHeaders(undefined, 'sealed');
    await adopt();
    expect(chain.head).toBe(head);
  });
});
