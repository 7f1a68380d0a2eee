/// <reference lib="webworker" />
/**
 * The page's own service worker: keeps the built page, so that it opens without a network. With `?rpc` in its address it
 * imports plumbline's service worker as well, which then answers `POST /rpc`; only one of them can control a page.
 */
declare const self: ServiceWorkerGlobalScope;

/** Both are written in by the build. */
const VERSION = '__VERSION__' as string;
const FILES = '__FILES__' as unknown as readonly string[];

const PREFIX = 'plumbline-demo-';
const CACHE = PREFIX + VERSION;
const urls = new Set(FILES.map((file) => new URL(file, self.location.href).href));
const page = new URL('./', self.location.href).href;

if (new URL(self.location.href).searchParams.has('rpc')) self.importScripts('./service-worker.js');

async function keep(): Promise<void> {
  const cache = await caches.open(CACHE);
  // With plumbline's service worker on or off it is installed anew, and keeps the same.
  if ((await cache.keys()).length < FILES.length) await fill(cache);
  await self.skipWaiting();
}

async function fill(cache: Cache): Promise<void> {
  // Not out of the HTTP cache: the page itself has no hash in its name.
  await cache.addAll(FILES.map((file) => new Request(file, { cache: 'reload' })));
}

async function tidy(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)),
  );
  await self.clients.claim();
}

/** How long the network may take to give the page before the kept one is shown, ms. */
const PATIENCE_MS = 4_000;

/** The page from the network, and as it was kept where there is none. */
async function navigate(request: Request): Promise<Response> {
  try {
    return await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    const kept = await caches.match(page, { cacheName: CACHE });
    if (kept === undefined) throw error;
    return kept;
  }
}

async function asset(request: Request): Promise<Response> {
  return (await caches.match(request, { cacheName: CACHE })) ?? fetch(request);
}

self.addEventListener('install', (event) => event.waitUntil(keep()));
self.addEventListener('activate', (event) => event.waitUntil(tidy()));
self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  const url = new URL(request.url);
  url.hash = '';
  if (request.mode === 'navigate' && url.href.split('?')[0] === page) event.respondWith(navigate(request));
  else if (urls.has(url.href)) event.respondWith(asset(request));
});

export {};
