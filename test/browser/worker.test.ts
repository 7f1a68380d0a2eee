import { afterEach, describe, expect, test } from 'vitest';
import type { UntypedMethod } from '../../dist/index.js';
// The built package: what runs here is what a page gets.
import { createNode, DEV_ACCOUNTS, devnet, type Hex, type PlumblineNode, TEST_TOKEN } from '../../dist/index.js';
import { hexToBytes, loadHasher, verifyLineaProof } from '../../dist/verify.js';

const open: PlumblineNode[] = [];

async function start(...options: Parameters<typeof createNode>): Promise<PlumblineNode> {
  const node = await createNode(...options);
  open.push(node);
  return node;
}

afterEach(async () => {
  for (const node of open.splice(0)) await node.close().catch(() => {});
});

const word = (hex: string) => hex.slice(2).padStart(64, '0');
const transfer = (amount: string) => ({
  from: DEV_ACCOUNTS[0]!.address,
  to: TEST_TOKEN,
  data: `0xa9059cbb${word(DEV_ACCOUNTS[1]!.address)}${word(amount)}`,
});

describe('a node in a real worker', () => {
  test('answers both methods', async () => {
    const stages: string[] = [];
    const node = await start({ onProgress: ({ stage }) => stages.push(stage) });
    expect(stages.at(-1)).toBe('ready');
    const estimate = await node.request<UntypedMethod>({ method: 'linea_estimateGas', params: [transfer('0x1')] });
    expect(estimate).toMatchObject({ baseFeePerGas: '0x7' });
    const answer = await node.request({ method: 'linea_getProof', params: [TEST_TOKEN, ['0x2'], 'latest'] });
    const root = (await node.l1.request({
      method: 'eth_call',
      params: [{ to: node.info.rollupAddress!, data: `0x8be745d1${'0'.repeat(64)}` }, 'latest'],
    })) as Hex;
    const verdict = verifyLineaProof(
      await loadHasher(node.info.hashScheme!),
      {
        address: hexToBytes(TEST_TOKEN),
        storageKeys: [hexToBytes(`0x${'2'.padStart(64, '0')}`)],
        stateRoot: hexToBytes(root),
      },
      answer,
    );
    expect(verdict.verified).toBe(true);
  });

  test('answers the beacon API of its layer 1', async () => {
    const node = await start();
    const get = (path: string) => node.handleL1(new Request(`https://devnet.local/l1/eth/v1/beacon/${path}`));
    const { data } = (await (await get('headers/finalized')).json()) as { data: { root: string } };
    const bootstrap = await get(`light_client/bootstrap/${data.root}`);
    expect(await bootstrap.json()).toMatchObject({ version: 'fulu', data: { header: { beacon: {} } } });
    const missing = await get(`light_client/bootstrap/0x${'12'.repeat(32)}`);
    expect([missing.status, await missing.json()]).toEqual([404, { code: 404, message: expect.any(String) }]);
  });

  test('resolves names of a network that has them, in the worker of a devnet and in that of the others', async () => {
    const ens = { registry: TEST_TOKEN };
    const network = { ...devnet(), ens };
    const node = await start({ chain: { kind: 'devnet', network } });
    // @source adraffy/ens-normalize.js validate/custom-tests.json
    expect(await node.resolveName('Öbb.at')).toMatchObject({ name: 'öbb.at', status: 'failed', contract: TEST_TOKEN });
    const light = await start({ chain: { kind: 'light', network, endpoints: ['http://127.0.0.1:9'] } });
    await expect(light.resolveName('a_b')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('is not a name by ENSIP-15: underscore'),
    });
  });

  test('errors keep code and data across the worker', async () => {
    const node = await start();
    const tooMuch = transfer(`0x${'f'.repeat(40)}`);
    await expect(node.request<UntypedMethod>({ method: 'linea_estimateGas', params: [tooMuch] })).rejects.toMatchObject(
      {
        name: 'ProviderRpcError',
        code: 3,
        data: expect.stringMatching(/^0x[0-9a-f]{8,}$/),
      },
    );
    await expect(node.request<UntypedMethod>({ method: 'eth_nothing' })).rejects.toMatchObject({ code: -32601 });
    const bytes = new Uint8Array(10);
    const chain = {
      kind: 'devnet',
      network: { ...(await profile()), dictionary: { name: 'x', sha256: `0x${'00'.repeat(32)}`, byteLength: 11 } },
    };
    await expect(createNode({ chain, dictionary: { kind: 'bytes', bytes } } as never)).rejects.toMatchObject({
      name: 'PlumblineError',
      code: 'DICTIONARY_LENGTH_MISMATCH',
      details: { expected: 11, actual: 10 },
    });
    expect(await node.request({ method: 'eth_chainId' })).toBe('0xe703');
  });

  test('sends messages of subscriptions after their ids, until they end', async () => {
    const node = await start();
    const told: { subscription: string; result: unknown }[] = [];
    node.on('message', ({ type, data }) => {
      expect(type).toBe('eth_subscription');
      told.push(data);
    });
    const subscribed = node.request({ method: 'eth_subscribe', params: ['newHeads'] });
    const mined = node.request({ method: 'evm_mine' });
    const id = await subscribed;
    expect(told).toEqual([]);
    await mined;
    await expect.poll(() => told).toMatchObject([{ subscription: id, result: { number: '0x1' } }]);
    expect(await node.request({ method: 'eth_unsubscribe', params: [id] })).toBe(true);
    await node.request({ method: 'evm_mine' });
    await expect(node.request({ method: 'eth_unsubscribe', params: [id] })).rejects.toMatchObject({ code: -32000 });
    expect(told).toHaveLength(1);
  });

  test('emits connect, and disconnect when it is closed; later calls are refused with 4900', async () => {
    const node = await createNode();
    const connected = new Promise<unknown>((resolve) => node.on('connect', resolve));
    expect(await connected).toEqual({ chainId: '0xe703' });
    const disconnected = new Promise<unknown>((resolve) => node.on('disconnect', resolve));
    await node.close();
    expect(await disconnected).toMatchObject({ code: 4900 });
    await expect(node.request({ method: 'eth_chainId' })).rejects.toMatchObject({ code: 4900 });
  });

  test('an aborted call is rejected with its reason, and the node still answers', async () => {
    const node = await start();
    const controller = new AbortController();
    const call = node.request<UntypedMethod>(
      { method: 'linea_estimateGas', params: [transfer('0x1')] },
      { signal: controller.signal },
    );
    controller.abort(new Error('changed my mind'));
    await expect(call).rejects.toThrow('changed my mind');
    expect(await node.request({ method: 'eth_blockNumber' })).toBe('0x0');
  });

  test('when a worker dies, its calls and later ones are rejected', async () => {
    const url = new URL('../../dist/hosts/worker/worker.js', import.meta.url);
    // vitest has the dynamic imports of what it serves go through this, and puts it into workers that it makes itself.
    const shim = 'globalThis.__vitest_browser_runner__ = { wrapDynamicImport: (load) => load() };';
    const script = `${shim} import(${JSON.stringify(url.href)}); addEventListener('message', ({ data }) => data === 'die' && close());`;
    const source = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    const worker = new Worker(source, { type: 'module' });
    const node = await start({ worker });
    const disconnected = new Promise<unknown>((resolve) => node.on('disconnect', resolve));
    worker.postMessage('die');
    const call = node.request<UntypedMethod>({ method: 'linea_estimateGas', params: [transfer('0x1')] });
    await expect(call).rejects.toMatchObject({ code: 4900 });
    expect(await disconnected).toMatchObject({ code: 4900 });
    await expect(node.request({ method: 'eth_chainId' })).rejects.toMatchObject({ code: 4900 });
  });

  test('a worker that was ready before the node was asked for opens one', async () => {
    const worker = new Worker(new URL('../../dist/hosts/worker/worker.js', import.meta.url), { type: 'module' });
    await new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }));
    expect(await (await start({ worker })).request({ method: 'eth_chainId' })).toBe('0xe703');
  });

  test('a worker that does not load, or never starts, is a typed error', async () => {
    const missing = new Worker('/no-such-worker.js', { type: 'module' });
    await expect(createNode({ worker: missing })).rejects.toMatchObject({ code: 'WORKER_FAILED' });
    const idle = new Worker(URL.createObjectURL(new Blob([''], { type: 'text/javascript' })));
    await expect(createNode({ worker: idle, loadTimeoutMs: 200 })).rejects.toMatchObject({ code: 'WORKER_FAILED' });
  });

  test('a devnet with a store name is opened again', async () => {
    const storeName = `worker-test-${crypto.randomUUID()}`;
    const first = await start({ storeName });
    await first.request({ method: 'evm_mine' });
    const hash = ((await first.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) as { hash: Hex })
      .hash;
    await first.close();
    const second = await start({ storeName });
    expect(await second.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })).toMatchObject({ hash });
  });

  test('answers a fetch request', async () => {
    const node = await start();
    const response = await node.handle(
      new Request('https://node.test/', { method: 'POST', body: '{"jsonrpc":"2.0","id":5,"method":"eth_chainId"}' }),
    );
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 5, result: '0xe703' });
  });
});

test('a node of two networks answers for both from one worker', async () => {
  const endpoints = ['https://unreachable.invalid/'];
  const { ethereum, linea } = await import('../../dist/index.js');
  const chains = [linea, ethereum].map((network) => ({ kind: 'light' as const, network, endpoints }));
  const node = await start({ chains });
  const seen: Hex[] = [];
  node.on('chainChanged', (id) => seen.push(id));
  const idOf = (of: Pick<PlumblineNode, 'request'>) => of.request({ method: 'eth_chainId' });
  expect([await idOf(node), await idOf(node.chain(1)), await idOf(node.chain(59144))]).toEqual([
    '0xe708',
    '0x1',
    '0xe708',
  ]);
  await node.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: '0x1' }] });
  expect(seen).toEqual(['0x1']);
  expect([await idOf(node), await idOf(node.chain(59144))]).toEqual(['0x1', '0xe708']);
  const post = { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }) };
  const answer = await node.chain(1).handle(new Request('https://page.example/rpc/1', post));
  expect(await answer.json()).toMatchObject({ result: '0x1' });
  await node.chain(1).close();
  await expect(node.request({ method: 'eth_chainId' })).rejects.toMatchObject({ code: 4900 });
});

describe('a light node in a worker whose page makes its requests', () => {
  /** Layer 2 of a devnet in another worker, as a server. */
  async function light(fetch: typeof globalThis.fetch, endpoint: object = {}): Promise<PlumblineNode> {
    const endpoints = [{ url: 'https://layer-2.example', ...endpoint }];
    return start({ chain: { kind: 'light', network: await profile(), endpoints }, fetch });
  }

  test('has the answers that the page gives it', async () => {
    const devnet = await start();
    const seen: string[] = [];
    const node = await light((input, init) => {
      const request = new Request(input, init);
      seen.push(`${request.method} ${request.url}`);
      return devnet.handle(request);
    });
    const params = [DEV_ACCOUNTS[3]!.address, 'latest'];
    expect(await node.request<UntypedMethod>({ method: 'eth_getBalance', params })).toBe('0x21e19e0c9bab2400000');
    expect(new Set(seen)).toEqual(new Set(['POST https://layer-2.example/']));
  });

  test('finds no endpoint where the page cannot answer, does not answer, or never ends', async () => {
    const part = new Uint8Array(2 ** 23);
    const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(part) });
    const failing: (typeof globalThis.fetch)[] = [
      async () => {
        throw new TypeError('Failed to fetch');
      },
      async () => new Response(endless()),
      () => new Promise(() => {}),
    ];
    for (const fetch of failing) {
      const node = await light(fetch, { timeoutMs: 2_000 });
      await expect(node.request({ method: 'eth_gasPrice' })).rejects.toMatchObject({
        code: -32000,
        message: expect.stringMatching(/^no endpoint could be reached /),
      });
    }
  });

  test('does not run in a SharedWorker, which outlives the page', async () => {
    const worker = new SharedWorker('data:text/javascript,');
    await expect(createNode({ worker, fetch })).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
      details: { parameter: 'fetch' },
    });
  });
});

async function profile() {
  const { devnet } = await import('../../dist/fees.js');
  return devnet();
}
