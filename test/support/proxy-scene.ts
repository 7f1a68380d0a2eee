import type { BrowserContext, Page } from '@playwright/test';
import { createInlineNode } from '../../build/modules/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { RequestArguments, UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { RpcProxyOptions } from '../../src/hosts/proxy/register.js';
import { type MockEndpoint, serveMock } from './mock-chain.js';
import { openSite, type Site, type SiteLibrary } from './proxy-site.js';

export const TOKEN = '0x7e57c0de00000000000000000000000000007e57';
const [FROM, TO] = [
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
] as const;

/** A transfer of the test token, as a call. */
export const TRANSFER = {
  from: FROM,
  to: TOKEN,
  data: `0xa9059cbb${TO.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`,
} as const;

export type Options = Partial<RpcProxyOptions>;

export interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A site, and an endpoint on another origin with a method, `debug_echo`, that no plumbline node has. */
export interface ProxyScene {
  readonly site: Site;
  readonly dev: PlumblineNode;
  readonly upstream: MockEndpoint;
  readonly layerOne: MockEndpoint;
  /** Options of a light node whose endpoint is the URL that the page requests. */
  lightOptions(): Promise<Options>;
  /** Methods of the requests that the endpoint got. */
  seenMethods(): string[];
  openPage(context: BrowserContext, path?: string): Promise<Page>;
  close(): Promise<void>;
}

export async function openProxyScene(): Promise<ProxyScene> {
  const dev = (await createInlineNode()) as unknown as PlumblineNode;
  const request = async (args: RequestArguments) => {
    if (args.method === 'debug_echo') return args.params;
    return dev.request<UntypedMethod>(args);
  };
  const upstream = await serveMock({ ...dev, request } as PlumblineNode);
  const layerOne = await serveMock(dev.l1);
  const site = await openSite();
  return {
    site,
    dev,
    upstream,
    layerOne,
    async lightOptions() {
      const { devnet } = await import('../../build/modules/networks/devnet.js');
      const chain = { kind: 'light', network: devnet(), endpoints: [upstream.url], layerOne: [layerOne.url] };
      return { urls: [upstream.url], chain } as unknown as Options;
    },
    seenMethods: () => upstream.seen.flat().map(({ method }) => method),
    async openPage(context, path = '/') {
      const page = await context.newPage();
      await page.goto(site.origin + path);
      return page;
    },
    async close() {
      await Promise.all([site.close(), upstream.close(), layerOne.close()]);
      await dev.close();
    },
  };
}

/** Registers the proxy of a page, and sets it as `globalThis.proxy`. */
export async function register(page: Page, options: Options): Promise<void> {
  await page.evaluate(
    async (given) => {
      const { lib } = globalThis as unknown as { lib: SiteLibrary };
      const proxy = await lib.plumbline.registerRpcProxy(given);
      Object.assign(globalThis, { proxy });
    },
    { scriptUrl: '/service-worker.js', timeoutMs: 120_000, ...options },
  );
}

export const call = (method: string, params: readonly unknown[] = [], id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** Posts JSON with a plain `fetch` of the page. */
export function post<T = Answer>(
  page: Page,
  url: string,
  body: unknown,
): Promise<{ status: number; classes: string | null; levels: string | null; relayed: string | null; json: T }> {
  return page.evaluate(
    async ([address, text]) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(address, { method: 'POST', headers, body: text });
      const json = JSON.parse((await response.text()) || 'null');
      const { status, headers: got } = response;
      return {
        status,
        classes: got.get('plumbline-answers'),
        levels: got.get('plumbline-levels'),
        relayed: got.get('plumbline-relayed'),
        json,
      };
    },
    [url, JSON.stringify(body)] as const,
  );
}

/**
 * Updates the page's worker to a new version of its script, and waits until that one controls the page. The browser looks for new versions by
 * itself, too, so the page listens before there is one.
 */
export async function update(
  page: Page,
  site: { workerSuffix: string },
  suffix: string,
): Promise<{ before: string | undefined; isNew: boolean; controls: boolean }> {
  const listening = await page.evaluateHandle(async () => {
    const registration = await navigator.serviceWorker.ready;
    const changed = new Promise<void>((resolve) => {
      navigator.serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
    });
    return { registration, before: registration.active, changed };
  });
  site.workerSuffix = suffix;
  return listening.evaluate(async ({ registration, before, changed }) => {
    let isChanged = false;
    changed.then(() => {
      isChanged = true;
    });
    // The browser may be looking for itself, at the script from before: then an update ends with what that found.
    while (!isChanged) {
      await registration.update();
      await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, 500))]);
    }
    const { active } = registration;
    return {
      before: before?.state,
      isNew: active !== before,
      controls: navigator.serviceWorker.controller === active,
    };
  });
}
