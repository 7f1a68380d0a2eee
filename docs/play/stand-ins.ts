import { linea } from 'plumbline-l2/fees';
import { createInlineNode } from 'plumbline-l2/inline';
import { openSmallNetwork } from './small-network.js';

type Handler = (request: Request) => Promise<Response>;

const network = globalThis.fetch.bind(globalThis);

/** What answers at an address that only this page has, by origin. */
const served = new Map<string, Handler>();

/** Opens with the first request. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opening: Promise<T> | undefined;
  return () => {
    opening ??= open();
    return opening;
  };
}

/** A devnet with the profile of Linea: what the documents call `https://first.example` and so on asks it. */
const chain = once(() =>
  createInlineNode({ chain: { kind: 'devnet', network: linea }, dictionary: { kind: 'general' } }),
);
const small = once(openSmallNetwork);

const layerTwo: Handler = async (request) => (await chain()).handle(request);
const layerOne: Handler = async (request) => (await chain()).handleL1(request);

const STAND_INS: Readonly<Record<string, Handler>> = {
  'first.example': layerTwo,
  'second.example': layerTwo,
  'layer-one.example': layerOne,
  'beacon.example': layerOne,
  'second-beacon.example': layerOne,
  'small-network.example': async (request) => (await small()).node.handle(request),
  'small-layer-one.example': async (request) => (await small()).node.handleL1(request),
  'trie-logs.example': async (request) => (await small()).answerTrieLogs(request),
};

/** Gives a handler an address. @returns its port, which is in no use otherwise */
export function serveInPage(handler: Handler): number {
  const port = 1 + served.size;
  served.set(`http://127.0.0.1:${port}`, handler);
  return port;
}

/** `fetch` for snippets: endpoints of the documents and what the snippet serves are answered in this page. */
export const standInFetch: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const { origin, hostname } = new URL(request.url);
  const handler = served.get(origin) ?? STAND_INS[hostname];
  return handler === undefined ? network(request) : handler(request);
};

const STORE_PREFIX = 'playground-';

interface Options {
  readonly chain?: { readonly endpoints?: readonly unknown[] } | object | undefined;
  readonly chains?: readonly object[] | undefined;
  readonly dictionary?: unknown;
  readonly storeName?: string | undefined;
}

/**
 * Options of a node as the page opens it: endpoints of the documents are answered here, by a network without a dictionary of its
 * own, and its store is not one of the demo page.
 */
export function inPage<T extends Options>(options: T): T {
  const { chain = {}, chains = [chain], dictionary = { kind: 'general' }, storeName } = options;
  const endpoints = JSON.stringify(chains.map((one) => ('endpoints' in one ? one.endpoints : [])));
  return {
    ...options,
    ...(endpoints.includes('.example') && { fetch: standInFetch, dictionary }),
    ...(storeName !== undefined && { storeName: STORE_PREFIX + storeName }),
  };
}

/** Removes what an earlier run stored, so that each prints the same. */
export async function forgetEarlierRuns(): Promise<void> {
  const scope = new URL('./', location.href).href;
  for (const registration of await navigator.serviceWorker.getRegistrations()) {
    if (registration.scope === scope) await registration.unregister();
  }
  const names = (await indexedDB.databases()).flatMap(({ name }) => (name?.includes(STORE_PREFIX) ? [name] : []));
  await Promise.all(names.map(removeDatabase));
}

function removeDatabase(name: string): Promise<void> {
  return new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    // Another tab that has it open keeps it.
    for (const event of ['success', 'error', 'blocked']) request.addEventListener(event, () => resolve());
  });
}
