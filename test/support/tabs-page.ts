/** What runs in the pages of the tabs test: a stored devnet in a worker that can be killed. Bundled by `tabs-site.ts`. */
import { createNode, type NodeOptions, type PlumblineNode } from '../../dist/index.js';

let worker: Worker | undefined;
let node: PlumblineNode | undefined;
const heads: string[] = [];
const ended: string[] = [];

const page = {
  /**
   * Starts a node in a worker.
   *
   * @param script - `worker`, `worker-without-locks`, or `worker-that-hangs`, when it is told to
   * @returns the code of the error when it does not open
   */
  async open(options: NodeOptions, script = 'worker'): Promise<string> {
    worker = new Worker(script === 'worker' ? '/dist/hosts/worker.js' : `/${script}.js`, { type: 'module' });
    try {
      node = await createNode({ ...options, worker });
    } catch (error) {
      return String((error as { code?: unknown }).code);
    }
    node.on('disconnect', (error) => ended.push(error.message));
    node.on('message', ({ data }) => heads.push((data.result as { number: string }).number));
    return 'open';
  },

  ask(method: string, params: unknown[] = []): Promise<unknown> {
    return node!.request({ method, params });
  },

  /** @returns result or error of each request, all sent at once */
  async askAll(requests: readonly { method: string; params?: unknown[] }[]): Promise<readonly unknown[]> {
    const settled = await Promise.allSettled(requests.map((request) => node!.request(request)));
    return settled.map((one) => (one.status === 'fulfilled' ? one.value : { error: String(one.reason) }));
  },

  /** How long an answer takes, ms. */
  async timed(method: string): Promise<number> {
    const start = performance.now();
    await node!.request({ method });
    return performance.now() - start;
  },

  sharing: () => node!.sharing(),
  clear: () => node!.clear(),
  heads: () => heads,
  ended: () => ended,
  close: () => node!.close(),
  /** Keeps the worker's thread busy. */
  hang: (ms: number) => worker!.postMessage({ hangMs: ms }),
  /** Ends the worker as a crash does: it does nothing any more. */
  kill: () => worker!.terminate(),

  /** What the store says of who writes. */
  writer(name: string): Promise<{ epoch: number }> {
    return new Promise((resolve, reject) => {
      const opening = indexedDB.open(name);
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const database = opening.result;
        const reading = database.transaction('meta').objectStore('meta').get('writer');
        reading.onsuccess = () => {
          database.close();
          resolve(JSON.parse(new TextDecoder().decode(reading.result as Uint8Array)) as { epoch: number });
        };
      };
    });
  },
};

export type TabsPage = typeof page;

declare global {
  var tabs: TabsPage;
}
globalThis.tabs = page;
