import { type Endpoint, expose } from 'comlink';
import { PlumblineError } from '../../errors.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { OpenProgress } from '../options/options.js';
import type { NodeSession, NodeTransport } from '../provider/transport.js';
import type { CommonNode } from './common-node.js';
import { serialize } from './transfer.js';
import type { WorkerApi, WorkerFailure, WorkerGreeting, WorkerMessage, WorkerStoreStatus } from './worker-api.js';

/** How a worker reaches one page: the worker's own scope, or a port of a shared worker. */
export type WorkerPort = Endpoint;

/**
 * Serves the node to one page, through comlink.
 *
 * @param lock - name of a lock that the worker holds for as long as it lives
 */
export function servePort(port: WorkerPort, common: CommonNode, lock: Promise<string | undefined>): void {
  // `randomUUID` is for secure contexts alone; pages of plain http have workers too.
  const user = bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
  const running = new Map<number, AbortController>();
  const sessions = new Map<number, NodeSession>();
  let node: NodeTransport | undefined;

  function sessionOf(open: NodeTransport, id: number): NodeSession {
    let session = sessions.get(id);
    if (session === undefined) {
      const tell = (message: WorkerMessage['message']) =>
        port.postMessage({ plumblineSession: id, message } satisfies WorkerMessage);
      session = open.openSession(tell);
      sessions.set(id, session);
    }
    return session;
  }

  async function leave(): Promise<void> {
    for (const controller of running.values()) controller.abort();
    for (const session of sessions.values()) session.close();
    sessions.clear();
    node = undefined;
    await common.leave(user);
  }

  const api: WorkerApi = {
    async open(options, onProgress) {
      // The listener is reached over a channel of its own: waiting for the last report keeps it before the answer. What the
      // listener throws is its own.
      let reported: Promise<unknown> = Promise.resolve();
      const report = (progress: OpenProgress) => {
        reported = Promise.resolve(onProgress?.(progress)).catch(() => {});
      };
      const opened = await common.join(user, options, report);
      node = opened;
      opened.onFailure((error) => port.postMessage({ plumblineFailure: serialize(error) } satisfies WorkerFailure));
      const tell = () => port.postMessage({ plumblineStore: opened.storeStatus } satisfies WorkerStoreStatus);
      opened.onStoreStatus?.(tell);
      tell();
      await reported;
      return opened.info;
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
      common.setActive(user, isActive);
    },
    closeSession(session) {
      sessions.get(session)?.close();
      sessions.delete(session);
    },
    close: leave,
  };

  expose(api, port);
  // Where ports tell that the page is gone; elsewhere its node stays open for as long as the worker has another page.
  port.addEventListener('close', () => void leave());
  // No top-level await: bundlers that make classic scripts of workers cannot keep one.
  void lock.then((name) => port.postMessage({ plumblineWorker: 'ready', lock: name } satisfies WorkerGreeting));
}
