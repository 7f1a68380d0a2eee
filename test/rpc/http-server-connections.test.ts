import { constants } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ServeOptions, serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { gate } from '../support/stub-node.js';

let node: PlumblineNode;
beforeAll(async () => {
  node = await createInlineNode();
});
afterAll(() => node.close());

/** Holds the next request back until the gate is opened. */
function holdNext() {
  const [held, handleBody] = [gate(), node.handleBody];
  vi.spyOn(node, 'handleBody').mockImplementationOnce(async (...request) => {
    held.arrive();
    await held.closed;
    return handleBody(...request);
  });
  return held;
}

describe('stopping', () => {
  test('answers what is under way, closes idle connections, and takes nothing new', async () => {
    const stopping = await serve(node, { port: 0 });
    const url = `http://127.0.0.1:${stopping.port}/`;
    const idle = connect(stopping.port, '127.0.0.1');
    await once(idle, 'connect');
    const idleClosed = once(idle, 'close');
    idle.resume();
    const held = holdNext();
    const asked = fetch(url, { method: 'POST', body: '{"id":1,"method":"eth_chainId"}' });
    await held.reached;
    const closed = stopping.close({ graceMs: 300_000 });
    await idleClosed;
    held.open();
    expect(await (await asked).json()).toMatchObject({ id: 1, result: '0xe703' });
    await closed;
    await expect(fetch(url, { method: 'POST', body: '{}' })).rejects.toThrow();
  });

  test('does not wait longer than its option says', async () => {
    const stopping = await serve(node, { port: 0 });
    const slow = connect(stopping.port, '127.0.0.1');
    slow.write('POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{');
    await once(slow, 'connect');
    slow.on('error', () => {});
    const gone = new Promise((resolve) => slow.on('close', resolve));
    slow.resume();
    await stopping.close({ graceMs: 50 });
    await gone;
  });
});

describe('clients that do nothing', () => {
  const CALL = '{"id":1,"method":"eth_chainId"}';
  const limited = async (options: ServeOptions) => {
    const small = await serve(node, { port: 0, ...options });
    onTestFinished(() => small.close({ graceMs: 0 }));
    return { port: small.port, url: `http://127.0.0.1:${small.port}/` };
  };
  const open = async (port: number, text = '') => {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    socket.write(text);
    return { socket, closed };
  };
  const HALF = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${CALL.length}\r\n\r\n{`;

  test.each([
    ['POST', `content-length: ${CALL.length}\r\n\r\n${CALL}`],
    [
      'GET',
      'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    ],
  ])('a %s with two Host lines is a bad request', async (method, rest) => {
    const { port } = await limited({});
    const hosts = 'host: 127.0.0.1\r\nHost: evil.example\r\nconnection: close\r\n';
    const { socket, closed } = await open(port, `${method} / HTTP/1.1\r\n${hosts}${rest}`);
    let answer = '';
    socket.on('data', (part: Buffer) => {
      answer += part.toString();
    });
    await closed;
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
  });

  test.each([
    ['silent connections', ''],
    ['slow bodies', HALF],
  ])('%s give way to one that asks', async (_, text) => {
    for (const limits of [{ maxConnections: 4 }, { maxConnectionsPerClient: 4 }]) {
      const { port, url } = await limited(limits);
      const idle = [];
      for (let i = 0; i < 4; i++) idle.push(await open(port, text));
      const response = await fetch(url, { method: 'POST', body: CALL });
      expect(await response.json()).toMatchObject({ result: '0xe703' });
      idle[0]!.socket.resume();
      await idle[0]!.closed;
    }
  });

  test('a connection that is being answered does not: the new one is closed', async () => {
    const { port, url } = await limited({ maxConnections: 1 });
    const held = holdNext();
    const asked = fetch(url, { method: 'POST', body: CALL });
    await held.reached;
    const { closed, socket } = await open(port);
    socket.resume();
    await closed;
    held.open();
    expect(await (await asked).json()).toMatchObject({ result: '0xe703' });
  });

  test('a request that does not arrive in time gets 408', async () => {
    const { port } = await limited({ receiveTimeoutMs: 50 });
    const { socket, closed } = await open(port, HALF);
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(String(data)).toMatch(/^HTTP\/1.1 408 /);
    await closed;
  });

  test.each(['maxConnections', 'maxConnectionsPerClient', 'receiveTimeoutMs'])('%s is checked', async (name) => {
    for (const value of [0, -1, 1.5, Number.NaN, '7'])
      await expect(serve(node, { port: 0, [name]: value })).rejects.toMatchObject({
        code: 'INVALID_PARAMETER',
        message: `${name}: must be a whole number above zero`,
      });
  });

  test('bodies that are longer than a text can be are not allowed', async () => {
    const http = { maxBodyBytes: constants.MAX_STRING_LENGTH + 1 };
    const node = await createInlineNode({ http });
    onTestFinished(() => node.close());
    await expect(serve(node, { port: 0 })).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
      details: { parameter: 'http.maxBodyBytes' },
    });
  });

  test('filters are limited for each address, and for each session', async () => {
    const few = await createInlineNode({ maxFilters: 2 });
    onTestFinished(() => few.close());
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_newBlockFilter' });
    const from = async (client: string) => {
      const response = await few.handle(new Request('http://127.0.0.1/', { method: 'POST', body }), { client });
      return (await response.json()) as { result?: string; error?: object };
    };
    const refused = {
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32005,
        message: 'Number of filters exceeds 2',
        data: { reason: 'FILTER_LIMIT', details: { limit: 2 } },
      },
    };
    for (const client of ['10.0.0.1', '10.0.0.2']) {
      for (let i = 0; i < 2; i++) expect((await from(client)).result).toMatch(/^0x/);
      expect(await from(client)).toEqual(refused);
    }
    for (let i = 0; i < 2; i++) {
      const session = few.openSession(() => {});
      for (let i = 0; i < 2; i++) expect((await session.dispatch(JSON.parse(body))).body).toHaveProperty('result');
      const inProcess = { code: -32005, reason: 'FILTER_LIMIT', details: { limit: 2 } };
      expect((await session.dispatch(JSON.parse(body))).body).toMatchObject({ id: 1, error: inProcess });
    }
  });
});
