/** What runs in the pages of the tabs test: a stored devnet in a worker that can be killed. Bundled by `tabs-site.ts`. */
import type { AnswerReport, UntypedMethod } from '../../dist/index.js';
import { createNode, type NodeOptions, type PlumblineNode } from '../../dist/index.js';

/** A completed transaction of a watched worker. */
export interface Write {
  readonly puts: number;
  /** Numbers of the blocks it put. */
  readonly blocks: readonly number[];
  /** It stored a writer record. */
  readonly isClaim: boolean;
  /** The writer record that it read: null for none, undefined if it did not read it. */
  readonly writer?: { readonly epoch: number; readonly owner: string } | null;
}

const writes: Write[] = [];
let worker: Worker | undefined;
let node: PlumblineNode | undefined;
const heads: string[] = [];
const reports: AnswerReport[] = [];
/** Answers that another page was given in the writer's name. */
let imitated = 0;
const ended: string[] = [];

const page = {
  /**
   * Starts a node in a worker.
   *
   * @param script - `worker`, `worker-watched`, `worker-without-locks`, or `worker-that-hangs` (after `hang`)
   * @returns the code of the error when it does not open
   */
  async open(options: NodeOptions, script = 'worker'): Promise<string> {
    worker = new Worker(script === 'worker' ? '/dist/hosts/worker/worker.js' : `/${script}.js`, { type: 'module' });
    try {
      node = await createNode({ ...options, worker });
    } catch (error) {
      return String((error as { code?: unknown }).code);
    }
    node.on('disconnect', (error) => ended.push(error.message));
    node.on('answer', (report) => reports.push(report));
    node.on('message', ({ data }) => heads.push((data.result as { number: string }).number));
    return 'open';
  },

  ask(method: string, params: unknown[] = []): Promise<unknown> {
    return node!.request<UntypedMethod>({ method, params });
  },

  /** What the event `answer` has said since the last call. */
  async reports(): Promise<AnswerReport[]> {
    return reports.splice(0);
  },

  /**
   * Imitates the writer of a store from now on: hears all messages between its nodes, and answers each call before the writer
   * does, in its name, with a lie that it calls proved; every other time without a report.
   */
  async imitate(storeName: string, lie: unknown): Promise<void> {
    const name = `plumbline-writer-${storeName}`;
    const heard = new Set<string>();
    const listen = (id: string) => {
      if (heard.has(id)) return;
      heard.add(id);
      new BroadcastChannel(`${name}:${id}`).onmessage = ({ data }) => {
        listen(data.from);
        if (data.kind !== 'call') return;
        const { method, id: asked } = data.payload;
        const body = { jsonrpc: '2.0', id: asked, result: lie };
        const told = imitated++ % 2 === 0 && [{ method, class: 'proved', level: 'settled', blocks: [] }];
        const reply = { body, ...(told !== false && { reports: told }) };
        new BroadcastChannel(`${name}:${data.from}`).postMessage({
          ...{ from: id, epoch: data.epoch, kind: 'reply', call: data.call, reply },
        });
      };
    };
    const common = new BroadcastChannel(name);
    common.onmessage = ({ data }) => listen(data.from);
    common.postMessage({ from: 'imitator', kind: 'seek', version: 0, fingerprint: {}, rank: 'page', isActive: true });
  },

  async imitated(): Promise<number> {
    return imitated;
  },

  /**
   * Sends requests, all at once. Calls `acknowledged`, if it is set, with the hash of each accepted transaction.
   *
   * @returns result or error of each request
   */
  async askAll(requests: readonly { method: string; params?: unknown[] }[]): Promise<readonly unknown[]> {
    const asked = requests.map(async (request) => {
      const result = await node!.request<UntypedMethod>(request);
      if (request.method === 'eth_sendRawTransaction') globalThis.acknowledged?.(result as string);
      return result;
    });
    const settled = await Promise.allSettled(asked);
    return settled.map((one) => (one.status === 'fulfilled' ? one.value : { error: String(one.reason) }));
  },

  /** How long an answer takes, ms. */
  async timed(method: string): Promise<number> {
    const start = performance.now();
    await node!.request<UntypedMethod>({ method });
    return performance.now() - start;
  },

  sharing: () => node!.sharing(),
  clear: () => node!.clear(),
  heads: () => heads,
  ended: () => ended,
  close: () => node!.close(),
  /** Keeps the worker's thread busy. */
  hang: (ms: number) => worker!.postMessage({ hangMs: ms }),
  /** Ends the worker at once, as a crash does. */
  kill: () => worker!.terminate(),

  /** Begins to record the transactions of watched workers of all pages. */
  watch: () => {
    new BroadcastChannel('writes').onmessage = ({ data }) => void writes.push(data as Write);
  },
  writes: () => writes,

  /** The writer record in the store. */
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
  /** Set by the test that opened the page. */
  var acknowledged: ((hash: string) => void) | undefined;
}
globalThis.tabs = page;
