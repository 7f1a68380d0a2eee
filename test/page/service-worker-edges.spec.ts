import { expect, test } from '@playwright/test';
import { endlessAccounts, SLOW } from '../support/endless.js';
import {
  type Answer,
  call,
  type Options,
  openProxyScene,
  type ProxyScene,
  post,
  register,
  TOKEN,
} from '../support/proxy-scene.js';
import { stopWorkers } from '../support/stop-workers.js';

let scene: ProxyScene;
test.beforeEach(async () => {
  scene = await openProxyScene();
});
test.afterEach(() => scene.close());

test('while the node cannot be opened, requests are errors, or go to the network with that fallback', async ({
  context,
}) => {
  const page = await scene.openPage(context);
  const light = (await scene.lightOptions()) as { chain: object };
  const broken = {
    urls: [scene.upstream.url],
    chain: { ...light.chain, level: 'linked', agreeing: 5 },
  } as unknown as Options;
  await register(page, broken);
  scene.upstream.seen.length = 0;
  const { json } = await post<Answer[]>(page, scene.upstream.url, [
    call('eth_chainId', [], 'a'),
    call('debug_echo', [1], 'b'),
  ]);
  expect(json).toMatchObject([
    { id: 'a', error: { code: -32602 } },
    { id: 'b', result: [1] },
  ]);
  expect(scene.seenMethods()).toEqual(['debug_echo']);
  const failure = await page.evaluate(() =>
    (globalThis as unknown as { proxy: { open(): Promise<unknown> } }).proxy.open().catch((error) => error.code),
  );
  expect(failure).toBe('INVALID_PARAMETER');

  await register(page, { ...broken, fallback: 'network' });
  const other = await post(page, scene.upstream.url, call('eth_chainId', [], 'c'));
  expect(other).toMatchObject({
    classes: 'forwarded',
    json: { id: 'c', result: `0x${scene.dev.info.chainId.toString(16)}` },
  });

  // A node that is there and does not believe an endpoint is not passed over.
  await register(page, { ...(light as Options), fallback: 'network' });
  scene.upstream.options.tamper = ({ method }, result) =>
    method === 'eth_getProof' ? { ...(result as object), balance: '0x1' } : result;
  const refused = await post(page, scene.upstream.url, call('eth_getBalance', [TOKEN, 'latest'], 'd'));
  expect(refused).toMatchObject({ classes: 'error', json: { id: 'd', error: { code: -32000 } } });
});

test('other requests pass unchanged', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, { paths: ['/v3/*'], forward: false });
  scene.site.onPost = ({ body }, response) => response.end(body);
  for (const stopped of [false, true]) {
    if (stopped) await stopWorkers(context, page);
    const bytes = await page.evaluate(async () => {
      const body = Uint8Array.from({ length: 100_000 }, (_, i) => i * 7);
      const response = await fetch('/upload?v3=1', { method: 'POST', body });
      const back = new Uint8Array(await response.arrayBuffer());
      return back.length === body.length && back.every((byte, i) => byte === body[i]);
    });
    expect(bytes).toBe(true);
  }
  expect(scene.site.posts.map(({ path }) => path)).toEqual(['/upload?v3=1', '/upload?v3=1']);
  scene.site.onPost = undefined;
  expect((await post(page, '/v3/abc', call('eth_chainId'))).json.result).toMatch(/^0x/);
  expect((await post(page, '/v3/abc', call('nope'))).json.error?.code).toBe(-32601);
  expect((await post(page, '/v3/abc', { jsonrpc: '2.0', method: 'eth_chainId' })).json).toBe(null);
  const options = await page.evaluate(async () => {
    const response = await fetch('/v3/abc', { method: 'OPTIONS' });
    return [response.status, response.headers.get('access-control-allow-methods')];
  });
  expect(options).toEqual([204, 'POST, GET, OPTIONS']);
  expect(scene.site.posts).toHaveLength(2);
  for (const path of ['/v3/', '/v3/a/b', '/v4/abc']) {
    await page.evaluate((url) => fetch(url, { method: 'POST', body: '{}' }), path);
  }
  expect(scene.site.posts.slice(2).map(({ path }) => path)).toEqual(['/v3/', '/v3/a/b', '/v4/abc']);
});

test('answers any content type, and bodies that are not JSON or too large, without the network', async ({
  context,
}) => {
  const page = await scene.openPage(context);
  await register(page, {});
  const answers = await page.evaluate(async () => {
    const send = async (body: string | Blob, headers: Record<string, string> = {}) => {
      const response = await fetch('/rpc', { method: 'POST', body, headers });
      const text = await response.text();
      return [response.status, text === '' ? '' : (JSON.parse(text) as unknown)];
    };
    const chainId = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
    return {
      text: await send(chainId, { 'content-type': 'text/plain' }),
      form: await send(chainId, { 'content-type': 'application/x-www-form-urlencoded' }),
      none: await send(new Blob([chainId])),
      cut: await send('{"jsonrpc":"2.0","id":1,'),
      empty: await send(''),
      named: await send('{"jsonrpc":"2.0","id":2,"method":"eth_chainId","params":{}}'),
      objectId: await send('{"jsonrpc":"2.0","id":{},"method":"eth_chainId"}'),
      large: await send(`{"jsonrpc":"2.0","id":3,"method":"eth_chainId","params":["${'a'.repeat(6_000_000)}"]}`),
      told: await send('[{"jsonrpc":"2.0","method":"eth_chainId"},{"jsonrpc":"2.0","id":"","method":"eth_chainId"}]'),
    };
  });
  const result = `0x${scene.dev.info.chainId.toString(16)}`;
  const good = { jsonrpc: '2.0', id: 1, result };
  const error = (id: unknown, code: number) =>
    expect.objectContaining({ id, error: expect.objectContaining({ code }) });
  expect(answers).toEqual({
    text: [200, good],
    form: [200, good],
    none: [200, good],
    cut: [400, error(null, -32700)],
    empty: [400, error(null, -32700)],
    named: [400, error(2, -32600)],
    objectId: [400, error(null, -32600)],
    large: [413, error(null, -32600)],
    told: [200, [{ jsonrpc: '2.0', id: '', result }]],
  });
  expect(scene.site.posts).toEqual([]);
  // What is no question passes by, as if there were no worker.
  expect(await page.evaluate(async () => (await fetch('/rpc')).text())).toContain('<title>site</title>');
  expect(await page.evaluate(async () => (await fetch('/rpc', { method: 'PUT', body: 'x' })).status)).toBe(404);
  scene.site.onPost = (_, response) => response.end('a page of the network');
  await page.evaluate(() => {
    const form = Object.assign(document.createElement('form'), { method: 'post', action: '/rpc' });
    document.documentElement.append(form);
    form.submit();
  });
  await expect(page.getByText('a page of the network')).toBeVisible();
  expect(scene.site.posts.map(({ method }) => method)).toEqual(['PUT', 'POST']);
});

test('a light node computes eth_simulateV1; what only a devnet has is forwarded and marked so', async ({ context }) => {
  const page = await scene.openPage(context);
  await register(page, await scene.lightOptions());
  scene.upstream.seen.length = 0;
  const simulation = [{ blockStateCalls: [{ calls: [] }] }, 'latest'];
  const { url } = scene.upstream;
  const simulated = await post<{ result: unknown[] }>(page, url, call('eth_simulateV1', simulation));
  expect(simulated.json.result).toHaveLength(1);
  expect(simulated.classes).toBe('computed');
  expect(scene.seenMethods()).not.toContain('eth_simulateV1');
  const pool = await post<{ result: object }>(page, url, call('txpool_status'));
  expect(pool.json.result).toHaveProperty('pending');
  expect(pool.classes).toBe('forwarded');
  expect(scene.seenMethods()).toContain('txpool_status');
});

test('a light node resolves names of ENS, and no endpoint is sent one', async ({ context }) => {
  const page = await scene.openPage(context);
  const light = (await scene.lightOptions()) as { chain: { network: object } };
  const network = { ...light.chain.network, ens: { registry: TOKEN } };
  await register(page, { ...light, chain: { ...light.chain, network } } as unknown as Options);
  scene.upstream.seen.length = 0;
  const resolved = await post<{ result: object }>(page, scene.upstream.url, call('plumbline_resolveName', ['Öbb.at']));
  // @source adraffy/ens-normalize.js validate/custom-tests.json; a token is no registry.
  expect(resolved.json.result).toMatchObject({ name: 'öbb.at', status: 'failed', contract: TOKEN });
  expect(resolved.classes).toBe('computed');
  const bad = await post<Answer>(page, scene.upstream.url, call('plumbline_resolveName', ['a_b']));
  expect(bad.json).toMatchObject({ error: { code: -32602 } });
  expect(scene.seenMethods()).not.toContain('plumbline_resolveName');
});

test('a devnet from a genesis file runs rarely used code after a restart without a server', async ({ context }) => {
  const page = await scene.openPage(context);
  const fetched: string[] = [];
  context.on('request', (request) => fetched.push(new URL(request.url()).pathname));
  const genesis = {
    config: {
      chainId: 4242,
      londonBlock: 0,
      terminalTotalDifficulty: 0,
      shanghaiTime: 0,
      cancunTime: 0,
      pragueTime: 0,
    },
    gasLimit: '0x3b9aca00',
    alloc: { [TOKEN]: { balance: '0xde0b6b3a7640000' } },
  };
  await register(page, { chain: { kind: 'devnet', genesis } } as unknown as Options);
  const always = [
    '',
    '-beacon',
    '-consensus',
    '-diagnosis',
    '-later',
    '-messages',
    '-names',
    '-openrpc',
    '-preview',
    '-signatures',
    '-traces',
  ];
  const names = [...always, '-devnet', '-devnet-later', '-tools', '-tries', '-wallet'].map(
    (part) => `/service-worker${part}.js`,
  );
  expect(fetched.filter((path) => path.startsWith('/service-worker')).sort()).toEqual(names.sort());
  expect((await post(page, '/rpc', call('eth_chainId'))).json.result).toBe('0x1092');

  await stopWorkers(context, page);
  fetched.length = 0;
  const word = (value: number) => value.toString(16).padStart(64, '0');
  const answers = await post<Answer[]>(page, '/rpc', [
    call('eth_chainId', [], 'a'),
    call(
      'eth_simulateV1',
      [{ blockStateCalls: [{ calls: [{ from: TOKEN, to: TOKEN, value: '0x1' }] }] }, 'latest'],
      'b',
    ),
    call('eth_feeHistory', ['0x1', 'latest', []], 'c'),
    // Twice the generator (1, 2) of BN254, of EIP-196.
    call('eth_call', [{ to: `0x${word(6).slice(24)}`, data: `0x${[1, 2, 1, 2].map(word).join('')}` }], 'd'),
  ]);
  expect(answers.json).toMatchObject([
    { id: 'a', result: '0x1092' },
    { id: 'b', result: [{ calls: [{ status: '0x1' }] }] },
    { id: 'c', result: { oldestBlock: '0x0' } },
    {
      id: 'd',
      result:
        '0x030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd3' +
        '15ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4',
    },
  ]);
  expect(fetched.filter((path) => path.includes('service-worker'))).toEqual([]);
});

test('a batch of endless calls keeps no other request waiting, and ends with the time limit', async ({ context }) => {
  const page = await scene.openPage(context);
  const { alloc, calls } = endlessAccounts({ slow: SLOW });
  const chain = { kind: 'devnet', alloc };
  await register(page, { paths: ['/v3/*'], forward: false, chain, requestTimeoutMs: 10_000 } as Options);
  await post(page, '/v3/abc', call('eth_chainId'));
  const order = await page.evaluate(
    async ([endless, other]) => {
      const send = async (body: unknown) =>
        (await fetch('/v3/abc', { method: 'POST', body: JSON.stringify(body) })).json() as Promise<unknown>;
      const seen: unknown[] = [];
      const running = send(endless).then((answers) => seen.push((answers as unknown[]).at(-1)));
      for (let i = 0; i < 5; i++) seen.push(((await send(other)) as { result: unknown }).result);
      await running;
      return seen;
    },
    [
      Array.from({ length: 256 }, () => call('eth_call', [calls[0]![1], 'latest'], 1)),
      call('eth_blockNumber'),
    ] as const,
  );
  const timedOut = { id: 1, error: { code: -32603, message: 'Timeout expired' } };
  expect(order).toMatchObject(['0x0', '0x0', '0x0', '0x0', '0x0', timedOut]);
});
