import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { LateController } from '../../src/scheduling/deadline.js';

/*
 * What a server does for each request. A signal takes longer to make than a small answer, and a kernel longer than a small execution.
 */

const FROM = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const word = (hex: string) => hex.slice(2).padStart(64, '0');
const CALLS = {
  eth_chainId: [],
  eth_getBlockByNumber: ['latest', true],
  eth_getBalance: [FROM, 'latest'],
  eth_call: [{ to: TEST_TOKEN, data: `0x70a08231${word(FROM)}` }, 'latest'],
  eth_estimateGas: [{ from: FROM, to: TO, value: '0x1' }],
  linea_estimateGas: [{ from: FROM, to: TEST_TOKEN, data: `0xa9059cbb${word(TO)}${word('0x1')}` }],
};

let node: PlumblineNode;
beforeAll(async () => {
  node = await createInlineNode();
});
afterAll(() => node.close());

async function ask(method: string, params: readonly unknown[], left = new LateController()) {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await node.handleBody(() => Promise.resolve(text), { signal: left, unreported: true });
  return { status: answer.status, ...(JSON.parse(answer.text) as { result?: unknown; error?: { message: string } }) };
}

/** No request uses up its slice of time: on a busy machine it would have to wait for its turn, and others would begin. */
async function stopTheClock(): Promise<void> {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  // The slice that began before has ended.
  await new Promise(setImmediate);
}

test.each(Object.entries(CALLS))('%s makes no signal where nothing waits', async (method, params) => {
  expect((await ask(method, params)).error).toBeUndefined();
  const made = vi.fn();
  const Original = globalThis.AbortController;
  vi.stubGlobal(
    'AbortController',
    class extends Original {
      constructor() {
        super();
        made();
      }
    },
  );
  await stopTheClock();
  try {
    expect(await ask(method, params)).toMatchObject({ status: 200, result: expect.anything() });
    expect(made).not.toHaveBeenCalled();
  } finally {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  }
});

test('executions that begin at once share a few kernels, and answer as one alone', async () => {
  const params = CALLS.eth_call;
  const alone = await ask('eth_call', params);
  const instantiated = [vi.spyOn(WebAssembly, 'Instance'), vi.spyOn(WebAssembly, 'instantiate')];
  await stopTheClock();
  try {
    const many = await Promise.all(Array.from({ length: 64 }, () => ask('eth_call', params)));
    expect(many).toEqual(many.map(() => alone));
    expect(instantiated.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThanOrEqual(4);
  } finally {
    vi.restoreAllMocks();
  }
});

test('a client that leaves ends its request, before and while it runs', async () => {
  // JUMPDEST PUSH1 0 JUMP: it goes on until its gas is spent.
  const endless = [{ to: TO, gas: '0x2540be400' }, 'latest', { [TO]: { code: '0x5b600056' } }];
  const gone = new LateController();
  gone.abort();
  expect(await ask('eth_call', endless, gone)).toMatchObject({ error: { message: 'Request aborted' } });
  const leaving = new LateController();
  const began = ask('eth_call', endless, leaving);
  setTimeout(() => leaving.abort(), 20);
  expect(await began).toMatchObject({ error: { message: 'Request aborted' } });
});

test('a client that has left changes nothing more, alone and in a batch', async () => {
  const balance = () => ask('eth_getBalance', [TO, 'latest']);
  const before = await balance();
  const gone = new LateController();
  gone.abort();
  await ask('anvil_setBalance', [TO, '0x1'], gone);
  const batch = [0, 1].map((id) => ({ jsonrpc: '2.0', id, method: 'anvil_setBalance', params: [TO, '0x2'] }));
  await node.handleBody(() => Promise.resolve(JSON.stringify(batch)), { signal: gone, unreported: true });
  expect(await balance()).toEqual(before);
});

const CONNECTIONS = 8;
const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });

/** A server that notes each answer in `order`, and its side of each connection. */
async function noting(order: string[]) {
  const sockets: Socket[] = [];
  const opened = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
  subscribe('net.server.socket', opened);
  const server = await serve(node, { port: 0, onRequest: () => order.push('answered') });
  onTestFinished(async () => {
    unsubscribe('net.server.socket', opened);
    await server.close({ graceMs: 0 });
  });
  return { port: server.port, sockets };
}

/** What is sent has arrived at the other end when the thread goes on: nothing is read meanwhile. */
const arrived = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);

const readThenAnswered = (): string[] =>
  ['read', 'answered'].flatMap((what) => Array.from({ length: CONNECTIONS }, () => what));

test('what has arrived over HTTP is read, and then answered', async () => {
  const order: string[] = [];
  const { port } = await noting(order);
  const read = () => order.push('read');
  subscribe('http.server.request.start', read);
  onTestFinished(() => void unsubscribe('http.server.request.start', read));
  const clients = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1').resume());
  const request = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
  for (const again of [false, true]) {
    order.length = 0;
    const answers = clients.map((client) => once(client, 'data'));
    for (const client of clients) client.write(request);
    if (again) arrived();
    await Promise.all(answers);
  }
  for (const client of clients) client.destroy();
  expect(order).toEqual(readThenAnswered());
});

test('what has arrived over WebSockets is read, and then answered', async () => {
  const order: string[] = [];
  const { port, sockets } = await noting(order);
  const clients = Array.from({ length: CONNECTIONS }, () => new WebSocket(`ws://127.0.0.1:${port}`));
  await Promise.all(clients.map((client) => once(client, 'open')));
  for (const socket of sockets) socket.prependListener('data', () => order.push('read'));
  const answers = clients.map((client) => once(client, 'message'));
  for (const client of clients) client.send(BODY);
  arrived();
  await Promise.all(answers);
  for (const client of clients) client.terminate();
  expect(order).toEqual(readThenAnswered());
});
