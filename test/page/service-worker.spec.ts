import { type BrowserContext, expect, type Page, test } from '@playwright/test';
import { createInlineNode } from '../../dist/hosts/inline.js';
import type { PlumblineNode } from '../../src/hosts/node-handle.js';
import type { RpcProxyOptions } from '../../src/hosts/register.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { openSite, type Site, type SiteLibrary } from '../support/proxy-site.js';

const TOKEN = '0x7e57c0de00000000000000000000000000007e57';
type Options = Partial<RpcProxyOptions>;
interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

let dev: PlumblineNode;
let upstream: MockEndpoint;
let layerOne: MockEndpoint;
let site: Site;

test.beforeEach(async () => {
  // An endpoint of a chain that has more methods than a light node.
  dev = (await createInlineNode()) as unknown as PlumblineNode;
  const request = async (args: Parameters<PlumblineNode['request']>[0]) => {
    if (args.method === 'debug_echo') return args.params;
    return dev.request(args);
  };
  upstream = await serveMock({ ...dev, request } as PlumblineNode);
  layerOne = await serveMock(dev.l1);
  site = await openSite();
});
test.afterEach(async () => {
  await Promise.all([site.close(), upstream.close(), layerOne.close()]);
  await dev.close();
});

const transfer = (amount = '1') => ({
  from: DEV_ACCOUNTS[0],
  to: TOKEN,
  data: `0xa9059cbb${DEV_ACCOUNTS[1]!.slice(2).padStart(64, '0')}${amount.padStart(64, '0')}`,
});
const DEV_ACCOUNTS = ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'];

const seenMethods = () => upstream.seen.flat().map(({ method }) => method);

/** Options of a light node behind the very address that the page asks. */
async function lightOptions(): Promise<Options> {
  const { devnet } = await import('../../dist/networks/devnet.js');
  const chain = { kind: 'light', network: devnet(), endpoints: [upstream.url], layerOne: [layerOne.url] };
  return { urls: [upstream.url], chain } as unknown as Options;
}

async function openPage(context: BrowserContext, path = '/'): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.origin + path);
  return page;
}

async function register(page: Page, options: Options): Promise<void> {
  await page.evaluate(
    async (given) => {
      const { lib } = globalThis as unknown as { lib: SiteLibrary };
      const proxy = await lib.plumbline.registerRpcProxy(given);
      Object.assign(globalThis, { proxy });
    },
    { scriptUrl: '/service-worker.js', ...options },
  );
}

/** Posts JSON with a plain `fetch` of the page. */
function post<T = Answer>(
  page: Page,
  url: string,
  body: unknown,
): Promise<{ status: number; classes: string | null; json: T }> {
  return page.evaluate(
    async ([address, text]) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(address, { method: 'POST', headers, body: text });
      const json = JSON.parse((await response.text()) || 'null');
      return { status: response.status, classes: response.headers.get('plumbline-answers'), json };
    },
    [url, JSON.stringify(body)] as const,
  );
}

const call = (method: string, params: unknown[] = [], id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

/** As a dapp does with viem: an estimate, the chain id, and a method that no light node has. */
function askByViem(page: Page, url: string): Promise<{ gasLimit: string; chainId: number; echo: unknown }> {
  return page.evaluate(
    async ([address, request]) => {
      const { viem, viemLinea } = (globalThis as unknown as { lib: SiteLibrary }).lib;
      const client = viem.createPublicClient({ transport: viem.http(address) });
      const { from, to, data } = request as unknown as Record<'from' | 'to' | 'data', `0x${string}`>;
      const estimate = await viemLinea.estimateGas(client as never, { account: from, to, data } as never);
      const echo = await client.request({ method: 'debug_echo', params: ['a', 1] } as never);
      return { gasLimit: String(estimate.gasLimit), chainId: await client.getChainId(), echo };
    },
    [url, transfer()] as const,
  );
}

async function stopWorkers(context: BrowserContext, page: Page): Promise<void> {
  const session = await context.newCDPSession(page);
  const states = new Map<string, string>();
  session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    for (const { versionId, runningStatus } of versions) states.set(versionId, runningStatus);
  });
  await session.send('ServiceWorker.enable');
  await expect.poll(() => [...states.values()]).toContain('running');
  await session.send('ServiceWorker.stopAllWorkers');
  await expect.poll(() => new Set(states.values())).toEqual(new Set(['stopped']));
  await session.detach();
}

const expected = async () =>
  BigInt(
    ((await dev.request({ method: 'linea_estimateGas', params: [transfer()] })) as { gasLimit: string }).gasLimit,
  ).toString();

test('a page with viem and an unchanged address: estimates locally, forwards, outlives stops, in every tab', async ({
  context,
}) => {
  const origins = new Set<string>();
  context.on('request', (request) => origins.add(new URL(request.url()).origin));
  const page = await openPage(context);
  await register(page, await lightOptions());
  upstream.seen.length = 0;
  await post(page, upstream.url, call('linea_getProof', [TOKEN, [], 'latest']));
  const want = { gasLimit: await expected(), chainId: dev.info.chainId, echo: ['a', 1] };
  expect(await askByViem(page, upstream.url)).toEqual(want);
  expect(seenMethods()).toContain('debug_echo');
  expect(seenMethods()).toContain('eth_getProof');

  await stopWorkers(context, page);
  expect(await askByViem(page, upstream.url)).toEqual(want);
  // A tab that was never told anything of the proxy.
  const second = await openPage(context, '/second');
  await stopWorkers(context, page);
  expect(await askByViem(second, upstream.url)).toEqual(want);
  expect(await askByViem(page, upstream.url)).toEqual(want);

  expect(seenMethods().filter((method) => /estimateGas/i.test(method))).toEqual([]);
  const configured = [site.origin, new URL(upstream.url).origin, new URL(layerOne.url).origin];
  expect([...origins].sort()).toEqual(configured.sort());
});
