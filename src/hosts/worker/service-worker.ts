/// <reference lib="webworker" />
/**
 * Entry point `plumbline-l2/service-worker`: answers the RPC requests of the pages it controls with a node of its own, as
 * `registerRpcProxy` has told it. A classic script, which may also be taken into another service worker with `importScripts`.
 * It is ended and started at will: whatever it has to know is in IndexedDB, or with the pages.
 */
import { openInline } from '../opening/open-inline.js';
import { CHAIN_PARAMETER, type ProxyConfig } from '../proxy/config.js';
import {
  isPageMessage,
  type MessageReply,
  type PageMessage,
  thrownReply,
  type WorkerQuestion,
} from '../proxy/messages.js';
import { ProxyHost } from '../proxy/proxy-host.js';
import { keepConfig, keptConfig } from '../proxy/stored-config.js';
import { openShared } from '../sharing/open-shared.js';

declare const self: ServiceWorkerGlobalScope;

const { scope } = self.registration;

const proxy = new ProxyHost({
  // A page may keep a node on the same store: it has precedence, because the browser ends this worker at will.
  openNode: (options) => openShared(options, {}, { open: openInline, rank: 'background' }),
  kept: () => keptConfig(scope),
  keep: (config) => keepConfig(scope, config),
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
  // A page that was loaded past the worker is not controlled until it is claimed.
  return self.clients.claim();
}

/**
 * Loads what the kinds of chain need. Only what a service worker has loaded by the end of its installation can be loaded
 * later. The kind stands in the script's address; without one, all are loaded.
 */
async function install(): Promise<void> {
  const kind = new URL(self.location.href).searchParams.get(CHAIN_PARAMETER);
  if (kind !== 'devnet') await import('../opening/open-light.js');
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
