import { type Endpoint, expose } from 'comlink';
import type { OpenProgress } from '../options/options.js';
import { type NodeTransport, nodeClosed, RemoteCalls } from '../provider/transport.js';
import type { CommonNode } from './common-node.js';
import { serialize } from './transfer.js';
import type { WorkerApi, WorkerFailure, WorkerGreeting, WorkerMessage, WorkerStoreStatus } from './worker-api.js';

/** The connection of a worker to one page: the worker's own scope, or a port of a shared worker. */
export type WorkerPort = Endpoint;

/**
 * Serves the node to one page, through comlink.
 *
 * @param lock - name of a lock that the worker holds until it ends
 */
export function servePort(port: WorkerPort, common: CommonNode, lock: Promise<string | undefined>): void {
  const user = Symbol('page');
  const calls = new RemoteCalls((plumblineSession, message) =>
    port.postMessage({ plumblineSession, message } satisfies WorkerMessage),
  );
  let node: NodeTransport | undefined;

  async function leave(): Promise<void> {
    calls.close();
    node = undefined;
    await common.leave(user);
  }

  // No top-level await: bundlers that turn workers into classic scripts cannot keep one.
  const greet = () =>
    void lock.then((name) => port.postMessage({ plumblineWorker: 'ready', lock: name } satisfies WorkerGreeting));

  const api: WorkerApi = {
    greet,
    async open(options, onProgress, pageFetch) {
      // The listener is called over its own channel. Waiting for the last call keeps it before the answer. Errors of the
      // listener are dropped.
      let reported: Promise<unknown> = Promise.resolve();
      const report = (progress: OpenProgress) => {
        reported = Promise.resolve(onProgress?.(progress)).catch(() => {});
      };
      const fetch = pageFetch && (await import('./page-fetch.js')).fetchByPage(pageFetch);
      const opened = await common.join(user, options, { onProgress: report, fetch });
      node = opened;
      opened.onFailure((error) => port.postMessage({ plumblineFailure: serialize(error) } satisfies WorkerFailure));
      const postStatus = () => port.postMessage({ plumblineStore: opened.storeStatus } satisfies WorkerStoreStatus);
      opened.onStoreStatus?.(postStatus);
      postStatus();
      await reported;
      return opened.info;
    },
    async dispatch(request, call) {
      if (node === undefined) throw nodeClosed();
      return calls.dispatch(node, call, request);
    },
    abort: (call) => calls.abort(call),
    setActive: (isActive) => common.setActive(user, isActive),
    closeSession: (session) => calls.closeSession(session),
    close: leave,
  };

  expose(api, port);
  // Some browsers tell a port that its page is gone. In the others the node stays open while the worker has another page.
  port.addEventListener('close', () => void leave());
  greet();
}
