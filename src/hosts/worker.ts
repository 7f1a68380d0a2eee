/** The node in a module Worker: comlink around an in-process node, nothing else. */
import { expose } from 'comlink';
import { PlumblineError } from '../errors.js';
import type { InlineExtras } from './inline-extras.js';
import { loadInline, openInline } from './open-inline.js';
import type { NodeOptions, OpenProgress } from './options.js';
import { SwitchedActivity } from './page-activity.js';
import { installErrorTransfer, serialize } from './transfer.js';
import type { NodeSession, NodeTransport } from './transport.js';
import type { WorkerApi, WorkerFailure, WorkerGreeting, WorkerMessage, WorkerStoreStatus } from './worker-api.js';

installErrorTransfer();

let node: NodeTransport | undefined;
/** What the page says; a worker cannot see whether it is visible. */
const activity = new SwitchedActivity();
const running = new Map<number, AbortController>();
const sessions = new Map<number, NodeSession>();

function sessionOf(open: NodeTransport, id: number): NodeSession {
  let session = sessions.get(id);
  if (session === undefined) {
    session = open.openSession((message) => postMessage({ plumblineSession: id, message } satisfies WorkerMessage));
    sessions.set(id, session);
  }
  return session;
}

/** A node that is stored shares the store with other tabs. */
async function openNode(options: NodeOptions, extras: InlineExtras): Promise<NodeTransport> {
  if (options.storeName === undefined) return openInline(options, extras);
  const { openShared } = await import('./sharing/open-shared.js');
  return openShared(options, extras, { open: openInline, load: loadInline });
}

const api: WorkerApi = {
  async open(options, onProgress) {
    // The listener is reached over a channel of its own: waiting for the last report keeps it before the answer. What the
    // listener throws is its own.
    let reported: Promise<unknown> = Promise.resolve();
    const report = (progress: OpenProgress) => {
      reported = Promise.resolve(onProgress?.(progress)).catch(() => {});
    };
    node = await openNode(options, { onProgress: report, activity });
    node.onFailure((error) => postMessage({ plumblineFailure: serialize(error) } satisfies WorkerFailure));
    const tell = () => postMessage({ plumblineStore: node?.storeStatus } satisfies WorkerStoreStatus);
    node.onStoreStatus?.(tell);
    tell();
    await reported;
    return node.info;
  },
  async dispatch(layer, payload, call, session) {
    if (node === undefined) throw new PlumblineError('NODE_CLOSED', 'the node is not open', {});
    const controller = new AbortController();
    running.set(call, controller);
    try {
      if (session === undefined) return await node.dispatch(layer, payload, controller.signal);
      return await sessionOf(node, session).dispatch(payload, controller.signal);
    } finally {
      running.delete(call);
    }
  },
  abort(call) {
    running.get(call)?.abort();
  },
  setActive(isActive) {
    activity.set(isActive);
  },
  closeSession(session) {
    sessions.get(session)?.close();
    sessions.delete(session);
  },
  async close() {
    for (const controller of running.values()) controller.abort();
    sessions.clear();
    await node?.close();
    node = undefined;
  },
};

/** Takes a lock that only the end of this worker releases. */
function holdLock(): Promise<string | undefined> {
  if (navigator.locks === undefined) return Promise.resolve(undefined);
  const name = `plumbline-worker-${crypto.randomUUID()}`;
  return new Promise((resolve) => {
    const forEver = new Promise<never>(() => {});
    navigator.locks
      .request(name, () => {
        resolve(name);
        return forEver;
      })
      .catch(() => resolve(undefined));
  });
}

expose(api);
// No top-level await: bundlers that make classic scripts of workers cannot keep one.
void holdLock().then((lock) => postMessage({ plumblineWorker: 'ready', lock } satisfies WorkerGreeting));
