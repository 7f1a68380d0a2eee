import { describe, expect, test, vi } from 'vitest';
import { PlumblineError } from '../../src/errors.js';
import type { NodeOptions } from '../../src/hosts/options/options.js';
import type { NodeTransport } from '../../src/hosts/provider/transport.js';
import { type ProxyConfig, proxyConfig, type RpcProxyOptions } from '../../src/hosts/proxy/config.js';
import { answerSplit, type ProxyEnvironment, ProxyHost } from '../../src/hosts/proxy/proxy-host.js';
import type { StoredConfig } from '../../src/hosts/proxy/stored-config.js';
import { devnet } from '../../src/networks/devnet.js';
import { ethereum } from '../../src/networks/ethereum.js';
import { linea } from '../../src/networks/linea.js';
import { type Reply, type RpcResponse, readRequest, success } from '../../src/rpc/envelope.js';
import { servedMethods } from '../../src/rpc/method-info.js';
import type { RpcContext } from '../../src/rpc/methods/context.js';
import { DEVNET_METHODS } from '../../src/rpc/methods/devnet-methods.generated.js';
import { methodTable } from '../../src/rpc/methods/method-table.js';
import { eventually, settled } from '../support/eventually.js';
import { seededRandom } from '../support/random.js';

const KEY = '0123456789abcdef0123456789abcdef';
const PAGE = 'https://dapp.example/app/';

test('servedMethods() lists the names in the method table of each chain kind', () => {
  const chainOf = (kind: 'devnet' | 'light', methodPrefix: string) =>
    ({ chain: { kind, network: { ...devnet(), methodPrefix } } }) as unknown as RpcContext;
  for (const prefix of ['linea', 'l2', 'other']) {
    const light = methodTable(chainOf('light', prefix)).names;
    expect([...servedMethods('light', prefix)].sort()).toEqual(light);
    expect([...servedMethods('replica', prefix)].sort()).toEqual(light);
    const dev = methodTable(chainOf('devnet', prefix), DEVNET_METHODS).names;
    expect([...servedMethods('devnet', prefix)].sort()).toEqual(dev);
  }
  // Methods that need a pool are not in the table of a light node, so they are forwarded.
  expect(servedMethods('devnet', 'linea')).toContain('txpool_status');
  for (const kind of ['light', 'replica'] as const) expect(servedMethods(kind, 'linea')).not.toContain('txpool_status');
});

/** Answers as a dispatcher does, with the id in the result. */
async function echo(payload: unknown): Promise<Reply> {
  const requests = (Array.isArray(payload) ? payload : [payload]).map(readRequest);
  const bodies = requests.flatMap((request): RpcResponse[] => {
    if ('error' in request) return [request];
    return request.id === undefined ? [] : [success(request.id, ['here', request.id])];
  });
  return { body: Array.isArray(payload) ? bodies : bodies[0] };
}

test('mixed batches are answered in order, each request with its id', async () => {
  const random = seededRandom(7);
  const ids = [0, 1, -1, 1.5, 'a', '', null, 2 ** 53 - 1];
  for (let round = 0; round < 300; round++) {
    const batch = Array.from({ length: 1 + random(8) }, (): unknown => {
      if (random(6) === 0) return [1, 'x', null, {}, { method: 5 }][random(5)];
      const method = random(2) === 0 ? 'served' : 'not_served';
      return { jsonrpc: '2.0', method, ...(random(5) > 0 && { id: ids[random(ids.length)] }) };
    });
    const forward = vi.fn(async (calls: readonly { readonly id?: unknown }[]) =>
      calls.flatMap(({ id }) => (id === undefined ? [] : [success(id as string, ['there', id])])),
    );
    const serves = (method: string) => method === 'served';
    const reply = await answerSplit(batch, { local: echo, serves, forward, fallback: undefined, maxBatch: 100 });
    const expected = batch.flatMap((item): RpcResponse[] => {
      const request = readRequest(item);
      if ('error' in request) return [request];
      const { id } = request;
      return id === undefined ? [] : [success(id, [serves(request.method) ? 'here' : 'there', id])];
    });
    expect(reply.body).toEqual(expected);
    expect(reply.marks).toHaveLength(expected.length);
    expect(forward.mock.calls.length).toBeLessThanOrEqual(1);
  }
});

test('a batch above the limit is not split: the node refuses it as a whole', async () => {
  const batch = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'not_served' }));
  const forward = vi.fn(async () => []);
  const local = vi.fn(async () => ({ body: [] }));
  await answerSplit(batch, { local, serves: () => false, forward, fallback: undefined, maxBatch: 2 });
  expect(forward).not.toHaveBeenCalled();
  expect(local).toHaveBeenCalledWith(batch);
});

describe('the proxy', () => {
  /** An environment whose nodes record how they are used. */
  function scene(kept?: StoredConfig) {
    const state = { kept, opened: [] as NodeOptions[], closed: 0, asked: 0, pages: [] as ProxyConfig[] };
    let release: (() => void) | undefined;
    const environment: ProxyEnvironment = {
      openNode: async (options) => {
        state.opened.push(options);
        const dispatch = async (_: string, payload: unknown) => {
          if (JSON.stringify(payload).includes('slow')) await new Promise<void>((resolve) => (release = resolve));
          return echo(payload);
        };
        const close = async () => void state.closed++;
        return { info: { chainId: 1 }, dispatch, close, onFailure: () => () => {} } as unknown as NodeTransport;
      },
      loadConfig: async () => state.kept,
      storeConfig: async (config) => {
        state.kept = config;
      },
      askPages: (accept) => {
        state.asked++;
        for (const page of state.pages) accept(page);
      },
      fetch: async () => new Response('the network'),
    };
    return { state, environment, release: () => release?.() };
  }
  const post = (url = `https://rpc.example/v3/${KEY}`, params: unknown[] = []) =>
    new Request(url, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'eth_chainId', params }),
    });
  const config = (options: Partial<RpcProxyOptions> = {}) =>
    proxyConfig({ scriptUrl: '', urls: [`https://rpc.example/v3/${KEY}`], ...options }, PAGE);
  const light = (url: string): Partial<RpcProxyOptions> => ({
    chain: { kind: 'light', network: devnet(), endpoints: [url] },
  });
  const said = async (proxy: ProxyHost, request: Request) =>
    (await proxy.respond(request)?.then((r) => r.text())) ?? '';
  const HERE = JSON.stringify(success(4, ['here', 4]));

  test('answers only the configured URLs', async () => {
    const { environment } = scene();
    const proxy = new ProxyHost(environment);
    // The configuration has to be read first.
    expect(await said(proxy, post())).toBe('the network');
    expect(proxy.respond(post())).toBe(undefined);
    await proxy.configure(config());
    expect(await said(proxy, post())).toBe(HERE);
    expect(proxy.respond(post('https://elsewhere.example/'))).toBe(undefined);
    expect(proxy.respond(new Request(`https://rpc.example/v3/${KEY}`))).toBe(undefined);
    await proxy.stop();
    expect(proxy.respond(post())).toBe(undefined);
  });

  test('has paths and URLs for each of several chains, with the methods of that chain', async () => {
    const asked: unknown[] = [];
    const { environment, state } = scene();
    const openNode: ProxyEnvironment['openNode'] = async (options) => {
      const node = await environment.openNode(options);
      const dispatch: NodeTransport['dispatch'] = (layer, payload, signal, caller) => {
        asked.push(caller?.chain);
        return node.dispatch(layer, payload, signal, caller);
      };
      return { ...node, dispatch };
    };
    const proxy = new ProxyHost({ ...environment, openNode });
    const endpoints = ['https://one.example/'];
    const chains = [linea, ethereum].map((network) => ({ kind: 'light' as const, network, endpoints }));
    const byChain = { 59144: ['/linea'], 1: ['/mainnet', `https://two.example/v3/*`] };
    await proxy.configure(config({ urls: ['https://one.example/v3/a'], chains, byChain }));
    const urls = ['https://one.example/v3/a', `${new URL(PAGE).origin}/linea`, `${new URL(PAGE).origin}/mainnet`];
    for (const url of [...urls, 'https://two.example/v3/key']) expect(await said(proxy, post(url))).toBe(HERE);
    expect(asked).toEqual([undefined, 59144, 1, 1]);
    // What a layer 1 does not have goes to the endpoint at that address.
    const estimate = (url: string) =>
      new Request(url, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'linea_estimateGas', params: [] }),
      });
    expect(await said(proxy, estimate(urls[1]!))).toBe(HERE);
    expect(await said(proxy, estimate(urls[2]!))).not.toBe(HERE);
    // Without byChain, each has a path of its own.
    expect(config({ chains }).chainOf).toEqual({
      'https://dapp.example/rpc/1': 1,
      'https://dapp.example/rpc/59144': 59144,
    });
    expect(state.opened).toHaveLength(1);
    for (const wrong of [{ 5: ['/five'] }, { 1: ['/same'], 59144: ['/same'] }])
      expect(() => config({ chains, byChain: wrong })).toThrow(/^byChain: /);
    expect(() => config({ chains, paths: ['/rpc'], byChain: { 1: ['/rpc'] } })).toThrow(/^byChain: .*first chain/);
  });

  test('takes its keys from the URL of a request', async () => {
    const first = scene();
    await new ProxyHost(first.environment).configure(config(light(`https://rpc.example/v3/${KEY}`)));
    const { environment, state } = scene(first.state.kept);
    expect(await said(new ProxyHost(environment), post())).toBe(HERE);
    expect(state.opened[0]?.chain).toMatchObject({ endpoints: [`https://rpc.example/v3/${KEY}`] });
    expect(state.asked).toBe(0);
  });

  test('takes its keys from a page with the same configuration, or fails', async () => {
    vi.useFakeTimers();
    try {
      const given = config(light(`https://other.example/v3/${KEY}`));
      const first = scene();
      await new ProxyHost(first.environment).configure(given);
      const { environment, state } = scene(first.state.kept);
      // The first of them send what is no configuration.
      const others = [undefined, {}, 7] as unknown as ProxyConfig[];
      state.pages.push(...others, config(light(`https://wrong.example/v3/${KEY}`)), given);
      expect(await said(new ProxyHost(environment), post())).toBe(HERE);
      expect(state.opened[0]?.chain).toMatchObject({ endpoints: [`https://other.example/v3/${KEY}`] });

      const alone = scene(first.state.kept);
      const proxy = new ProxyHost(alone.environment);
      const waiting = said(proxy, post());
      await eventually(() => expect(alone.state.asked).toBe(1));
      await vi.advanceTimersByTimeAsync(11_000);
      expect(JSON.parse(await waiting)).toMatchObject({ id: 4, error: { code: -32603 } });
      // The next request asks again.
      alone.state.pages.push(given);
      expect(await said(proxy, post())).toBe(HERE);
    } finally {
      vi.useRealTimers();
    }
  });

  test('another configuration waits for requests under way; the same one changes nothing', async () => {
    const { environment, state, release } = scene();
    const proxy = new ProxyHost(environment);
    await proxy.configure(config());
    const slow = said(proxy, post(undefined, ['slow']));
    await eventually(() => expect(state.opened).toHaveLength(1));
    await proxy.configure(config());
    await proxy.configure(config({ maxBatch: 7 }));
    const later = said(proxy, post());
    await settled();
    expect([state.opened.length, state.closed]).toEqual([1, 0]);
    release();
    expect([await slow, await later]).toEqual([HERE, HERE]);
    expect([state.opened.length, state.closed]).toEqual([2, 1]);
  });

  test('a message that is no configuration is refused, and the previous one stays', async () => {
    const { environment, state } = scene();
    const proxy = new ProxyHost(environment);
    await proxy.configure(config());
    const { kept } = state;
    const good = config();
    const bad: unknown[] = [
      ...[undefined, null, 'text', [], {}, { ...good, targets: [] }, { ...good, targets: ['nowhere'] }],
      ...[
        { ...good, forward: 1 },
        { ...good, chainOf: { [good.targets[0]!]: 'x' } },
        { ...good, fallback: 'net' },
        { ...good, node: null },
      ],
      ...[
        { ...good, node: { chain: { kind: 'other' } } },
        { ...good, node: { chain: { kind: 'light' } } },
      ],
    ];
    for (const one of bad) {
      const refused = { code: 'INVALID_PARAMETER' };
      await expect(proxy.configure(one as ProxyConfig), JSON.stringify(one)).rejects.toMatchObject(refused);
    }
    expect(state.kept).toBe(kept);
    expect(await said(proxy, post())).toBe(HERE);
  });

  test('only JSON-RPC requests fail when the configuration cannot be read', async () => {
    const { environment } = scene();
    const loadConfig = async () => {
      throw new PlumblineError('STORE_UNAVAILABLE', 'no', { reason: 'no' });
    };
    const proxy = new ProxyHost({ ...environment, loadConfig });
    expect(JSON.parse(await said(proxy, post()))).toMatchObject({ id: 4, error: { code: -32603 } });
    const upload = new Request('https://dapp.example/upload', { method: 'POST', body: 'bytes' });
    expect(await said(proxy, upload)).toBe('the network');
    await proxy.configure(config());
    expect(await said(proxy, post())).toBe(HERE);
  });
});
