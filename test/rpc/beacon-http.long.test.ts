import { isDeepStrictEqual } from 'node:util';
import { concat, getAddress, JsonRpcProvider, keccak256, toBeHex } from 'ethers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { judgeConsensus, type VerifiedConsensus } from '../../src/consensus/judge-consensus.js';
import { computeSyncCommitteePeriodAtSlot, sizesOf, slotAtTime } from '../../src/consensus/slots.js';
import { type RunningServer, serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { beaconNetworkOf } from '../../src/networks/beacon-networks.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { toQuantity } from '../../src/primitives/quantity.js';
import { beaconResponse } from '../../src/rpc/beacon-request.js';
import type { Reply } from '../../src/rpc/envelope.js';

const SIMULATED_BEACON = beaconNetworkOf('simulated');

const ORIGIN = 'https://wallet.example';
let node: PlumblineNode;
let server: RunningServer;

beforeAll(async () => {
  // The clock stands, so that a slow machine does not move the chain between two requests.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-06-01T12:00:00Z') });
  node = await createInlineNode({ http: { allowedOrigins: [ORIGIN] } });
  server = await serve(node, { port: 0 });
});
afterAll(async () => {
  await server.close();
  await node.close();
  vi.useRealTimers();
});

const address = (path: string) => `http://127.0.0.1:${server.port}/l1/eth/v1/beacon/${path}`;
const get = (path: string, init?: RequestInit) => fetch(address(path), init);
const json = async (path: string) => {
  const response = await get(path);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  return response.json();
};

test('a client goes from a checkpoint to the newest layer-1 block, which the execution API has by its hash', async () => {
  await node.request({ method: 'anvil_mine', params: ['0x5'] });
  const { finalized, data } = await json('headers/finalized');
  expect(finalized).toBe(true);
  const { root, header } = data as { root: Hex; header: { message: { slot: string } } };
  const period = computeSyncCommitteePeriodAtSlot(SIMULATED_BEACON, Number(header.message.slot));
  const bootstrap = await json(`light_client/bootstrap/${root}`);
  const updates = await json(`light_client/updates?start_period=${period}&count=2`);
  const answers = [
    { kind: 'updates', answer: updates },
    { kind: 'finality_update', answer: await json('light_client/finality_update') },
    { kind: 'optimistic_update', answer: await json('light_client/optimistic_update') },
  ] as const;
  const verdict = await judgeConsensus({
    network: SIMULATED_BEACON,
    from: { root: hexToBytes(root), bootstrap },
    answers,
  });
  expect(verdict).toMatchObject({ verified: true, finalized: { number: 3 } });
  const { blockHash, stateRoot, number } = (verdict as VerifiedConsensus).finalized;
  const block = await node.l1.request({ method: 'eth_getBlockByHash', params: [bytesToHex(blockHash), false] });
  expect(block).toMatchObject({ number: '0x3', hash: bytesToHex(blockHash), stateRoot: bytesToHex(stateRoot!) });
  expect(await node.l1.request({ method: 'eth_getBlockByNumber', params: [toQuantity(number!), false] })).toEqual(
    block,
  );
  expect(await node.l1.request({ method: 'eth_getBlockByHash', params: [root, false] })).toBeNull();
});

test('genesis and headers by slot, root and name, as beacon nodes answer', async () => {
  const { genesisTime, genesisValidatorsRoot } = SIMULATED_BEACON;
  expect(await json('genesis')).toEqual({
    data: {
      genesis_time: String(genesisTime),
      genesis_validators_root: genesisValidatorsRoot,
      genesis_fork_version: '0x00e70300',
    },
  });
  const finalized = await json('headers/finalized');
  const { root, header } = finalized.data;
  expect(await json(`headers/${root}`)).toEqual(finalized);
  expect(await json(`headers/${header.message.slot}`)).toEqual(finalized);
  expect(Number((await json('headers/head')).data.header.message.slot)).toBeGreaterThan(Number(header.message.slot));
});

test.each([
  [400, 'headers/0x12'],
  [404, `headers/0x${'12'.repeat(32)}`],
  [404, 'headers/7'],
  [404, 'headers/genesis'],
  [400, 'light_client/bootstrap/finalized'],
  [404, `light_client/bootstrap/0x${'12'.repeat(32)}`],
  [400, 'light_client/updates'],
  [400, 'light_client/updates?start_period=-1&count=1'],
  [400, 'light_client/updates?start_period=1&count=0'],
  [404, 'states/head/root'],
])('%i for %s, with code and message', async (status, path) => {
  const response = await get(path);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ code: status, message: expect.any(String) });
});

test('no updates for periods to come', async () => {
  const period = computeSyncCommitteePeriodAtSlot(SIMULATED_BEACON, slotAtTime(SIMULATED_BEACON, Date.now()));
  expect(await json(`light_client/updates?start_period=${period + 10}&count=4`)).toEqual([]);
});

test('the configuration, as light clients read it', async () => {
  const response = await fetch(`http://127.0.0.1:${server.port}/l1/eth/v1/config/spec`);
  const { data } = (await response.json()) as { data: Record<string, string> };
  const { forks, genesisTime } = SIMULATED_BEACON;
  const sizes = sizesOf(SIMULATED_BEACON);
  expect(data).toMatchObject({
    SLOTS_PER_EPOCH: String(sizes.slotsPerEpoch),
    SYNC_COMMITTEE_SIZE: String(sizes.committeeSize),
    MIN_GENESIS_TIME: String(genesisTime),
    GENESIS_FORK_VERSION: '0x00e70300',
    FULU_FORK_VERSION: forks[0]!.version,
    FULU_FORK_EPOCH: '0',
    DEPOSIT_CHAIN_ID: '1337',
  });
  expect(Object.values(data).every((value) => typeof value === 'string')).toBe(true);
});

test('objects name their fork, and come as SSZ if asked for', async () => {
  await node.request({ method: 'anvil_mine', params: ['0x5'] });
  const accept = 'application/octet-stream;q=1.0,application/json;q=0.9';
  const { data } = await json('headers/finalized');
  const period = computeSyncCommitteePeriodAtSlot(SIMULATED_BEACON, Number(data.header.message.slot));
  const bytesOf = async (path: string, accepted = accept) => {
    const response = await get(path, { headers: { accept: accepted } });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    return {
      version: response.headers.get('eth-consensus-version'),
      bytes: new Uint8Array(await response.arrayBuffer()),
    };
  };
  const bootstrap = await bytesOf(`light_client/bootstrap/${data.root}`);
  const finality = await bytesOf('light_client/finality_update');
  const optimistic = await bytesOf('light_client/optimistic_update');
  expect([bootstrap, finality, optimistic].map(({ version }) => version)).toEqual(['fulu', 'fulu', 'fulu']);
  const asJson = await get('light_client/finality_update', { headers: { accept: 'application/json' } });
  expect([asJson.headers.get('eth-consensus-version'), (await asJson.json()).version]).toEqual(['fulu', 'fulu']);
  // Lodestar's client cannot read the fork digests of a list, and takes JSON too.
  const listPath = `light_client/updates?start_period=${period}&count=2`;
  const list = await get(listPath, { headers: { accept } });
  expect((await list.json())[0]).toMatchObject({ version: 'fulu' });
  const updates = await bytesOf(listPath, 'application/octet-stream');
  // A verdict from bytes alone is that from JSON, which the test before reads.
  const verdict = await judgeConsensus({
    network: SIMULATED_BEACON,
    from: { root: hexToBytes(data.root), bootstrap: bootstrap.bytes },
    answers: [
      { kind: 'updates', answer: updates.bytes },
      { kind: 'finality_update', answer: finality.bytes },
      { kind: 'optimistic_update', answer: optimistic.bytes },
    ],
  });
  expect(verdict).toMatchObject({ verified: true });
});

test('events tell each update once, and end with the request', async () => {
  const address = `http://127.0.0.1:${server.port}/l1/eth/v1/events?topics=`;
  expect((await fetch(`${address}head`)).status).toBe(400);
  const aborting = new AbortController();
  const topics = 'light_client_finality_update,light_client_optimistic_update';
  const response = await fetch(address + topics, { signal: aborting.signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const events = () =>
    [...text.matchAll(/^event: (\w+)\ndata: (.+)$/gm)].map(([, name, data]) => ({ name: name!, data: data! }));
  // What the tests before have made final may still be under way: the last event of each name is the newest.
  const isWhole = async () => {
    for (const name of topics.split(',')) {
      const last = events().findLast((event) => event.name === name);
      const newest = await json(name.replace('light_client_', 'light_client/'));
      if (last === undefined || !isDeepStrictEqual(JSON.parse(last.data), newest)) return false;
    }
    return true;
  };
  while (!(await isWhole())) text += (await reader.read()).value ?? '';
  expect(new Set(events().map(({ data }) => data)).size).toBe(events().length);
  aborting.abort();
  await expect(reader.read()).rejects.toThrow();
});

describe('a stream of events', () => {
  const TOPIC = 'light_client_finality_update';
  const path = `/l1/eth/v1/events?topics=${TOPIC}`;
  const opened = async (url: string) => {
    const response = await fetch(url);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    while (!(await reader.read()).value!.includes('event:'));
    return reader;
  };

  test('does not hold up a server that closes', async () => {
    const other = await serve(node, { port: 0 });
    const reader = await opened(`http://127.0.0.1:${other.port}${path}`);
    const [end] = await Promise.allSettled([reader.read(), other.close({ graceMs: 2 ** 31 - 1 })]);
    expect(end.status).toBe('rejected');
  });

  test('ends when the node is closed', async () => {
    const own = await createInlineNode({});
    const other = await serve(own, { port: 0 });
    onTestFinished(() => other.close());
    const reader = await opened(`http://127.0.0.1:${other.port}${path}`);
    await own.close();
    expect(await reader.read()).toEqual({ done: true, value: undefined });
  });

  test('asks the node for nothing once its reader has gone, also while an answer is under way', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }));
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    const ask = async (target: string) => {
      asked.push(target);
      if (target.includes('light_client')) await new Promise<void>((resolve) => answers.push(resolve));
      return {
        body: { jsonrpc: '2.0', id: 1, result: { status: target.includes('light_client') ? 404 : 200 } },
      } as Reply;
    };
    const response = await beaconResponse(new Request(`http://localhost${path}`), ask, {});
    const reader = response.body!.getReader();
    await reader.read();
    expect(answers).toHaveLength(1);
    await reader.cancel();
    answers[0]!();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(2);
  });

  test('is not looked for while its reader does not read', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }));
    let made = 0;
    const ask = async () => ({ body: { jsonrpc: '2.0', id: 1, result: { status: 200, body: made++ } } }) as Reply;
    const response = await beaconResponse(new Request(`http://localhost${path}`), ask, {});
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    onTestFinished(() => reader.cancel());
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(made).toBeLessThan(10);
    for (let news = 0; news < 20; ) {
      const [read] = await Promise.all([reader.read(), vi.advanceTimersByTimeAsync(1_000)]);
      news = Number(/data: (\d+)/.exec(read.value!)?.[1] ?? 0);
    }
    expect(made).toBeLessThan(30);
  });
});

test('logs have the hash of a transaction, which the layer 1 has with its receipt, and its contract has code', async () => {
  const provider = new JsonRpcProvider(`http://127.0.0.1:${server.port}/l1`, 1337, { staticNetwork: true });
  onTestFinished(() => provider.destroy());
  const rollup = node.info.rollupAddress!;
  const logs = await provider.getLogs({ address: rollup, fromBlock: 0, toBlock: 'latest' });
  const [log] = logs;
  const own = logs.filter(({ transactionHash }) => transactionHash === log!.transactionHash);
  const [transaction, receipt, block] = await Promise.all([
    provider.getTransaction(log!.transactionHash),
    provider.getTransactionReceipt(log!.transactionHash),
    provider.getBlock(log!.blockHash, true),
  ]);
  expect(transaction).toMatchObject({ to: getAddress(rollup), blockHash: log!.blockHash });
  expect(block!.prefetchedTransactions.map(({ hash }) => hash)).toEqual([log!.transactionHash]);
  expect(receipt!.logs.map(({ topics }) => topics)).toEqual(own.map(({ topics }) => topics));
  // The code is what the account is proved to have, and answers as the getters do.
  const code = await provider.getCode(rollup);
  const { codeHash } = await provider.send('eth_getProof', [rollup, [], 'latest']);
  expect(keccak256(code)).toBe(codeHash);
  const raw = await provider.send('eth_getBlockReceipts', [block!.hash]);
  expect(raw).toHaveLength(1);
});

test('the code of the rollup contract runs as its getters answer', async () => {
  const rollup = node.info.rollupAddress!;
  const { l1 } = node;
  const slots = { current: 281n, root: 282n };
  const code = await l1.request({ method: 'eth_getCode', params: [rollup, 'latest'] });
  const current = await l1.request({ method: 'eth_call', params: [{ to: rollup, data: '0x695378f5' }, 'latest'] });
  const data = `0x8be745d1${current.slice(2)}` as Hex;
  const root = await l1.request({ method: 'eth_call', params: [{ to: rollup, data }, 'latest'] });
  // The same code on layer 2, over the same slots.
  const key = keccak256(concat([current, toBeHex(slots.root, 32)])) as Hex;
  const state = { [toBeHex(slots.current, 32)]: current, [key]: root };
  const overrides = { [rollup]: { code, state } };
  for (const [input, expected] of [
    ['0x695378f5', current],
    [data, root],
  ] as const) {
    const params = [{ to: rollup, data: input }, 'latest', overrides];
    expect(await node.request({ method: 'eth_call', params } as never)).toBe(expected);
  }
  const params = [{ to: rollup, data: '0x12345678' }, 'latest', overrides];
  await expect(node.request({ method: 'eth_call', params } as never)).rejects.toMatchObject({ code: 3 });
});

test('origins are checked and answered as for JSON-RPC', async () => {
  const allowed = await get('genesis', { headers: { origin: ORIGIN } });
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, ORIGIN]);
  const preflight = await get('genesis', { method: 'OPTIONS', headers: { origin: ORIGIN } });
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
    204,
    'POST, GET, OPTIONS',
  ]);
  expect((await get('genesis', { headers: { origin: 'https://other.example' } })).status).toBe(403);
  expect((await get('genesis', { method: 'DELETE' })).status).toBe(404);
});

test('only layer 1 has the beacon API, and any other GET is answered as before', async () => {
  const path = 'http://127.0.0.1/prefix/eth/v1/beacon/genesis';
  expect((await node.handleL1(new Request(path))).status).toBe(200);
  expect((await node.handle(new Request(path))).status).toBe(201);
  expect((await node.handleL1(new Request('http://127.0.0.1/l1'))).status).toBe(201);
});
