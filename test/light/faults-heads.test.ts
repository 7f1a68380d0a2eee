import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, PRICE, stranger } from '../support/dev-node.js';
import { eventually } from '../support/eventually.js';
import { type HurriedNode, openHurried, serveFaulty } from '../support/faulty-node.js';
import type { MockUpstream } from '../support/mock-upstream.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const holder = accountAt(0);
const BEHIND = 200;
const QUESTIONS: [method: string, ...params: unknown[]][] = [
  ['eth_blockNumber'],
  ['eth_getBalance', holder, 'latest'],
  ['linea_estimateGas', { from: holder, to: token, data: transferCalldata(stranger('77'), 5n) }],
];

let dev: PlumblineNode;
let mocks: MockUpstream[];
const request = <T = unknown>(method: string, ...params: unknown[]) =>
  dev.request<UntypedMethod>({ method, params }) as Promise<T>;
let nonce = 0;
async function transfer(value: bigint): Promise<void> {
  const fields = { to: stranger('11'), value, gasLimit: 21_000n, ...PRICE };
  await request('eth_sendRawTransaction', signTransaction(0, { nonce: nonce++, ...fields }));
}

beforeAll(async () => {
  dev = await createInlineNode();
  await transfer(1n);
  for (let block = 0; block < BEHIND + 3; block++) await request('evm_mine');
  await transfer(1n);
  mocks = [await serveFaulty(dev), await serveFaulty(dev), await serveFaulty(dev)];
  // The first one has not heard of the newest blocks.
  const [behind] = mocks;
  const { handler } = behind!;
  behind!.handler = async (method, params) => {
    const newest = (Number(await request('eth_blockNumber')) - BEHIND).toString(16);
    const old = params.map((param) => (param === 'latest' ? `0x${newest}` : param));
    if (old.some((param) => /^0x[0-9a-f]{1,8}$/.test(String(param)) && Number(param) > Number(`0x${newest}`)))
      return null;
    return handler(method, old);
  };
});
afterAll(async () => {
  await Promise.all(mocks.map((mock) => mock.close()));
  await dev.close();
});

const urls = (...which: number[]) => which.map((i) => mocks[i]!.url);
async function expectTruth(node: HurriedNode): Promise<void> {
  for (const [method, ...params] of QUESTIONS) {
    const { answer, error } = await node.ask(method, ...params);
    expect(answer ?? error).toEqual(await request(method, ...params));
  }
}

describe('an endpoint 200 blocks behind', () => {
  test('beside one other endpoint there is no head, and the error names both heights', async () => {
    const node = await openHurried(urls(0, 1));
    for (const [method, ...params] of QUESTIONS) {
      const { error } = await node.ask(method, ...params);
      expect(error).toMatchObject({ code: 'TRUST_LEVEL_NOT_REACHED', message: /at 5, .*at 205$/ });
    }
    expect(await node.close()).toBe(0);
  });

  test.each([[[0, 1, 2]], [[1, 0, 2]]])('among three, asked in the order %j: the newest head', async (order) => {
    const node = await openHurried(urls(...order));
    await expectTruth(node);
    expect(await node.close()).toBe(0);
  });

  test('a node that has seen a later head does not go back', async () => {
    const fallen = await serveFaulty(dev);
    const node = await openHurried([fallen.url, ...urls(1)], { level: 'plain' });
    await expectTruth(node);
    fallen.handler = mocks[0]!.handler;
    node.clock.advance(60_000);
    await expectTruth(node);
    expect(await node.close()).toBe(0);

    const alone = await openHurried(urls(1), { level: 'plain' });
    await expectTruth(alone);
    const { handler } = mocks[1]!;
    mocks[1]!.handler = mocks[0]!.handler;
    alone.clock.advance(60_000);
    const { error } = await alone.ask('eth_blockNumber');
    mocks[1]!.handler = handler;
    expect(error).toMatchObject({ code: 'TRUST_LEVEL_NOT_REACHED', message: /no endpoint has reached block 173/ });
    alone.clock.advance(60_000);
    await expectTruth(alone);
    expect(await alone.close()).toBe(0);
    await fallen.close();
  });

  test('one that is only a few blocks behind what the node has seen changes nothing', async () => {
    const node = await openHurried(urls(1), { level: 'plain' });
    await expectTruth(node);
    const { handler } = mocks[1]!;
    const newest = Number(await request('eth_blockNumber')) - 7;
    mocks[1]!.handler = (method, params) =>
      handler(
        method,
        params.map((param) => (param === 'latest' ? `0x${newest.toString(16)}` : param)),
      );
    node.clock.advance(60_000);
    const { answer } = await node.ask('eth_blockNumber');
    mocks[1]!.handler = handler;
    expect(answer).toBe(await request('eth_blockNumber'));
    expect(await node.close()).toBe(0);
  });
});

describe('a re-organization of three blocks', () => {
  test.each([
    ['plain', [1]],
    ['linked', [1, 2]],
  ] as const)('at level %s: what is answered is of the new blocks', async (level, which) => {
    const node = await openHurried(urls(...which), { level });
    await expectTruth(node);
    const kept = await request<Hex>('evm_snapshot');
    const before = nonce;
    for (let block = 0; block < 3; block++) await transfer(7n);
    node.clock.advance(60_000);
    await expectTruth(node);
    const top = await request<Hex>('eth_blockNumber');
    await node.ask('eth_getBlockByNumber', top, false);
    const gone = (await request<{ hash: Hex }>('eth_getBlockByNumber', top, false)).hash;
    await request('evm_revert', kept);
    nonce = before;
    for (let block = 0; block < 3; block++) await transfer(5n + BigInt(block));
    node.clock.advance(60_000);
    await expectTruth(node);
    for (let back = 0; back < 4; back++) {
      const at = `0x${(Number(top) - back).toString(16)}`;
      const { answer, error } = await node.ask('eth_getBlockByNumber', at, true);
      expect(answer ?? error, at).toEqual(await request('eth_getBlockByNumber', at, true));
    }
    expect((await node.ask('eth_getBlockByHash', gone, false)).answer).toBeNull();
    expect(await node.close()).toBe(0);
  });
});

describe('more endpoints fail than may', () => {
  test.each([
    [{ kind: 'reset' }, 'UPSTREAM_UNAVAILABLE', 4],
    [{ kind: 'status', status: 401, body: 'no key' }, 'UPSTREAM_CONFIGURATION', 1],
    [{ kind: 'rate-limit', retryAfter: '3600' }, 'UPSTREAM_RATE_LIMITED', 1],
  ] as const)('%o: an error with the reason, after few requests', async (fault, code, most) => {
    for (const [level, count, healthy] of [
      ['plain', 2, 0],
      ['linked', 3, 0],
      ['linked', 3, 1],
      ['linked', 4, 1],
    ] as const) {
      const served = await Promise.all(Array.from({ length: count }, () => serveFaulty(dev)));
      for (const mock of served.slice(healthy)) mock.fail(fault);
      const node = await openHurried(
        served.map(({ url }) => url),
        { level },
      );
      const { error } = await node.ask('eth_blockNumber');
      expect(error, `${level}, ${healthy} of ${count}`).toMatchObject({ code });
      for (const mock of served.slice(healthy)) expect(mock.requests.length).toBeLessThanOrEqual(most);
      expect(await node.close()).toBe(0);
      await Promise.all(served.map((mock) => mock.close()));
    }
  });

  test('a node that is closed meanwhile ends', async () => {
    const served = await Promise.all([0, 1, 2].map(() => serveFaulty(dev)));
    for (const mock of served) mock.fail({ kind: 'silence' });
    const node = await openHurried(served.map(({ url }) => url));
    const asked = node.ask('eth_blockNumber');
    await eventually(async () => expect(served[0]!.requests.length).toBeGreaterThan(0));
    expect(await node.close()).toBe(0);
    expect((await asked).error).toBeDefined();
    await Promise.all(served.map((mock) => mock.close()));
  });
});
