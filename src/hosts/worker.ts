/** The node in a module Worker: comlink around an in-process node, nothing else. */
import { expose } from 'comlink';
import { PlumblineError } from '../errors.js';
import { openInline } from './open-inline.js';
import { installErrorTransfer } from './transfer.js';
import type { NodeTransport } from './transport.js';
import type { WorkerApi, WorkerGreeting } from './worker-api.js';

installErrorTransfer();

let node: NodeTransport | undefined;
const running = new Map<number, AbortController>();

const api: WorkerApi = {
  async open(options, onProgress) {
    node = await openInline(options, { onProgress });
    return node.info;
  },
  async dispatch(layer, payload, call) {
    if (node === undefined) throw new PlumblineError('NODE_CLOSED', 'the node is not open', {});
    const controller = new AbortController();
    running.set(call, controller);
    try {
      return await node.dispatch(layer, payload, controller.signal);
    } finally {
      running.delete(call);
    }
  },
  abort(call) {
    running.get(call)?.abort();
  },
  async close() {
    for (const controller of running.values()) controller.abort();
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
const greeting: WorkerGreeting = { plumblineWorker: 'ready', lock: await holdLock() };
postMessage(greeting);
