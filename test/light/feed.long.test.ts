import { expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import { originOf } from '../../src/errors.js';
import { serve } from '../../src/hosts/cli/server.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { isProviderRpcError } from '../../src/hosts/provider/provider-error.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import type { EndpointEvent } from '../../src/upstream/endpoint.js';
import { accountAt, devNode, stranger, word } from '../support/dev-node.js';
import { serveMock } from '../support/mock-chain.js';
import { seededRandom } from '../support/random.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { TurnClock } from '../support/turn-clock.js';

/* A light node over a feed, and over caches that changed what the feed said. */

const FEW_ROUNDS = 3;
const network = devnet({ hardfork: 'amsterdam' });
const OWNER = accountAt(0);
const RECEIVER = stranger('e1');
const padded = (hex: string) => hex.slice(2).padStart(64, '0');
const KEY = bytesToHex(tokenBalanceSlot(hexToBytes(RECEIVER)));
const BALANCE_OF: Hex = `0x70a08231${padded(RECEIVER)}`;

type Question = readonly [method: string, ...params: unknown[]];
/** What a wallet asks, of the newest block. */
const QUESTIONS: readonly Question[] = [
  ['eth_getBalance', OWNER, 'latest'],
  ['eth_getCode', TEST_TOKEN, 'latest'],
  ['eth_call', { to: TEST_TOKEN, data: BALANCE_OF }, 'latest'],
  ['eth_getBlockByNumber', 'latest', true],
  ['eth_getBlockReceipts', 'latest'],
  ['eth_getBlockAccessList', 'latest'],
  ['eth_getProof', TEST_TOKEN, [KEY, word(2n), word(7n)], 'latest'],
  ['linea_getProof', TEST_TOKEN, [KEY, word(2n)], 'finalized'],
  ['linea_getProof', stranger('e2'), [KEY], 'finalized'],
];

/** An answer of a cache: of the path behind `/feed/`. */
type Cached = (path: string, body: string) => string | Promise<string>;
const honest: Cached = (_, body) => body;

const ask = (node: PlumblineNode, [method, ...params]: Question) =>
  node.request<UntypedMethod>({ method, params }) as Promise<unknown>;

/** A served devnet in which a token has moved, and light nodes that see its feed through a cache. */
async function scene() {
  const dev = await devNode({ chain: { kind: 'devnet', network } });
  const server = await serve(dev.node, { port: 0, feed: {} });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const origin = `http://127.0.0.1:${server.port}`;
  const feed = `${origin}/feed`;
  const layerOne = await serveMock(dev.node.l1);
  onTestFinished(() => layerOne.close());
  const next = () => dev.ask('eth_sendTransaction', { from: OWNER, to: TEST_TOKEN, data: transfer(1n) });
  await next();
  const asked: string[] = [];
  const open = async (cached: Cached = honest, chain: Partial<LightChainOptions> = {}, more: InlineOptions = {}) => {
    const through: typeof fetch = async (input, init) => {
      const url = String(input);
      const response = await fetch(url, init);
      if (!url.startsWith(`${feed}/`)) return response;
      const path = url.slice(feed.length + 1);
      asked.push(path);
      const { status, headers } = response;
      const body = await response.text();
      return new Response(status === 200 ? await cached(path, body) : body, { status, headers });
    };
    const endpoints = [{ feed }];
    const options = { kind: 'light', network, endpoints, layerOne: [layerOne.url], headMaxAgeMs: 0, ...chain } as const;
    const node = await createInlineNode({ chain: options, fetch: through, ...more });
    onTestFinished(() => node.close());
    return node;
  };
  return { dev, origin, feed, next, asked, open };
}

const transfer = (amount: bigint): Hex => `0xa9059cbb${padded(RECEIVER)}${amount.toString(16).padStart(64, '0')}`;

/** The answers, or the reasons of errors. */
async function outcomes(node: PlumblineNode): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const question of QUESTIONS) {
    answers.push(
      await ask(node, question).catch((error: unknown) => {
        if (!isProviderRpcError(error)) throw error;
        return { refused: error.reason };
      }),
    );
  }
  return answers;
}

/** Each answer is the true one, or refused. @returns how many were refused */
function requireTrue(found: readonly unknown[], right: readonly unknown[], what: string): number {
  let refused = 0;
  for (const [i, answer] of found.entries()) {
    const { refused: reason } = (answer ?? {}) as { refused?: string };
    if (reason === undefined) expect(answer, `${what}: ${QUESTIONS[i]![0]}`).toEqual(right[i]);
    else refused++;
    // A mistake of this program is no refusal.
    expect(reason, what).not.toBe('INTERNAL');
  }
  return refused;
}

test('answers through a feed are those of the node behind it, and proved', async () => {
  const { dev, open } = await scene();
  const node = await open();
  const classes: string[] = [];
  node.on('answer', ({ class: kind }) => classes.push(kind));
  for (const question of QUESTIONS) expect(await ask(node, question)).toEqual(await ask(dev.node, question));
  expect(classes).toEqual(['proved', 'proved', 'computed', ...Array(6).fill('proved')]);
});

test('two wallets ask for the same URLs but for what is their own', async () => {
  const { asked, open } = await scene();
  const urls: string[][] = [];
  for (const owner of [stranger('a1'), stranger('a2')]) {
    const node = await open();
    asked.length = 0;
    await ask(node, ['eth_getBalance', owner, 'latest']);
    await ask(node, ['eth_call', { to: TEST_TOKEN, data: `0x70a08231${padded(owner)}` }, 'latest']);
    urls.push([...new Set(asked)].sort());
  }
  const [first, second] = urls as [string[], string[]];
  const own = (some: readonly string[], others: readonly string[]) => some.filter((path) => !others.includes(path));
  const kinds = (paths: readonly string[]) => paths.map((path) => path.split('/')[2]);
  // Its account, and the slot of its balance.
  expect(kinds(own(first, second))).toEqual(['account', 'slot']);
  expect(kinds(own(second, first))).toEqual(['account', 'slot']);
  expect(own(first, second)[0]).toContain(stranger('a1'));
  expect(first.length).toBeGreaterThan(5);
});

test('where access lists carry the state, no later URL names an account or a slot', async () => {
  const { asked, next, open } = await scene();
  // It reads the newest block before each call.
  const node = await open();
  const wallet = async () => {
    await ask(node, ['eth_getBalance', OWNER, 'latest']);
    return ask(node, ['eth_call', { to: TEST_TOKEN, data: BALANCE_OF }, 'latest']);
  };
  await wallet();
  expect(asked.some((path) => path.includes('/account/'))).toBe(true);
  for (let amount = 2n; amount < 6n; amount++) {
    await next();
    asked.length = 0;
    expect(BigInt((await wallet()) as Hex)).toBe(amount);
    expect(asked.some((path) => path.endsWith('/access-list'))).toBe(true);
    expect(asked.filter((path) => /account|slot|code/.test(path))).toEqual([]);
  }
});

test('what a feed does not have, another endpoint answers, and the feed is not accused', async () => {
  const { dev, feed, asked, open } = await scene();
  const mock = await serveMock(dev.node);
  onTestFinished(() => mock.close());
  const events: EndpointEvent[] = [];
  const upstreamObserver = { event: (event: EndpointEvent) => void events.push(event) };
  const node = await open(honest, { endpoints: [{ feed }, mock.url] }, { upstreamObserver });
  const hash = await dev.ask<Hex>('eth_sendTransaction', { from: OWNER, to: RECEIVER });
  expect(await ask(node, ['eth_getTransactionByHash', hash])).toMatchObject({ hash });
  await ask(node, ['linea_estimateGas', { from: OWNER, to: TEST_TOKEN, data: transfer(1n) }]);
  expect(await ask(node, ['eth_getBlockByNumber', '0x0', false])).toMatchObject({ number: '0x0' });
  expect(await ask(node, ['eth_getBlockByHash', `0x${'ab'.repeat(32)}`, false])).toBe(null);
  // Wallets ask so until their transaction is in a block.
  for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt'])
    expect(await ask(node, [method, `0x${'ab'.repeat(32)}`])).toBe(null);
  expect(events).toEqual([]);
  expect(mock.seen.flat().map(({ method }) => method)).toContain('eth_getTransactionByHash');
  expect(asked.some((path) => path.includes('/account/'))).toBe(true);
});

test('a feed carries the consensus of layer 1 too', async () => {
  const { dev, origin, feed, open } = await scene();
  await dev.ask('anvil_mine', '0x8');
  const headers = await fetch(`${origin}/l1/eth/v1/beacon/headers/finalized`);
  const { data } = (await headers.json()) as { data: { root: Hex } };
  const layerOne = { consensus: [feed], execution: [`${origin}/l1`], checkpoint: { root: data.root } };
  const node = await open(honest, { layerOne });
  const levels: unknown[] = [];
  node.on('answer', ({ level }) => levels.push(level));
  const found = (await ask(node, ['eth_getBlockByNumber', 'finalized', false])) as { number: Hex };
  expect(Number(found.number)).toBeGreaterThan(0);
  expect(await ask(dev.node, ['eth_getBlockByNumber', found.number, false])).toEqual(found);
  expect(levels).toEqual(['settled']);
});

test('a feed alone says that it does not serve a method', async () => {
  const { origin, open } = await scene();
  const node = await open();
  const error = await ask(node, ['eth_sendRawTransaction', '0x00']).catch((thrown: unknown) => thrown);
  expect(isProviderRpcError(error)).toBe(true);
  const sent = await ask(node, ['eth_getTransactionByHash', `0x${'ab'.repeat(32)}`]).catch((thrown: unknown) => thrown);
  expect((sent as Error).message).toBe(
    `${originOf(origin)} answered eth_getTransactionByHash with error -32601, it says "a feed does not serve eth_getTransactionByHash"`,
  );
});

test('a feed and the node behind it are one origin: their heads are one vote', async () => {
  const { dev, origin, feed, open } = await scene();
  await expect(open(honest, { endpoints: [{ feed }, origin], level: 'linked' })).rejects.toMatchObject({
    code: 'INVALID_PARAMETER',
    message: expect.stringContaining('linked needs endpoints of two hosts or more'),
  });
  const mock = await serveMock(dev.node, {
    tamper: ({ params: [named] }, result) =>
      named === 'latest' ? dev.ask('eth_getBlockByNumber', '0x0', false) : result,
  });
  onTestFinished(() => mock.close());
  // Two origins, of which one is behind: the newest block on which both agree.
  const node = await open(honest, { endpoints: [{ feed }, origin, mock.url], level: 'linked' });
  expect(await ask(node, ['eth_blockNumber'])).toBe('0x0');
});

test('after a reorg, blocks that are asked for by number are those of the new branch', async () => {
  const { dev, asked, next, open } = await scene();
  const events: EndpointEvent[] = [];
  const node = await open(honest, {}, { upstreamObserver: { event: (event) => void events.push(event) } });
  const snapshot = await dev.ask('evm_snapshot');
  for (let i = 0; i < 3; i++) await next();
  const height = await dev.ask<Hex>('eth_blockNumber');
  const question: Question = ['eth_getBlockByNumber', '0x2', false];
  expect(await ask(node, ['eth_blockNumber'])).toBe(height);
  const before = await ask(node, question);
  await dev.ask('evm_revert', snapshot);
  await dev.ask('anvil_mine', '0x5');
  expect(await ask(node, ['eth_blockNumber'])).toBe('0x6');
  expect(await ask(node, question)).toEqual(await ask(dev.node, question));
  expect(await ask(node, question)).not.toEqual(before);
  expect(await outcomes(node)).toEqual(await outcomes(dev.node));
  expect(asked.length).toBeGreaterThan(0);
  expect(events).toEqual([]);
});

test('an object of which one byte is changed changes no answer', async () => {
  const { dev, asked, open } = await scene();
  const right = await outcomes(dev.node);
  await outcomes(await open());
  const paths = [...new Set(asked)];
  const kinds = new Set(paths.map((path) => path.split('/')[path.startsWith('block/') ? 2 : 0]));
  expect(kinds).toEqual(new Set(['head', 'account', 'slot', 'code', 'body', 'receipts', 'access-list', 'zk']));
  const random = seededRandom(1);
  let refused = 0;
  for (const changed of paths) {
    for (let round = 0; round < FEW_ROUNDS; round++) {
      const node = await open((path, body) => (path === changed ? flipped(body, random(body.length)) : body));
      refused += requireTrue(await outcomes(node), right, changed);
    }
  }
  expect(refused).toBeGreaterThan(paths.length);
});

/** The text with another character at an index. */
function flipped(text: string, index: number): string {
  return `${text.slice(0, index)}${text[index] === '7' ? '8' : '7'}${text.slice(index + 1)}`;
}

test('objects that are exchanged change no answer', async () => {
  const { dev, asked, feed, open } = await scene();
  const right = await outcomes(dev.node);
  await outcomes(await open());
  const paths = [...new Set(asked)];
  let refused = 0;
  for (const [i, changed] of paths.entries()) {
    for (const other of [paths[(i + 1) % paths.length]!, paths[(i + 4) % paths.length]!]) {
      const stored = await (await fetch(`${feed}/${other}`)).text();
      const node = await open((path, body) => (path === changed ? stored : body));
      refused += requireTrue(await outcomes(node), right, `${other} for ${changed}`);
    }
  }
  expect(refused).toBeGreaterThan(paths.length);
});

test('old objects under the names of new ones change no answer', async () => {
  const { dev, next, feed, asked, open } = await scene();
  const { hash: old } = await dev.ask<{ hash: Hex }>('eth_getHeaderByNumber', 'latest');
  await outcomes(await open());
  await next();
  const { hash: now } = await dev.ask<{ hash: Hex }>('eth_getHeaderByNumber', 'latest');
  const right = await outcomes(dev.node);
  const paths = [...new Set(asked)].filter((path) => path.includes(old));
  expect(paths.length).toBeGreaterThan(5);
  let refused = 0;
  for (const stale of [...paths, 'all']) {
    const node = await open(async (path, body) => {
      const before = path.replace(now, old);
      return path.includes(now) && (stale === 'all' || before === stale)
        ? (await fetch(`${feed}/${before}`)).text()
        : body;
    });
    refused += requireTrue(await outcomes(node), right, stale);
  }
  expect(refused).toBeGreaterThan(paths.length);
});

test('an old newest block is refused once it is older than the limit, by the clock of the node', async () => {
  const { dev, next, feed, open } = await scene();
  const clock = new ShiftedClock();
  const old = await (await fetch(`${feed}/head/latest`)).text();
  const before = await outcomes(dev.node);
  await next();
  const stale: Cached = (path, body) => (path === 'head/latest' ? old : body);
  // A minute old: what it answers is true of the block that it names.
  clock.advance(60_000);
  const recent = await open(stale, {}, { clock });
  expect(await ask(recent, ['eth_blockNumber'])).toBe('0x1');
  expect((await outcomes(recent)).slice(0, 6)).toEqual(before.slice(0, 6));
  clock.advance(300_000);
  const late = await open(stale, {}, { clock });
  const error = await ask(late, ['eth_blockNumber']).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' });
  expect((error as Error).message).toMatch(
    /the newest block of the feed is 36\d s old by the clock here, and maxAgeMs allows 300 s/,
  );
  // A time that is made up is not that of the hash.
  const forged = await open(
    (path, body) => {
      if (path !== 'head/latest') return body;
      const { chainId, header } = JSON.parse(old) as { chainId: Hex; header: object };
      return JSON.stringify({
        chainId,
        header: { ...header, timestamp: `0x${Math.floor(clock.now() / 1000).toString(16)}` },
      });
    },
    {},
    { clock },
  );
  await expect(ask(forged, ['eth_blockNumber'])).rejects.toMatchObject({ reason: 'ANSWER_REFUSED' });
  const patient = await open(stale, { endpoints: [{ feed, maxAgeMs: 3_600_000 }] }, { clock });
  expect(await ask(patient, ['eth_blockNumber'])).toBe('0x1');
});

test('answers that are no objects of a feed are faults of it', async () => {
  const { open } = await scene();
  for (const body of ['null', '{}', '"x"', '<html>', '{"chainId":"0xe703","header":{}}']) {
    const node = await open(() => body, {}, { clock: new TurnClock() });
    await expect(ask(node, ['eth_blockNumber']), body).rejects.toMatchObject({
      reason: expect.stringMatching(/^UPSTREAM_(?:MALFORMED|CONFIGURATION)$/),
    });
  }
});
