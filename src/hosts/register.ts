import { PlumblineError } from '../errors.js';

export interface RpcProxyOptions {
  /** URL of the built `plumbline/service-worker` script, on the page's origin. */
  readonly scriptUrl: string | URL;
  /** Path it answers. Default `/rpc`. */
  readonly path?: string;
  /** Database it keeps its chain in. */
  readonly storeName?: string;
  readonly scope?: string;
}

/**
 * Registers the service worker and resolves when it controls this page: from then on `fetch` of its path is answered by
 * it.
 *
 * @throws PlumblineError `WORKER_FAILED` where there are no service workers
 */
export async function registerRpcProxy(options: RpcProxyOptions): Promise<ServiceWorkerRegistration> {
  const { serviceWorker } = navigator;
  if (serviceWorker === undefined) {
    const reason = 'this page cannot have service workers; they need https or localhost';
    throw new PlumblineError('WORKER_FAILED', reason, { reason });
  }
  const url = new URL(options.scriptUrl, location.href);
  if (options.path !== undefined) url.searchParams.set('path', options.path);
  if (options.storeName !== undefined) url.searchParams.set('store', options.storeName);
  const controlled = new Promise<void>((resolve) => {
    if (serviceWorker.controller?.scriptURL === url.href) resolve();
    else serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
  });
  const registration = await serviceWorker.register(url, options.scope === undefined ? {} : { scope: options.scope });
  await controlled;
  return registration;
}
