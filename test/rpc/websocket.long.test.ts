import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { type RunningServer, type ServeOptions, serve } from '../../src/hosts/cli/server.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { eventually } from '../support/eventually.js';

interface Endpoint {
  readonly node: PlumblineNode;
  readonly server: RunningServer;
  readonly url: string;
}

const open: Endpoint[] = [];

async function start(options: InlineOptions = {}, serving: ServeOptions = {}): Promise<Endpoint> {
  const node = await createInlineNode(options);
  const server = await serve(node, { port: 0, ...serving });
  const endpoint = { node, server, url: `ws://127.0.0.1:${server.port}` };
  open.push(endpoint);
  return endpoint;
}

afterAll(async () => {
  for (const { node, server } of open) {
    await server.close({ graceMs: 100 });
    await node.close();
  }
});

/** A socket whose messages can be waited for one by one. */
class Client {
  readonly received: string[] = [];
  private wake = () => {};

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => {
      this.received.push(String(data));
      this.wake();
    });
  }

  static async open(url: string, options: ClientOptions = {}): Promise<Client> {
    const client = new Client(new WebSocket(url, options));
    await once(client.socket, 'open');
    return client;
  }

  async next(): Promise<unknown> {
    while (this.received.length === 0) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return JSON.parse(this.received.shift()!);
  }

  ask(method: string, ...params: unknown[]): Promise<unknown> {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    return this.next();
  }

  /** The close code. */
  async ended(): Promise<number> {
    const [code] = (await once(this.socket, 'close')) as [number];
    return code;
  }
}

/** Status of an upgrade that is refused. */
async function refusedStatus(url: string, options: ClientOptions): Promise<number | undefined> {
  const socket = new WebSocket(url, options);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode?: number }];
  socket.on('error', () => {});
  socket.terminate();
  return response.statusCode;
}

describe('JSON-RPC over WebSocket', () => {
  let endpoint: Endpoint;
  let client: Client;
  beforeAll(async () => {
    endpoint = await start({ http: { maxBodyBytes: 10_000, allowedHosts: ['127.0.0.1'] }, maxSubscriptions: 2 });
    client = await Client.open(endpoint.url);
  });

  test('answers each message as HTTP answers the same body', async () => {
    const bodies = [
      '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}',
      '{"jsonrpc":"2.0","id":"a","method":"eth_nothing"}',
      '[{"id":2,"method":"eth_chainId"},{"method":"eth_chainId"},7]',
      '[]',
      '1',
      'oops',
    ];
    for (const body of bodies) {
      client.socket.send(body);
      const overHttp = await fetch(endpoint.url.replace('ws', 'http'), { method: 'POST', body });
      expect(await client.next(), body).toEqual(await overHttp.json());
    }
  });

  test('answers a notification with nothing', async () => {
    client.socket.send('{"method":"eth_chainId"}');
    expect(await client.ask('eth_chainId')).toMatchObject({ result: '0xe703' });
  });

  test('many requests at once are all answered', async () => {
    const many = await Client.open(`${endpoint.url}/v3/key`);
    const ids = Array.from({ length: 1000 }, (_, id) => id);
    for (const id of ids)
      many.socket.send(JSON.stringify({ id, method: 'eth_getBlockByNumber', params: ['0x0', false] }));
    const answers = [];
    for (const _ of ids) answers.push((await many.next()) as { id: number });
    expect(answers.map(({ id }) => id).sort((a, b) => a - b)).toEqual(ids);
    many.socket.close();
  });

  test('sends new heads after the reply, until eth_unsubscribe', async () => {
    client.socket.send(
      JSON.stringify([
        { id: 1, method: 'eth_subscribe', params: ['newHeads'] },
        { id: 2, method: 'evm_mine', params: [] },
      ]),
    );
    const [{ result: id }] = (await client.next()) as [{ result: string }];
    const block = (await client.next()) as { params: { subscription: string; result: Record<string, unknown> } };
    expect(block).toMatchObject({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: id } });
    const head = await endpoint.node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
    expect(head).toMatchObject(block.params.result);
    expect(block.params.result).not.toHaveProperty('transactions');
    expect(Object.keys(block.params.result)).toEqual(expect.arrayContaining(['hash', 'number', 'stateRoot']));

    expect(await client.ask('eth_unsubscribe', id)).toMatchObject({ result: true });
    await endpoint.node.request({ method: 'evm_mine' });
    expect(await client.ask('eth_unsubscribe', id)).toMatchObject({
      error: { code: -32000, message: 'Subscription not found', data: { reason: 'SUBSCRIPTION_NOT_FOUND' } },
    });
  });

  test('refuses what it does not know, and more subscriptions than its limit', async () => {
    expect(await client.ask('eth_subscribe', 'toString')).toMatchObject({ error: { code: -32602 } });
    expect(await client.ask('eth_subscribe')).toMatchObject({ error: { code: -32602 } });
    expect(await client.ask('eth_subscribe', 'logs', { address: '0x12' })).toMatchObject({ error: { code: -32602 } });
    const ids = [];
    for (let i = 0; i < 2; i++) ids.push(((await client.ask('eth_subscribe', 'logs')) as { result: string }).result);
    expect(await client.ask('eth_subscribe', 'newHeads')).toMatchObject({
      error: { code: -32005, data: { reason: 'SUBSCRIPTION_LIMIT', details: { limit: 2 } } },
    });
    for (const id of ids) expect(await client.ask('eth_unsubscribe', id)).toMatchObject({ result: true });
  });

  test('one socket cannot end the subscription of another', async () => {
    const other = await Client.open(endpoint.url);
    const { result: id } = (await other.ask('eth_subscribe', 'newHeads')) as { result: string };
    expect(await client.ask('eth_unsubscribe', id)).toMatchObject({ error: { code: -32000 } });
    other.socket.close();
  });

  test('is not enabled over HTTP, where nothing can be sent later', async () => {
    const body = '{"id":1,"method":"eth_subscribe","params":["newHeads"]}';
    const response = await fetch(endpoint.url.replace('ws', 'http'), { method: 'POST', body });
    expect(await response.json()).toMatchObject({ error: { code: -32604 } });
  });

  test('a message above the limit of a body ends the socket with 1009, a binary one with 1003', async () => {
    const large = await Client.open(endpoint.url);
    large.socket.send(' '.repeat(10_001));
    expect(await large.ended()).toBe(1009);
    const binary = await Client.open(endpoint.url);
    binary.socket.send(Uint8Array.of(1));
    expect(await binary.ended()).toBe(1003);
    expect(await client.ask('eth_chainId')).toMatchObject({ result: '0xe703' });
  });

  test('is refused for hosts, paths and origins that HTTP refuses', async () => {
    expect(await refusedStatus(endpoint.url, { headers: { host: 'evil.example' } })).toBe(403);
    expect(await refusedStatus(`${endpoint.url}/elsewhere`, {})).toBe(404);
    const listed = await start({ http: { allowedOrigins: ['https://wallet.long.test'] } });
    expect(await refusedStatus(listed.url, { origin: 'https://evil.test' })).toBe(403);
    const wallet = await Client.open(listed.url, { origin: 'https://wallet.long.test' });
    expect(await wallet.ask('eth_chainId')).toMatchObject({ result: '0xe703' });
    wallet.socket.close();
  });
});

describe('messages in fragments', () => {
  const CALL = '{"id":1,"method":"eth_chainId"}';
  const sendBytes = (socket: WebSocket, text: string) => {
    for (let i = 0; i < text.length; i++) socket.send(text[i]!, { fin: i === text.length - 1 });
  };

  test('of one byte are a message like any other; beyond 4096 of them they end the socket with 1008', async () => {
    const { url } = await start();
    const client = await Client.open(url);
    sendBytes(client.socket, CALL.padEnd(4096));
    expect(await client.next()).toMatchObject({ id: 1, result: '0xe703' });
    const ended = client.ended();
    sendBytes(client.socket, CALL.padEnd(4097));
    expect(await ended).toBe(1008);
  });

  test('unfinished messages of one client may have eight times the largest body together, then 1013', async () => {
    const { url } = await start({ http: { maxBodyBytes: 10_000 } });
    const clients: Client[] = [];
    for (let i = 0; i < 7; i++) {
      const client = await Client.open(url);
      client.socket.send('x'.repeat(9_900), { fin: false });
      clients.push(client);
    }
    // 69 300 bytes of 80 000. The answer says that they have been read.
    const eighth = await Client.open(url);
    expect(await eighth.ask('eth_chainId')).toMatchObject({ result: '0xe703' });
    const ended = eighth.ended();
    eighth.socket.send('x'.repeat(9_900), { fin: false });
    eighth.socket.send('x'.repeat(900), { fin: false });
    expect(await ended).toBe(1013);
    // Messages and bodies count together, until they are gone.
    const body = JSON.stringify({ id: 1, method: 'eth_chainId' }).padEnd(10_000);
    const post = () => fetch(url.replace('ws', 'http'), { method: 'POST', body });
    await eventually(async () => expect((await post()).status).toBe(200));
    const more = await Client.open(url);
    more.socket.send('x'.repeat(9_000), { fin: false });
    await eventually(async () => expect((await post()).status).toBe(429));
    for (const { socket } of [...clients, more]) socket.terminate();
    await eventually(async () => expect((await post()).status).toBe(200));
  });
});

test('pings of a client that asks nothing are not kept against it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { url } = await start({ http: { maxBodyBytes: 1_000 } }, { webSocket: { pingMs: 1000 } });
  const client = await Client.open(url);
  // Each counts 64 of the 8 000 bytes that a client may have under way.
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 50; i++) {
      const answered = once(client.socket, 'pong');
      client.socket.ping();
      await answered;
    }
    const pinged = once(client.socket, 'ping');
    vi.advanceTimersByTime(1000);
    await pinged;
  }
  expect(await client.ask('eth_chainId')).toMatchObject({ result: '0xe703' });
});

describe('the end of a socket', () => {
  /** A node that counts the sessions it has opened and not closed. */
  async function counting(serving: ServeOptions = {}) {
    const endpoint = await start({}, serving);
    const counts = { open: 0 };
    const openSession = endpoint.node.openSession.bind(endpoint.node);
    vi.spyOn(endpoint.node, 'openSession').mockImplementation((listener) => {
      const session = openSession(listener);
      counts.open++;
      let closed = false;
      return {
        dispatch: session.dispatch,
        close: () => {
          if (!closed) counts.open--;
          closed = true;
          session.close();
        },
      };
    });
    return { ...endpoint, counts };
  }

  test('ends its session in the node', async () => {
    const { url, counts } = await counting();
    const client = await Client.open(url);
    await client.ask('eth_subscribe', 'newHeads');
    expect(counts.open).toBe(1);
    client.socket.terminate();
    await eventually(() => expect(counts.open).toBe(0));
  });

  test('comes to a client that does not answer pings', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { url, counts } = await counting({ webSocket: { pingMs: 1000 } });
    const alive = await Client.open(url);
    const silent = await Client.open(url, { autoPong: false });
    const pinged = Promise.all([alive, silent].map(({ socket }) => once(socket, 'ping')));
    vi.advanceTimersByTime(1000);
    await pinged;
    // What comes after the pong has been answered: it has been read.
    expect(await alive.ask('eth_chainId')).toMatchObject({ result: '0xe703' });
    const ended = silent.ended();
    vi.advanceTimersByTime(1000);
    expect(await ended).toBe(1006);
    expect(await alive.ask('eth_chainId')).toMatchObject({ result: '0xe703' });
    expect(counts.open).toBe(1);
  });

  test('comes to a client that does not read, and nothing piles up for it', async () => {
    const { url, counts } = await counting({ webSocket: { maxBufferedBytes: 1_000_000 } });
    const client = await Client.open(url);
    const blocks = Array.from({ length: 1000 }, (_, id) => ({
      id,
      method: 'eth_getBlockByNumber',
      params: ['0x0', false],
    }));
    const ended = client.ended();
    client.socket.pause();
    for (let i = 0; i < 20; i++) client.socket.send(JSON.stringify(blocks));
    await eventually(() => expect(counts.open).toBe(0));
    client.socket.resume();
    expect([1006, 1013]).toContain(await ended);
    expect(client.received.length).toBeLessThan(20);
  });

  test('comes with 1001 when the server stops, after the answers that are under way', async () => {
    const { node, server, url } = await start();
    const client = await Client.open(url);
    client.socket.send(JSON.stringify({ id: 1, method: 'evm_mine', params: [{ blocks: 50 }] }));
    await eventually(async () => expect(await node.request({ method: 'eth_blockNumber' })).not.toBe('0x0'));
    const [code] = await Promise.all([client.ended(), server.close({ graceMs: 300_000 })]);
    expect(code).toBe(1001);
    expect(client.received.map((text) => JSON.parse(text))).toMatchObject([{ id: 1, result: '0x0' }]);
  });
});
