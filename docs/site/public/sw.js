/**
 * Keeps what was read of the site, so that it opens again without a network. The network comes first: what is kept is only shown
 * where there is none. The demo page has a service worker of its own.
 */
const CACHE = 'plumbline-site';
/** Then the oldest is removed: files of earlier versions have other names. */
const MOST_FILES = 600;

const demo = new URL('./demo/', self.location.href).href;

async function keep(request, response) {
  const cache = await caches.open(CACHE);
  await cache.put(request, response);
  const kept = await cache.keys();
  await Promise.all(kept.slice(0, Math.max(0, kept.length - MOST_FILES)).map((old) => cache.delete(old)));
}

async function answer(event) {
  const { request } = event;
  try {
    const response = await fetch(request);
    // A store that is full or refused takes nothing away from the page.
    if (response.ok) event.waitUntil(keep(request, response.clone()).catch(() => {}));
    return response;
  } catch (error) {
    const kept = await caches.match(request, { cacheName: CACHE, ignoreSearch: true });
    if (kept === undefined) throw error;
    return kept;
  }
}

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { method, url } = event.request;
  const isOurs = url.startsWith(new URL('./', self.location.href).href) && !url.startsWith(demo);
  if (method === 'GET' && isOurs) event.respondWith(answer(event));
});
