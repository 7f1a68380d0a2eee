import { once } from 'node:events';
import { createServer, request as openRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import type { FeedOptions } from '../../src/hosts/cli/feed.js';
import { serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, type DevNode, devNode, sendFrom, stranger } from '../support/dev-node.js';

/* What a feed answers to GET, held against what the same node answers to JSON-RPC. */

const FOREVER = 'public, max-age=31536000, immutable';
const network = devnet({ hardfork: 'amsterdam' });
const OWNER = accountAt(0);
const KEY = bytesToHex(tokenBalanceSlot(hexToBytes(OWNER)));
const NOWHERE: Hex = `0x${'ab'.repeat(32)}`;

async function served(node: PlumblineNode, feed: FeedOptions = {}) {
  const server = await serve(node, { port: 0, feed });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const origin = `http://127.0.0.1:${server.port}`;
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${origin}/feed/${path}`, { method, headers });
  return { origin, get };
}

async function scene(feed?: FeedOptions) {
  const dev = await devNode({ chain: { kind: 'devnet', network } });
  await sendFrom(dev, 1, stranger('c7'));
  const { hash } = await dev.ask<{ hash: Hex }>('eth_getHeaderByNumber', 'latest');
  return { dev, hash, ...(await served(dev.node, feed)) };
}

/** Every object of a block, and what JSON-RPC says. */
async function objectsOf({ ask }: DevNode, blockHash: Hex): Promise<Record<string, unknown>> {
  const token = await ask<{ codeHash: Hex }>('eth_getProof', TEST_TOKEN, [], { blockHash });
  const { storageProof } = await ask<{ storageProof: unknown[] }>('eth_getProof', TEST_TOKEN, [KEY], { blockHash });
  return {
    [`block/${blockHash}/header`]: await ask('eth_getHeaderByHash', blockHash),
    [`block/${blockHash}/body`]: await ask('eth_getBlockByHash', blockHash, true),
    [`block/${blockHash}/receipts`]: await ask('eth_getBlockReceipts', blockHash),
    [`block/${blockHash}/access-list`]: await ask('eth_getBlockAccessList', blockHash),
    [`block/${blockHash}/account/${OWNER}`]: await ask('eth_getProof', OWNER, [], { blockHash }),
    [`block/${blockHash}/account/${TEST_TOKEN}`]: token,
    [`block/${blockHash}/slot/${TEST_TOKEN}/${KEY}`]: storageProof[0],
    [`block/${blockHash}/code/${TEST_TOKEN}`]: await ask('eth_getCode', TEST_TOKEN, { blockHash }),
    [`code/${token.codeHash}/${TEST_TOKEN}`]: await ask('eth_getCode', TEST_TOKEN, 'latest'),
  };
}

test('objects of a block are what JSON-RPC says of it, and any cache may keep them for ever', async () => {
  const { dev, hash, get } = await scene();
  const objects = await objectsOf(dev, hash);
  expect(Object.values(objects).every((value) => value !== null && value !== undefined)).toBe(true);
  for (const [path, value] of Object.entries(objects)) {
    const response = await get(path);
    expect(await response.json(), path).toEqual(value);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': FOREVER,
      'access-control-allow-origin': '*',
      vary: 'Accept-Encoding',
      'content-type': 'application/json',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
    });
  }
});

test('a proof of the zk state is under the hash of its block, each slot apart', async () => {
  const { dev, get } = await scene();
  for (let i = 0; i < 80; i++) await dev.ask('evm_mine');
  const { number, hash } = await dev.ask<{ number: Hex; hash: Hex }>('eth_getHeaderByNumber', 'finalized');
  expect(Number(number)).toBeGreaterThan(1);
  const proof = await dev.ask<{ storageProofs: unknown[] }>('linea_getProof', TEST_TOKEN, [KEY], number);
  const account = await get(`block/${hash}/zk/${TEST_TOKEN}`);
  expect(await account.json()).toEqual({ ...proof, storageProofs: [] });
  expect(account.headers.get('cache-control')).toBe(FOREVER);
  const slot = await get(`block/${hash}/zk/${TEST_TOKEN}/${KEY}`);
  expect(await slot.json()).toEqual({ proof: proof.storageProofs[0] });
});

test('a proof of the zk state has the same bytes, whatever its spelling at the endpoint of the origin', async () => {
  const { dev, get } = await scene();
  for (let i = 0; i < 3; i++) await dev.ask('evm_mine');
  const { hash } = await dev.ask<{ hash: Hex }>('eth_getHeaderByNumber', 'finalized');
  const respelled = (value: unknown): unknown => {
    if (typeof value === 'string') return `0x${value.slice(2).toUpperCase()}`;
    if (Array.isArray(value)) return value.map(respelled);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, one]) =>
      name === 'key' ? [name, `0x${BigInt(one).toString(16)}`] : [name, respelled(one)],
    );
    return Object.fromEntries(members.reverse());
  };
  const other = Object.create(dev.node) as PlumblineNode;
  other.request = (async (call: { method: 'linea_getProof'; params: never }) =>
    respelled(await dev.node.request(call))) as typeof other.request;
  const mirror = await served(other);
  for (const address of [TEST_TOKEN, stranger('0a')])
    for (const path of [`block/${hash}/zk/${address}`, `block/${hash}/zk/${address}/${KEY}`]) {
      const [first, second] = [await get(path), await mirror.get(path)];
      expect(first.status, path).toBe(200);
      expect(await second.text(), path).toBe(await first.text());
    }
});

test('a devnet and a light node over it give the same bytes and tags for the same questions', async () => {
  const { dev, hash, origin, get } = await scene();
  const light = await createInlineNode({ chain: { kind: 'light', network, endpoints: [origin] } });
  onTestFinished(() => light.close());
  const mirror = await served(light);
  for (const path of [...Object.keys(await objectsOf(dev, hash)), 'head/latest', 'head/0x0']) {
    const [first, second] = [await get(path), await mirror.get(path)];
    expect(second.headers.get('etag'), path).toBe(first.headers.get('etag'));
    expect(await second.text(), path).toBe(await first.text());
  }
});

test('an object that a client has is not sent again', async () => {
  const { hash, get } = await scene();
  const path = `block/${hash}/header`;
  const etag = (await get(path)).headers.get('etag')!;
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await get(path, { 'if-none-match': known });
    expect(again.status, known).toBe(304);
    expect(again.headers.get('cache-control')).toBe(FOREVER);
    expect(await again.text()).toBe('');
  }
  expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  const head = await get(path, {}, 'HEAD');
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
});

test('blocks by a name that changes are short-lived', async () => {
  const { dev, get } = await scene();
  for (const name of ['latest', 'finalized', '0x1']) {
    const response = await get(`head/${name}`);
    expect(await response.json(), name).toEqual({
      chainId: '0xe703',
      header: await dev.ask('eth_getHeaderByNumber', name),
    });
    expect(response.headers.get('cache-control')).toBe('public, max-age=1');
  }
});

test('each chain of a node has its feed', async () => {
  const { origin } = await scene();
  const statuses = [59_139, 1].map(async (id) => (await fetch(`${origin}/chain/${id}/feed/head/latest`)).status);
  expect(await Promise.all(statuses)).toEqual([200, 404]);
});

test('what is not held, and what is asked in another way than the one, is not stored', async () => {
  const { hash, get } = await scene();
  const wrong = [
    `block/${NOWHERE}/header`,
    `block/${NOWHERE}/account/${OWNER}`,
    `block/${hash}/zk/${OWNER}`,
    `code/${NOWHERE}/${TEST_TOKEN}`,
    'head/0x99',
    'head/0x01',
    'head/pending',
    `block/${hash.toUpperCase().replace('0X', '0x')}/header`,
    `block/${hash}/account/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266`,
    `block/${hash}/header?again`,
    `block/${hash}/header/`,
    `block/${hash}/slot/${TEST_TOKEN}/0x0`,
    'eth/v1/beacon/blocks/head',
    '',
  ];
  for (const path of wrong) {
    const response = await get(path);
    expect([response.status, response.headers.get('cache-control')], path).toEqual([404, 'no-store']);
    expect(await response.json()).toEqual({ code: expect.any(Number), message: expect.any(String) });
  }
  const post = await get(`block/${hash}/header`, {}, 'POST');
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

/** The status of a target that is sent as it is written: `fetch` would make another spelling of it. */
function rawStatus(origin: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    openRequest({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test('one question has one URL, as it is sent', async () => {
  const { hash, origin } = await scene();
  const path = `block/${hash}/header`;
  expect(await rawStatus(origin, `/feed/${path}`)).toBe(200);
  expect(await rawStatus(origin, '/chain/59139/feed/head/latest')).toBe(200);
  const others = [
    `/feed/1/../${path}`,
    `/feed/%2e/${path}`,
    `/feed/%62lock/${hash}/header`,
    `/feed/${path}?`,
    `/feed/${path}#1`,
    `/feed//${path}`,
    '/feed/eth/v1/beacon/light_client/updates?start_period=00&count=1',
    '/feed/eth/v1/beacon/light_client/updates?start_period=0&count=01',
    '/chain/059139/feed/head/latest',
    '/chain/1/feed/eth/v1/beacon/genesis',
  ];
  for (const other of others) expect(await rawStatus(origin, other), other).toBe(404);
});

test('code that was edited since a block is not the code of that block', async () => {
  const { dev, hash, get } = await scene();
  const path = `block/${hash}/code/${TEST_TOKEN}`;
  const code = await dev.ask('eth_getCode', TEST_TOKEN, 'latest');
  await dev.ask('anvil_setCode', TEST_TOKEN, '0x00');
  const edited = await get(path);
  expect([edited.status, edited.headers.get('cache-control')]).toEqual([404, 'no-store']);
  await dev.ask('evm_mine');
  expect(await (await get(path)).json()).toBe(code);
});

test('what the endpoints of a light node do not hold is not held, and asks nobody to wait', async () => {
  const { origin, hash } = await scene();
  let error = { code: -32000, message: 'missing trie node 1c2d (path ) state 0xab is not available' };
  const upstream = createServer(async (request, response) => {
    const body = await text(request);
    const { id, method } = (JSON.parse(body) as { id: number; method: string }[])[0] ?? JSON.parse(body);
    const said =
      method === 'eth_getProof'
        ? JSON.stringify({ jsonrpc: '2.0', id, error })
        : await (await fetch(origin, { method: 'POST', body })).text();
    response.setHeader('content-type', 'application/json').end(said);
  }).listen(0, '127.0.0.1');
  const beacon = createServer((_, response) => {
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"code":404,"message":"LC bootstrap unavailable"}');
  }).listen(0, '127.0.0.1');
  await Promise.all([once(upstream, 'listening'), once(beacon, 'listening')]);
  onTestFinished(() => void [upstream.close(), beacon.close()]);
  const [url, consensus] = [upstream, beacon].map((one) => `http://127.0.0.1:${(one.address() as AddressInfo).port}`);
  const light = await createInlineNode({
    chain: { kind: 'light', network, endpoints: [{ url: url!, batchLimit: 1 }] },
  });
  onTestFinished(() => light.close());
  const { get } = await served(light, { consensus: [consensus!] });
  for (const path of [`block/${hash}/account/${OWNER}`, `eth/v1/beacon/light_client/bootstrap/${NOWHERE}`]) {
    const response = await get(path);
    expect([response.status, response.headers.get('retry-after')], path).toEqual([404, null]);
  }
  error = { code: -32603, message: 'Internal error' };
  expect((await get(`block/${hash}/account/${OWNER}`)).status).toBe(503);
});

test('an answer that is not finished is an error of the moment', async () => {
  const { dev, origin } = await scene();
  const light = await createInlineNode({ chain: { kind: 'light', network, endpoints: [{ url: origin }] } });
  onTestFinished(() => light.close());
  const { get } = await served(light);
  const { hash } = await dev.ask<{ hash: Hex }>('eth_getHeaderByNumber', '0x0');
  const gone = await createInlineNode({
    chain: { kind: 'light', network, endpoints: [{ url: 'http://127.0.0.1:9', timeoutMs: 50 }] },
  });
  onTestFinished(() => gone.close());
  const broken = await served(gone);
  expect((await get(`block/${hash}/header`)).status).toBe(200);
  const response = await broken.get(`block/${hash}/header`);
  const { status, headers } = response;
  expect([status, headers.get('cache-control'), headers.get('retry-after')]).toEqual([503, 'no-store', '1']);
});

test('pages of any origin may read it, other hosts may not be meant', async () => {
  const { origin, get } = await scene();
  const page = { origin: 'https://wallet.example' };
  expect((await fetch(origin, { method: 'POST', headers: page, body: '{}' })).status).toBe(403);
  expect((await get('head/latest', page)).headers.get('access-control-allow-origin')).toBe('*');
  const asked = await get('head/latest', page, 'OPTIONS');
  expect([asked.status, asked.headers.get('access-control-allow-methods')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  const rebound = openRequest(`${origin}/feed/head/latest`, { headers: { host: 'rebound.example' } }).end();
  const [response] = await once(rebound, 'response');
  response.resume();
  expect(response.statusCode).toBe(403);
});

test('without the option there is no feed', async () => {
  const { node } = await devNode();
  const server = await serve(node, { port: 0 });
  onTestFinished(() => server.close());
  expect((await fetch(`http://127.0.0.1:${server.port}/feed/head/latest`)).status).toBe(404);
});

test('a client above its rate waits, and is counted', async () => {
  const { get } = await scene({ ratePerSecond: 0.001, ratePerClient: 0.001 });
  // A bucket of less than one token is filled by one request.
  expect((await get('head/0x0')).status).toBe(200);
  const limited = await get('head/0x0');
  const { status, headers } = limited;
  expect([status, headers.get('cache-control'), headers.get('retry-after')]).toEqual([429, 'no-store', '1']);
  const metrics = await (await get('metrics')).text();
  expect(metrics).toContain('plumbline_feed_requests_total{kind="head",status="200"} 1\n');
  expect(metrics).toContain('plumbline_feed_requests_total{kind="other",status="429"} 1\n');
  expect(metrics).toMatch(/plumbline_feed_bytes_total\{kind="head"\} [1-9]\d+\n/);
});

const UPDATES = 'eth/v1/beacon/light_client/updates';

test('updates of periods that are over are fixed, those of the newest period are not', async () => {
  const { get } = await scene();
  // The simulated chain begins with period 1, in 2023.
  const over = await get(`${UPDATES}?start_period=1&count=2`);
  expect(await over.json()).toHaveLength(2);
  expect(over.headers.get('cache-control')).toBe(FOREVER);
  for (const path of [
    'eth/v1/beacon/light_client/finality_update',
    'eth/v1/beacon/light_client/optimistic_update',
    'eth/v1/beacon/genesis',
  ])
    expect((await get(path)).headers.get('cache-control'), path).toBe('public, max-age=1');
  const { data } = (await (await get('eth/v1/beacon/light_client/finality_update')).json()) as {
    data: { attested_header: { beacon: { slot: string } } };
  };
  // 8 slots of an epoch, 8 epochs of a period. @source docs/spec/consensus.md 8
  const newest = Math.floor(Number(data.attested_header.beacon.slot) / 64);
  const present = await get(`${UPDATES}?start_period=${newest - 1}&count=2`);
  expect(await present.json()).toHaveLength(2);
  expect(present.headers.get('cache-control')).toBe('public, max-age=1');
  expect((await get(`${UPDATES}?count=1&start_period=1`)).status).toBe(404);
});

test('the feed of a light node passes on what its beacon nodes say', async () => {
  const { origin } = await scene();
  const asked: string[] = [];
  const beacon = createServer(({ url }, response) => {
    asked.push(url!);
    const start = Number(new URL(url!, origin).searchParams.get('start_period'));
    response.setHeader('content-type', 'application/json').end(JSON.stringify(start === 7 ? [{ of: start }] : []));
  }).listen(0, '127.0.0.1');
  await once(beacon, 'listening');
  onTestFinished(() => void beacon.close());
  const light = await createInlineNode({ chain: { kind: 'light', network, endpoints: [origin] } });
  onTestFinished(() => light.close());
  const { get } = await served(light, { consensus: [`http://127.0.0.1:${(beacon.address() as AddressInfo).port}`] });
  const newest = await get(`${UPDATES}?start_period=7&count=1`);
  expect(await newest.json()).toEqual([{ of: 7 }]);
  // There is none of period 8 yet.
  expect(newest.headers.get('cache-control')).toBe('public, max-age=1');
  expect(asked.sort()).toEqual([`/${UPDATES}?start_period=7&count=1`, `/${UPDATES}?start_period=8&count=1`]);
});
