import { signal } from '@preact/signals';
import { type RpcProxy, registerRpcProxy } from 'plumbline-l2';

/** How far the page is kept for use without a network. */
export type Offline = 'unknown' | 'unsupported' | 'keeping' | 'kept' | 'failed';

export const offline = signal<Offline>('unknown');
/** Whether plumbline's service worker answers `POST /rpc` of this page. */
export const proxied = signal(false);

const SCRIPT = './sw.js';
/** Asks the page's service worker to carry plumbline's as well: one page has one service worker. */
const PROXY_SCRIPT = './sw.js?rpc';

/** Of this page, while it is on. */
let proxy: RpcProxy | undefined;
let keeping: Promise<void> | undefined;

/** Keeps the built page in this browser. Development serves the page without a service worker. */
export function keepForOffline(): Promise<void> {
  keeping ??= keep();
  return keeping;
}

async function keep(): Promise<void> {
  try {
    // Throws in a frame without an origin.
    const { serviceWorker } = navigator;
    if (serviceWorker === undefined || !import.meta.env.PROD) {
      offline.value = 'unsupported';
      return;
    }
    offline.value = 'keeping';
    const present = await serviceWorker.getRegistration();
    const script = present?.active?.scriptURL ?? SCRIPT;
    if (new URL(script, location.href).searchParams.has('rpc')) await takeProxy();
    else await serviceWorker.register(SCRIPT);
    await serviceWorker.ready;
    await controlled();
    offline.value = 'kept';
  } catch {
    offline.value = 'failed';
  }
}

/** Resolves when a service worker controls this page: the first one takes over the page that registered it. */
function controlled(): Promise<void> {
  const { serviceWorker } = navigator;
  if (serviceWorker.controller !== null) return Promise.resolve();
  return new Promise((resolve) => {
    serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
  });
}

/** Lets the service worker answer `POST /rpc` of this page with a devnet of its own. */
export async function startProxy(): Promise<void> {
  // One after the other: registering waits for a change of the worker that controls the page, and has to see its own.
  await keepForOffline();
  await takeProxy();
}

async function takeProxy(): Promise<void> {
  proxy = await registerRpcProxy({ scriptUrl: PROXY_SCRIPT });
  proxied.value = true;
}

/** Takes the proxy out again; the page stays kept. */
export async function stopProxy(): Promise<void> {
  await proxy?.stop({ keepRegistration: true });
  proxy = undefined;
  proxied.value = false;
  await navigator.serviceWorker.register(SCRIPT);
}
