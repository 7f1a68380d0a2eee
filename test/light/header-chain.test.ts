import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BlockFinder, SEALED_DEPTH } from '../../src/chain/light/heads/block-finder.js';
import { HeadFollower } from '../../src/chain/light/heads/head-follower.js';
import { HeaderChain, type LinkedSegment } from '../../src/chain/light/heads/header-chain.js';
import { Heads } from '../../src/chain/light/heads/heads.js';
import { LightBlock, readLightBlock } from '../../src/chain/light/heads/light-block.js';
import { headerHash } from '../../src/ethereum/header.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { formatHeader } from '../../src/rpc/schema/format.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import type { Eip1193Provider } from '../../src/upstream/json-rpc.js';
import { ShiftedClock } from '../support/shifted-clock.js';

const network = devnet();
const BLOCKS = 100;
let dev: PlumblineNode;
const blocks: LightBlock[] = [];
beforeAll(async () => {
  dev = await createInlineNode();
  for (let at = 0; at <= BLOCKS; at++) {
    if (at > 0) await dev.request({ method: 'evm_mine', params: [] });
    blocks.push(
      readLightBlock(network, await dev.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }))!,
    );
  }
  return () => dev.close();
});

function openGroup(request: Eip1193Provider['request'] = (asked) => dev.request<UntypedMethod>(asked)): EndpointGroup {
  const group = new EndpointGroup({ role: 'l2', endpoints: [{ provider: { request }, name: 'dev' }] });
  onTestFinished(() => group.close());
  return group;
}
const accepted = (number: number) => ({ block: blocks[number]!, level: 'plain', origins: ['dev'] }) as const;

describe('headers that the chain keeps', () => {
  test('headers linked from below are bounded, and so are their levels', async () => {
    const chain = new HeaderChain(openGroup(), network, 4, 8);
    for (let number = 40; number <= BLOCKS; number++) {
      await chain.adopt(accepted(number));
      await chain.ancestor(number - 40);
      const linked = Reflect.get(chain, 'linked') as LinkedSegment;
      const levels = Reflect.get(linked.levels, 'levels') as Map<string, unknown>;
      expect(levels.size).toBeLessThanOrEqual(16);
    }
    await chain.adopt(accepted(BLOCKS));
    expect(chain.levelOf(blocks[BLOCKS]!)).toBe('plain');
    expect(chain.at(BLOCKS)).toBeDefined();
  });
});

describe('heads that the chain refuses', () => {
  /** A block as an endpoint would invent it: with the hash that its fields have. */
  function invented(number: number, fields: Partial<LightBlock['header']>): LightBlock {
    const header = { ...blocks[number]!.header, ...fields };
    return new LightBlock(header, headerHash(header));
  }

  test('a head whose time is not after its parent’s is refused', async () => {
    const chain = new HeaderChain(openGroup(), network, 4);
    await chain.adopt(accepted(5));
    const block = invented(6, { timestamp: blocks[5]!.header.timestamp });
    await expect(chain.adopt({ ...accepted(6), block })).rejects.toMatchObject({
      code: 'ANSWER_REFUSED',
      details: { check: 'TIMESTAMP_ORDER' },
    });
    expect([chain.head, chain.levelOf(block)]).toEqual([blocks[5], undefined]);
  });

  test('a reorg that is too deep: none of its blocks is accepted any more', async () => {
    const fork = new Map<string, LightBlock>();
    for (let number = 1; number <= 12; number++) {
      const below = fork.get(`0x${(number - 1).toString(16)}`) ?? blocks[0]!;
      fork.set(`0x${number.toString(16)}`, invented(number, { parentHash: below.hash, miner: new Uint8Array(20) }));
    }
    const chain = new HeaderChain(
      openGroup(async ({ params }) => formatHeader(fork.get(String(params?.[0]))!)),
      network,
      2,
    );
    for (let number = 1; number <= 6; number++) await chain.adopt(accepted(number));
    const head = fork.get('0xc')!;
    await expect(chain.adopt({ ...accepted(12), block: head })).rejects.toMatchObject({
      code: 'TRUST_LEVEL_NOT_REACHED',
    });
    expect(chain.head).toBe(blocks[6]);
    expect([...fork.values()].map((block) => chain.levelOf(block))).toEqual(Array(12).fill(undefined));
    expect(chain.levelOf(blocks[6]!)).toBe('plain');
  });
});

test.each([1, 2, 5])('a head %i blocks above one of another branch takes that back, and says so', async (above) => {
  const branch = new Map<string, LightBlock>();
  for (let number = 4, below = blocks[3]!; number <= 6 + above; number++) {
    const header = { ...blocks[number]!.header, parentHash: below.hash, miner: new Uint8Array(20) };
    below = new LightBlock(header, headerHash(header));
    branch.set(`0x${number.toString(16)}`, below);
  }
  const group = openGroup(async (asked) => {
    const { params } = asked as unknown as { params: [string] };
    const block = branch.get(params[0]);
    return block === undefined ? dev.request<UntypedMethod>(asked) : { ...formatHeader(block) };
  });
  const chain = new HeaderChain(group, network, 4);
  for (let number = 2; number <= 6; number++) await chain.adopt(accepted(number));
  expect(chain.takenBack()).toBeUndefined();
  const head = [...branch.values()].at(-1)!;
  await chain.adopt({ ...accepted(6), block: head });
  expect(chain.head).toBe(head);
  expect(chain.takenBack()).toEqual({ from: blocks[6], to: head });
  expect(chain.at(3)?.hash).toEqual(blocks[3]!.hash);
});

describe('depth at level sealed', () => {
  /** A finder below a sealed head, and the height it links to. */
  function finderAt(top: number) {
    const linked: number[] = [];
    const head = { header: { number: top } };
    const headers = {
      head,
      at: () => undefined,
      recall: async () => {},
      depthBelow: (number: number) => top - number,
      ancestor: async (number: number) => linked.push(number) && blocks[0],
    };
    const heads = { rules: { level: 'sealed' }, sealsBlock: () => false };
    const finder = new BlockFinder({ current: async () => head } as never, headers as never, heads as never);
    return { finder, linked };
  }

  test('a block that was finalized two hours ago at one block a second is linked to the head', async () => {
    const { finder, linked } = finderAt(20_000);
    await finder.byNumber(20_000 - 7_200);
    expect(linked).toEqual([12_800]);
  });

  test('a deeper block is an error that names its depth', async () => {
    const { finder, linked } = finderAt(20_000);
    const message = `block 1 is 19999 blocks below the sealed head, and at most ${SEALED_DEPTH} blocks are linked to it`;
    await expect(finder.byNumber(1)).rejects.toMatchObject({
      code: 'TRUST_LEVEL_NOT_REACHED',
      message: expect.stringContaining(message),
    });
    expect(linked).toEqual([]);
  });
});

describe('a caller that aborts reading the head', () => {
  function follow(request: Eip1193Provider['request']) {
    const heads = new Heads(openGroup(request), network, { level: 'plain', agreeing: 1, maxLagBlocks: 32 });
    const activity = { isActive: true, onChange: () => () => {} };
    const options = { headMaxAgeMs: 1_000, network, activity, clock: new ShiftedClock() };
    return new HeadFollower(heads, new HeaderChain(openGroup(), network, 64), options);
  }

  test('gets its error at once; another caller still gets the head', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const follower = follow(async (asked) => {
      await gate;
      return dev.request<UntypedMethod>(asked);
    });
    const [leaving, staying] = [new AbortController(), new AbortController()];
    const left = follower.current(leaving.signal);
    const stayed = follower.current(staying.signal);
    leaving.abort(new Error('no longer'));
    await expect(left).rejects.toThrow('no longer');
    release();
    expect((await stayed).hash).toEqual(blocks[BLOCKS]!.hash);
  });

  test('aborts the read if no other caller waits, and the next caller reads again', async () => {
    let asked = 0;
    const follower = follow(async (call) => {
      asked++;
      return asked <= 2 ? new Promise(() => {}) : dev.request<UntypedMethod>(call);
    });
    const leaving = new AbortController();
    const left = follower.current(leaving.signal);
    await expect.poll(() => asked).toBeGreaterThan(0);
    leaving.abort(new Error('no longer'));
    await expect(left).rejects.toThrow('no longer');
    asked = 2;
    expect((await follower.current()).hash).toEqual(blocks[BLOCKS]!.hash);
  });
});

describe('a settled block', () => {
  /** Blocks 20 and 21 of another chain, linked to each other. */
  function otherChain(): [below: LightBlock, head: LightBlock] {
    const of = (number: number, fields: Partial<LightBlock['header']>) => {
      const header = { ...blocks[number]!.header, ...fields };
      return new LightBlock(header, headerHash(header));
    };
    const below = of(20, { gasUsed: 1n });
    return [below, of(21, { parentHash: below.hash })];
  }

  test('a held chain with another block at its height is forgotten, and refused from then on', async () => {
    const chain = new HeaderChain(openGroup(), network, 4);
    const [below, head] = otherChain();
    const adopt = (block: LightBlock) => chain.adopt({ block, level: 'plain', origins: ['dev'] });
    await adopt(below);
    await adopt(head);
    chain.settle(blocks[20]!);
    expect(chain.head).toBeUndefined();
    expect(chain.takenBack()).toEqual({ from: head, to: blocks[20] });
    await expect(adopt(below)).rejects.toMatchObject({ code: 'TRUST_LEVEL_NOT_REACHED' });
    await chain.adopt(accepted(21));
    expect(chain.head).toBe(blocks[21]);
    await chain.ancestor(18);
    expect([18, 19, 20, 21].map((number) => chain.levelOf(blocks[number]!))).toEqual([
      'plain',
      'plain',
      'settled',
      'plain',
    ]);
  });

  test('headers that lead down to another block are refused', async () => {
    const [below, head] = otherChain();
    const group = openGroup(async (asked) => {
      const { params } = asked as unknown as { params: [string] };
      const block = [below, head].find(({ header }) => `0x${header.number.toString(16)}` === params[0]);
      return block === undefined ? dev.request<UntypedMethod>(asked) : { ...formatHeader(block) };
    });
    const chain = new HeaderChain(group, network, 4);
    chain.settle(blocks[20]!);
    await chain.adopt({ block: head, level: 'plain', origins: ['dev'] });
    await expect(chain.ancestor(20)).rejects.toMatchObject({ code: 'TRUST_LEVEL_NOT_REACHED' });
  });
});
