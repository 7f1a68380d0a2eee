import { once } from 'node:events';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningServer, serve } from '../../src/hosts/cli/server.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';

describe('who may ask a server on loopback, without options', () => {
  let plain: PlumblineNode;
  let open: RunningServer;
  beforeAll(async () => {
    plain = await createInlineNode();
    open = await serve(plain, { port: 0 });
  });
  afterAll(async () => {
    await open.close();
    await plain.close();
  });

  /** Status of a request with these headers; `fetch` sets host and origin itself. */
  async function statusOf(method: string, path: string, headers: Record<string, string>): Promise<number> {
    const request = openRequest({ host: '127.0.0.1', port: open.port, method, path, headers });
    request.end(method === 'POST' ? '{"id":1,"method":"eth_chainId"}' : undefined);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode!;
  }

  async function upgradeStatusOf(headers: Record<string, string>): Promise<number> {
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };
    const asked = { connection: 'Upgrade', upgrade: 'websocket', ...key, ...headers };
    const request = openRequest({ host: '127.0.0.1', port: open.port, headers: asked });
    request.end();
    return new Promise((resolve) => {
      request.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response.statusCode!);
      });
      request.on('response', (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
    });
  }

  test.each([
    ['a tool, which sends no origin', {}, true],
    ['a page of the server itself', { host: 'localhost:8545', origin: 'http://localhost:8545' }, true],
    ['a website', { origin: 'https://evil.test' }, false],
    [
      'a website, as text/plain without a preflight',
      { origin: 'https://evil.test', 'content-type': 'text/plain' },
      false,
    ],
    ['a page without an origin of its own', { origin: 'null' }, false],
    ['a page on another port of this machine', { host: 'localhost:8545', origin: 'http://localhost:3000' }, false],
    ['a website that points its name here', { host: 'evil.test', origin: 'http://evil.test' }, false],
    ['the same, without an origin', { host: 'evil.test' }, false],
  ])('%s', async (_, headers, isAllowed) => {
    const given = headers as Record<string, string>;
    expect(await statusOf('POST', '/', given)).toBe(isAllowed ? 200 : 403);
    expect(await statusOf('POST', '/v3/key', given)).toBe(isAllowed ? 200 : 403);
    expect(await statusOf('POST', '/l1', given)).toBe(isAllowed ? 200 : 403);
    expect(await statusOf('GET', '/liveness', given)).toBe(isAllowed ? 200 : 403);
    expect(await statusOf('OPTIONS', '/', given)).toBe(isAllowed ? 204 : 403);
    expect(await upgradeStatusOf(given)).toBe(isAllowed ? 101 : 403);
  });
});
