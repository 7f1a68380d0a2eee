import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Running, runBuilt, startBuilt } from '../support/built-command.js';
import { eventually } from '../support/eventually.js';

/** Starts `plumbline serve`. @returns it with its URL */
async function served(...args: string[]): Promise<Running & { readonly url: string }> {
  const running = startBuilt(['serve', '--port', '0', ...args]);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  let url: string | undefined;
  await eventually(async () => {
    url = /http:\/\/127\.0\.0\.1:\d+\//.exec(running.out())?.[0];
    expect(url).toBeDefined();
  });
  return { ...running, url: url! };
}

const post = async (url: string, body: unknown): Promise<unknown> =>
  (await fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })).json();
const request = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
const events = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('plumbline serve', () => {
  test('prints each request with its method, class and time, and says when it stops', async () => {
    const { url, out, stop } = await served();
    await post(url, request('eth_chainId'));
    await post(`${url}v3/key`, request('linea_estimateGas', { from: `0x${'11'.repeat(20)}` }));
    await post(url, request('eth_nothing'));
    await post(`${url}l1`, request('eth_blockNumber'));
    expect(await stop('SIGINT')).toBe(0);
    const lines = out().split('\n');
    const time = String.raw`^\d\d:\d\d:\d\d\.\d{3}  `;
    const after = (pattern: string) => lines.findIndex((line) => new RegExp(time + pattern).test(line));
    const found = [
      after(String.raw`eth_chainId +held +\d+\.\d ms$`),
      after(String.raw`linea_estimateGas +(computed|error) +\d+\.\d ms`),
      after(String.raw`eth_nothing +error +\d+\.\d ms  -32601 Method not found \(eth_nothing\)$`),
      after(String.raw`l1 eth_blockNumber +- +\d+\.\d ms$`),
      lines.findIndex((line) => line.startsWith('Stopping:')),
      lines.indexOf('Stopped.'),
    ];
    expect(found, out()).not.toContain(-1);
    expect([...found].sort((a, b) => a - b)).toEqual(found);
    expect(out()).not.toContain('/v3/key');
  });

  test('text of a client cannot write lines of its own, or steer the terminal', async () => {
    const { url, out, stop } = await served();
    await post(url, request(`a\nStopped.\u001b[2J\u202e${'x'.repeat(500)}`));
    await stop('SIGTERM');
    expect(out().match(/^Stopped\.$/gm)).toHaveLength(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(out()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\uffff]/);
    expect(
      Math.max(
        ...out()
          .split('\n')
          .slice(8)
          .map((line) => line.length),
      ),
    ).toBeLessThan(400);
  });

  test('--quiet prints no requests', async () => {
    const { url, out, stop } = await served('--quiet');
    await post(url, request('eth_chainId'));
    expect(await stop('SIGTERM')).toBe(0);
    expect(out()).not.toContain('eth_chainId');
    expect(out()).toContain('Stopped.');
  });

  test('--json prints one object for each event, also of batches and WebSockets', async () => {
    const { url, out, stop } = await served('--json');
    await post(url, [request('eth_chainId'), { ...request('nope'), id: 2 }, { ...request('eth_gasPrice'), id: 3 }]);
    await post(url, 'oops');
    const socket = new WebSocket(url.replace('http', 'ws'));
    await once(socket, 'open');
    socket.send(JSON.stringify(request('eth_getBalance', `0x${'11'.repeat(20)}`, 'latest')));
    await once(socket, 'message');
    expect(await stop('SIGTERM')).toBe(0);
    const printed = events(out());
    expect(printed[0]).toMatchObject({ event: 'listening', network: 'devnet', chainId: 59_139, url });
    const batch = { event: 'request', transport: 'http', layer: 'l2', batch: 3, ms: expect.any(Number) };
    expect(printed.slice(1, -2)).toMatchObject([
      { ...batch, method: 'eth_chainId', class: 'held' },
      { ...batch, method: 'nope', error: { code: -32_601, message: 'Method not found (nope)' } },
      { ...batch, method: 'eth_gasPrice', class: 'computed' },
      { event: 'request', error: { code: -32_700 } },
      { event: 'request', transport: 'websocket', method: 'eth_getBalance', class: 'held' },
    ]);
    expect(printed[2]).not.toHaveProperty('class');
    expect(printed.slice(-2).map(({ event }) => event)).toEqual(['stopping', 'stopped']);
  });

  test('goes on when its output is not read', async () => {
    const { url, child, stop } = await served();
    child.stdout!.destroy();
    for (let i = 0; i < 20; i++) expect(await post(url, request('eth_chainId'))).toMatchObject({ result: '0xe703' });
    expect(await stop('SIGTERM')).toBe(0);
  });
});

describe('GET /', () => {
  let running: Running & { readonly url: string };
  beforeAll(async () => {
    const started = startBuilt(['serve', '--port', '0', '--quiet']);
    await eventually(async () => expect(started.out()).toMatch(/http:\S+\//));
    running = { ...started, url: /http:\/\/127\.0\.0\.1:\d+\//.exec(started.out())![0] };
  });
  afterAll(() => running.stop('SIGTERM'));

  test('is a page for a browser, which loads nothing', async () => {
    const response = await fetch(running.url, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await response.text();
    expect(html).toContain('chain id <b>59139</b>');
    expect(html).not.toMatch(/\b(src|href)="(?!demo\/|liveness)/);
    expect(html).not.toContain('demo/');
  });

  test('stays what Besu answers for everybody else', async () => {
    const response = await fetch(running.url);
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 201, text: '' });
  });
});

test('plumbline size says what its numbers count', async () => {
  const { code, out } = await runBuilt(['size', `0x${'00'.repeat(500)}`]);
  expect(code).toBe(0);
  // One field element has room for 31 bytes, and counts as 32 (docs/spec/compression.md).
  expect(out).toMatch(
    /^size {8}500 bytes\ncompressed {2}\d+ bytes\nfee size {4}32 bytes, field elements of 32 bytes: 1\n/,
  );
});
