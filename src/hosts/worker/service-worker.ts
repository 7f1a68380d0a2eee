/// <reference lib="webworker" />
/**
 * Entry point `plumbline-l2/service-worker`: answers the RPC requests of the pages it controls with its own node, as configured by
 * `registerRpcProxy`. A classic script; another service worker can load it with `importScripts`. The browser stops and
 * starts it at any time, so its configuration is in IndexedDB, and its keys are with the pages.
 */
import { openInline } from '../opening/open-inline.js';
import {
  CHAIN_PARAMETER,
  isPageMessage,
  type MessageReply,
  type PageMessage,
  type ProxyConfig,
  thrownReply,
  type WorkerQuestion,
} from '../proxy/config.js';
import { ProxyHost } from '../proxy/proxy-host.js';
import { loadConfig, storeConfig } from '../proxy/stored-config.js';
import { openShared } from '../sharing/open-shared.js';

declare const self: ServiceWorkerGlobalScope;

const { scope } = self.registration;

const proxy = new ProxyHost({
  // If a page has a node on the same store, that node is the writer, because the browser may stop this worker at any time.
  openNode: (options) => openShared(options, {}, { open: openInline, rank: 'background' }),
  loadConfig: () => loadConfig(scope),
  storeConfig: (config) => storeConfig(scope, config),
  askPages: (accept) => void askPages(accept),
  fetch: (request) => fetch(request),
});

async function askPages(accept: (config: ProxyConfig) => void): Promise<void> {
  const question: WorkerQuestion = { plumblineProxy: 'config?' };
  for (const client of await self.clients.matchAll({ type: 'window', includeUncontrolled: true })) {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<ProxyConfig>) => accept(data);
    client.postMessage(question, [port2]);
  }
}

async function carryOut(message: PageMessage): Promise<unknown> {
  if (message.plumblineProxy === 'open') return proxy.open();
  if (message.plumblineProxy === 'stop') return proxy.stop();
  await proxy.configure(message.config);
  // A page that was loaded without the worker (a forced reload) is not controlled until it is claimed.
  return self.clients.claim();
}

/**
 * Loads the code of the chain kind in the script's URL, or of all kinds. A service worker can only run scripts that it has
 * loaded by the end of its installation.
 */
async function install(): Promise<void> {
  const kind = new URL(self.location.href).searchParams.get(CHAIN_PARAMETER);
  if (kind !== 'devnet') await import('../opening/open-light.js');
  if (kind === null || kind === 'chains') await import('../opening/open-chains.js');
  if (kind === null || kind === 'replica') await import('../opening/open-replica.js');
  if (kind === null || kind === 'devnet') await import('../opening/open-devnet.js');
  await self.skipWaiting();
}

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', (event) => {
  const message: unknown = event.data;
  const port = event.ports[0];
  if (!isPageMessage(message) || port === undefined) return;
  const answered = carryOut(message).then(
    (value): MessageReply => ({ value: message.plumblineProxy === 'open' ? value : undefined }),
    thrownReply,
  );
  event.waitUntil(answered.then((reply) => port.postMessage(reply)));
});
self.addEventListener('fetch', (event) => {
  const response = proxy.respond(event.request);
  if (response !== undefined) event.respondWith(response);
});
