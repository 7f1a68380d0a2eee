/**
 * Door `plumbline/worker`: the node in a module Worker, or in a SharedWorker, where it is one for all the pages that are
 * connected.
 */
import { CommonNode } from './common-node.js';
import type { InlineExtras } from './inline-extras.js';
import { loadInline, openInline } from './open-inline.js';
import type { NodeOptions } from './options.js';
import { installErrorTransfer } from './transfer.js';
import type { NodeTransport } from './transport.js';
import { servePort, type WorkerPort } from './worker-port.js';

installErrorTransfer();

/** A node that is stored shares the store with other tabs. */
async function openNode(options: NodeOptions, extras: InlineExtras): Promise<NodeTransport> {
  if (options.storeName === undefined) return openInline(options, extras);
  const { openShared } = await import('./sharing/open-shared.js');
  return openShared(options, extras, { open: openInline, load: loadInline });
}

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

const common = new CommonNode(openNode);
const lock = holdLock();
if ('onconnect' in globalThis) {
  globalThis.addEventListener('connect', (event) => {
    for (const port of (event as MessageEvent).ports) servePort(port, common, lock);
  });
} else {
  servePort(globalThis as unknown as WorkerPort, common, lock);
}
