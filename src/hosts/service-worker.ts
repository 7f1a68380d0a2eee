/// <reference lib="webworker" />
/**
 * A service worker that answers `POST /rpc` with a node of its own. Parameters stand in its URL:
 * `?path=/rpc` for another path, `?store=NAME` for another database. It is stopped and started at will, so the node is
 * opened by the first request after each start, from IndexedDB.
 */
import { messageOf } from '../errors.js';
import { createFetchHandler } from '../rpc/http.js';
import { openDevnetNode } from './open-devnet.js';

declare const self: ServiceWorkerGlobalScope;

type Handler = (request: Request) => Promise<Response>;

const parameters = new URL(self.location.href).searchParams;
const path = parameters.get('path') ?? '/rpc';
const storeName = parameters.get('store') ?? 'plumbline-service-worker';

let handler: Promise<Handler> | undefined;

async function open(): Promise<Handler> {
  const node = await openDevnetNode({ kind: 'devnet' }, { storeName }, {});
  return createFetchHandler((payload, call) => node.dispatch('l2', payload, call?.signal));
}

/** A failed opening is not remembered: the next request tries again. */
function opened(): Promise<Handler> {
  handler ??= open().catch((error: unknown) => {
    handler = undefined;
    throw error;
  });
  return handler;
}

async function answer(request: Request): Promise<Response> {
  try {
    return await (await opened())(request);
  } catch (error) {
    const body = { jsonrpc: '2.0', id: null, error: { code: -32603, message: `Internal error (${messageOf(error)})` } };
    return Response.json(body, { status: 500 });
  }
}

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  const ours = url.origin === self.location.origin && url.pathname === path;
  if (ours && (event.request.method === 'POST' || event.request.method === 'OPTIONS')) {
    event.respondWith(answer(event.request));
  }
});
