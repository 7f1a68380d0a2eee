import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { verifyMessage } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
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

  test.each([['--json'], ['--log', 'json']])(
    '%s %s prints one object for each event, also of batches and WebSockets',
    async (...args) => {
      const { url, out, stop } = await served(...args);
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
    },
  );

  test('lets in pages of this machine and extensions, and prints once which flag lets in another', async () => {
    const { url, out, stop } = await served('--quiet');
    const ask = (origin: string) =>
      fetch(url, { method: 'POST', headers: { origin }, body: JSON.stringify(request('eth_chainId')) });
    for (const origin of ['http://localhost:3000', 'chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn']) {
      expect((await ask(origin)).status, origin).toBe(200);
    }
    for (let i = 0; i < 3; i++) {
      const response = await ask('https://app.example');
      expect(response.status).toBe(403);
      expect(await response.json()).toEqual({
        message: expect.stringContaining('--allow-origin https://app.example lets it in'),
      });
    }
    await stop('SIGTERM');
    expect(out().match(/^Refused .*$/gm)).toEqual([
      'Refused a page of https://app.example; --allow-origin https://app.example lets it in.',
    ]);
  });

  test('a light node lets in neither, unless they are named', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'plumbline-network-')), 'network.json');
    onTestFinished(() => rm(dirname(file), { recursive: true }));
    await writeFile(file, '{"name":"mine","chainId":4242}');
    const args = ['--quiet', '--network', file, '--upstream', 'http://127.0.0.1:9'];
    const origin = 'http://localhost:3000';
    for (const [more, status] of [
      [[], 403],
      [['--allow-origin', 'loopback'], 200],
    ] as const) {
      const { url, stop } = await served(...args, ...more);
      const body = JSON.stringify(request('eth_chainId'));
      expect((await fetch(url, { method: 'POST', headers: { origin }, body })).status).toBe(status);
      await stop('SIGTERM');
    }
  });

  test('prints the accounts and their keys, which are public', async () => {
    const { out, stop } = await served('--quiet', '--balance', '7');
    await eventually(async () => expect(out()).toContain('curl'));
    await stop('SIGTERM');
    // As every tool with the same mnemonic prints them.
    expect(out()).toMatch(/, 7 ETH each/);
    expect(out()).toMatch(/WARNING: these keys are public/);
    for (const line of [
      '  (0) 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266  0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
      '  (9) 0xa0ee7a142d267c1f36714e4a8f75612f20a79720  0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6',
    ]) {
      expect(out().split('\n')).toContain(line);
    }
  });

  test('--chain-id and --balance are those of the devnet', async () => {
    const { url, stop } = await served('--quiet', '--chain-id', '31337', '--balance', '7');
    const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
    expect(await post(url, request('eth_chainId'))).toMatchObject({ result: '0x7a69' });
    expect(await post(url, request('eth_getBalance', account, 'latest'))).toMatchObject({
      result: '0x6124fee993bc0000',
    });
    await stop('SIGTERM');
  });

  test('--accounts and --mnemonic are those of both layers, with keys', async () => {
    const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
    // Before the server listens: viem takes seconds, in which an idle connection would time out.
    const accounts = Array.from({ length: 12 }, (_, addressIndex) => mnemonicToAccount(mnemonic, { addressIndex }));
    const { url, out, stop } = await served('--quiet', '--accounts', '12', '--mnemonic', mnemonic, '--balance', '3');
    await eventually(async () => expect(out()).toContain('curl'));
    const { result } = (await post(url, request('eth_accounts'))) as { result: `0x${string}`[] };
    expect(result).toEqual(accounts.map(({ address }) => address.toLowerCase()));
    expect(out()).toContain(`  accounts  12 of "${mnemonic}", 3 ETH each`);
    expect(out()).not.toContain('public');
    const [from, to] = [accounts[11]!, accounts[0]!];
    for (const [layer, balance] of [
      [url, '0x29a2241af62c0001'],
      [`${url}l1`, '0x21e19e0c9bab2400001'],
    ] as const) {
      const sent = { from: from.address, to: to.address, value: '0x1' };
      expect(await post(layer, request('eth_sendTransaction', sent)), layer).toHaveProperty('result');
      expect(await post(layer, request('eth_getBalance', to.address, 'latest')), layer).toMatchObject({
        result: balance,
      });
    }
    const signed = (await post(url, request('personal_sign', '0x68656c6c6f', from.address))) as {
      result: `0x${string}`;
    };
    expect(await verifyMessage({ address: from.address, message: 'hello', signature: signed.result })).toBe(true);
    await stop('SIGTERM');
  });

  test('--state takes its accounts from a file, and writes them there when it stops', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-state-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'state.json');
    const account = `0x${'42'.repeat(20)}`;
    const first = await served('--quiet', '--state', file);
    await post(first.url, request('anvil_setBalance', account, '0x1234'));
    expect(await first.stop('SIGTERM')).toBe(0);
    const { accounts } = JSON.parse(await readFile(file, 'utf8')) as { accounts: Record<string, { balance: string }> };
    expect(accounts[account]!.balance).toBe('0x1234');
    expect(await readdir(folder)).toEqual(['state.json']);
    for (const option of ['--state', '--load-state']) {
      const next = await served('--quiet', option, file);
      expect(await post(next.url, request('eth_getBalance', account, 'latest'))).toMatchObject({ result: '0x1234' });
      expect(await next.stop('SIGTERM')).toBe(0);
    }
  });

  test('a state that cannot be written is said, with code 1', async () => {
    const { child, stop } = await served('--quiet', '--dump-state', '/dev/null/state.json');
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    expect(await stop('SIGTERM')).toBe(1);
    expect(said).toMatch(/^plumbline serve: the state is not in .*ENOTDIR/);
  });

  test('--metrics counts requests, errors and refused origins as Prometheus reads them', async () => {
    const { url, stop } = await served('--quiet', '--metrics');
    await post(url, [request('eth_chainId'), { ...request('eth_chainId'), id: 2 }]);
    await post(url, request('linea_getProof', '0x12'));
    for (const name of ['a"b\n', 'nope', '__proto__']) await post(url, request(name));
    await post(`${url}l1`, request('eth_chainId'));
    await fetch(url, { method: 'POST', headers: { origin: 'https://app.example' }, body: '{}' });
    await post(url, request('evm_mine'));
    const response = await fetch(`${url}metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    for (const line of [
      'plumbline_requests_total{method="eth_chainId",layer="l2",class="held"} 2',
      'plumbline_requests_total{method="other",layer="l2",class="error"} 3',
      'plumbline_errors_total{method="other",layer="l2",code="-32601"} 3',
      'plumbline_errors_total{method="linea_getProof",layer="l2",code="-32602"} 1',
      'plumbline_refused_origins_total 1',
      'plumbline_up 1',
      'plumbline_head_block 1',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).toMatch(/^plumbline_requests_total\{method="eth_chainId",layer="l1",class="\w+"\} 1$/m);
    // Each line is a comment or a sample (Prometheus, "Text-based format").
    const sample = /^[a-z_]+(?:\{[a-z0-9]+="[\w-]*"(?:,[a-z0-9]+="[\w-]*")*\})? -?[\d.]+(?:e[+-]?\d+)?$/;
    const known = (line: string) => sample.test(line) || /^# (?:HELP|TYPE) [a-z_]+ \S/.test(line);
    expect(
      text
        .trimEnd()
        .split('\n')
        .filter((line) => !known(line)),
    ).toEqual([]);
    await stop('SIGTERM');
    const without = await served('--quiet');
    expect((await fetch(`${without.url}metrics`)).status).toBe(404);
    await without.stop('SIGTERM');
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
