import { once } from 'node:events';
import { type ClientRequest, request as openRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { checkEnvelopeCase } from '../../conformance/envelope.js';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { type RunningServer, serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { linea } from '../../src/networks/linea.js';
import { fixtureJson } from '../support/fixtures.js';

let node: PlumblineNode;
let server: RunningServer;
const from = DEV_ACCOUNTS[0]!.address;

beforeAll(async () => {
  node = await createInlineNode({ http: { maxBodyBytes: 200_000, allowedHosts: ['127.0.0.1'] } });
  server = await serve(node, { port: 0 });
});
afterAll(async () => {
  await server.close();
  await node.close();
});

async function post(path: string, body: string): Promise<{ status: number; answer: unknown }> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  return { status: response.status, answer: text === '' ? undefined : JSON.parse(text) };
}

const ask = async (method: string, ...params: unknown[]) =>
  (await post('/', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).answer as {
    result?: unknown;
    error?: { code: number; message: string; data?: unknown };
  };

test('answers POST on / and under /v3/', async () => {
  const body = '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}';
  const expected = { status: 200, answer: { jsonrpc: '2.0', id: 7, result: '0xe703' } };
  expect(await post('/', body)).toEqual(expected);
  expect(await post('/v3/0123456789abcdef', body)).toEqual(expected);
  expect((await post('/l1', body)).answer).toMatchObject({ result: '0x539' });
  expect((await fetch(`http://127.0.0.1:${server.port}/elsewhere`, { method: 'POST', body })).status).toBe(404);
});

test('bad input gets a typed error each time, and the node goes on', async () => {
  expect(await post('/', '{"jsonrpc": oops')).toMatchObject({
    status: 400,
    answer: { id: null, error: { code: -32700 } },
  });
  expect(await post('/', ' '.repeat(200_001))).toMatchObject({ status: 413, answer: { error: { code: -32600 } } });
  const cases: [unknown, string, ...unknown[]][] = [
    [{ code: -32601, message: 'Method not found (eth_nothing)' }, 'eth_nothing'],
    [{ code: -32602, message: expect.stringContaining('address') }, 'eth_getBalance', '0x1234', 'latest'],
    [{ code: -32602, message: expect.stringContaining('address') }, 'eth_getBalance', 17, 'latest'],
    [{ code: -32602, message: expect.stringContaining('block') }, 'eth_getBalance', from, 'newest'],
    [{ code: -39001, message: 'Unknown block' }, 'eth_getBalance', from, '0x99'],
    [{ code: -32602, message: expect.stringContaining('to') }, 'linea_estimateGas', { to: '0x1234' }],
    [{ code: -32602, message: expect.stringContaining('Invalid call params') }, 'linea_estimateGas'],
    [{ code: -32602 }, 'linea_estimateGas', { to: from }, 7],
    [{ code: -32602 }, 'linea_estimateGas', { to: from }, { [from]: { balance: 'much' } }],
    [
      { code: -32602, message: expect.stringContaining('Invalid params') },
      'linea_estimateGas',
      { to: from, gasPrice: '0x7', maxFeePerGas: '0x7' },
    ],
    [
      { code: -32000, message: 'Calldata of transaction is greater than the allowed max of 60000' },
      'linea_estimateGas',
      { from, to: from, data: `0x${'11'.repeat(60_001)}` },
    ],
    [
      { code: -32000, message: expect.stringMatching(/^transaction up-front cost 0x/) },
      'linea_estimateGas',
      { from: `0x${'88'.repeat(20)}`, to: from },
    ],
    [{ code: -32600, message: 'BLOCK_MISSING_IN_CHAIN - block is missing' }, 'linea_getProof', from, [], '0x1'],
    [{ code: -32602, message: expect.stringContaining('address') }, 'linea_getProof', `${from}00`, [], 'latest'],
    [{ code: -32602 }, 'linea_getProof', from, [`0x${'00'.repeat(33)}`], 'latest'],
    [{ code: -32602 }, 'linea_getProof', from, new Array(1025).fill('0x0'), 'latest'],
    [{ code: -32602 }, 'eth_sendRawTransaction', '0x1234'],
    [{ code: -32000, message: 'TransactionTypeValidation - BLOB_TX_NOT_ALLOWED' }, 'eth_sendRawTransaction', '0x03c0'],
  ];
  for (const [expected, method, ...params] of cases) {
    const answer = await ask(method, ...params);
    expect(answer.error, `${method} ${JSON.stringify(params).slice(0, 80)}`).toMatchObject(expected as object);
  }
  expect(await ask('eth_blockNumber')).toMatchObject({ result: '0x0' });
});

test('a body in parts of one byte takes the memory of its bytes, and is read whole', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const inUse = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const body = Buffer.from(`${' '.repeat(20_000)}{"jsonrpc":"2.0","id":"é","method":"eth_chainId"}`);
  const chunks = Buffer.concat([...body].map((byte) => Buffer.of(0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a)));
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  await ask('eth_chainId');
  const before = inUse();
  socket.write('POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n');
  await new Promise((resolve) => socket.write(chunks, resolve));
  // The server reads what came before.
  for (let i = 0; i < 10; i++) await ask('eth_chainId');
  expect(inUse() - before).toBeLessThan(1_500_000);
  socket.write('0\r\n\r\n');
  expect(await text(socket)).toContain('{"jsonrpc":"2.0","id":"é","result":"0xe703"}');
});

test('a batch is answered in order; too large a one is refused', async () => {
  const request = (id: number, method = 'eth_chainId') => ({ jsonrpc: '2.0', id, method });
  const { answer } = await post('/', JSON.stringify([request(2), request(1, 'nope'), request(3, 'eth_blockNumber')]));
  expect(answer).toMatchObject([
    { id: 2, result: '0xe703' },
    { id: 1, error: { code: -32601 } },
    { id: 3, result: '0x0' },
  ]);
  const many = JSON.stringify(Array.from({ length: 1025 }, (_, id) => request(id)));
  expect(await post('/', many)).toMatchObject({ status: 200, answer: { error: { code: -32005 } } });
});

test('another host name is refused, against DNS rebinding', async () => {
  const ask = (path: string, method: string) =>
    statusOf(openRequest({ port: server.port, path, method, headers: { host: 'evil.example' } }));
  expect(await ask('/', 'POST')).toBe(403);
  expect(await ask('/v3/key', 'POST')).toBe(403);
  expect(await ask('/l1', 'POST')).toBe(403);
  expect(await ask('/liveness', 'GET')).toBe(403);
});

/** Status of a request that `fetch` would not send. */
async function statusOf(sent: ClientRequest): Promise<number | undefined> {
  sent.end();
  const [response] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

test('tells at /liveness that it lives, and how far its chain has come', async () => {
  const live = () => fetch(`http://127.0.0.1:${server.port}/liveness`);
  expect((await live()).status).toBe(200);
  expect(await (await live()).json()).toEqual({ status: 'UP', head: 0 });
  vi.spyOn(node, 'request').mockRejectedValueOnce(new Error('gone'));
  const down = await live();
  expect([down.status, await down.json()]).toEqual([503, { status: 'DOWN' }]);
});

test('an address in use is an error', async () => {
  await expect(serve(node, { port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

describe('envelope fixture, over a socket', () => {
  type Case = Parameters<typeof checkEnvelopeCase>[1];
  const cases = fixtureJson<{ cases: Case[] }>('json-rpc/envelope.json').cases;
  let lineaNode: PlumblineNode;
  let lineaServer: RunningServer;
  // The fixture speaks of chain id 0xe708.
  beforeAll(async () => {
    lineaNode = await createInlineNode({ chain: { kind: 'devnet', network: linea }, dictionary: { kind: 'general' } });
    lineaServer = await serve(lineaNode, { port: 0 });
  });
  afterAll(async () => {
    await lineaServer.close();
    await lineaNode.close();
  });

  const overHttp = async (request: Request) =>
    fetch(`http://127.0.0.1:${lineaServer.port}/`, {
      method: request.method,
      headers: request.headers,
      body: await request.text(),
    });

  // To the letter: without the leniencies that the fixture grants.
  test.each(cases.map(({ clientMay: _, clientMayReject: __, ...entry }) => [entry.name, entry] as const))(
    '%s',
    async (_, entry) => {
      expect(await checkEnvelopeCase(overHttp, entry)).toBeUndefined();
    },
  );
});
