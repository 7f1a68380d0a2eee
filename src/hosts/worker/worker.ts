/**
 * Entry point `plumbline-l2/worker`: the node in a module Worker, or in a SharedWorker, where all connected pages use one node.
 */

import { webLocks } from '../../store/browser-storage.js';
import { openNode } from '../opening/open-inline.js';
import { installErrorTransfer } from './worker-api.js';
import { CommonNode, servePort, type WorkerPort } from './worker-port.js';

installErrorTransfer();

/** Takes a lock that is released only when this worker ends. */
function holdLock(): Promise<string | undefined> {
  const locks = webLocks();
  if (locks === undefined) return Promise.resolve(undefined);
  const name = `plumbline-worker-${crypto.randomUUID()}`;
  return new Promise((resolve) => {
    const never = new Promise<never>(() => {});
    locks
      .request(name, () => {
        resolve(name);
        return never;
      })
      .catch(() => resolve(undefined));
  });
}

const common = new CommonNode(openNode);
const lock = holdLock();
if ('onconnect' in globalThis) {
  globalThis.addEventListener('connect', (event) => {
    for (const port of (event as MessageEvent).ports) servePort(port, common, lock);
  });
} else {
  servePort(globalThis as unknown as WorkerPort, common, lock);
}
