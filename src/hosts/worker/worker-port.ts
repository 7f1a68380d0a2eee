import { type Endpoint, expose } from 'comlink';
import { PlumblineError } from '../../errors.js';
import { CombinedActivity, NEVER_ACTIVE } from '../../scheduling/activity.js';
import { type InlineExtras, type NodeOptions, type OpenProgress, textOf } from '../options/options.js';
import { type NodeTransport, nodeClosed, RemoteCalls } from '../provider/transport.js';
import {
  serialize,
  type WorkerApi,
  type WorkerFailure,
  type WorkerGreeting,
  type WorkerMessage,
  type WorkerStoreStatus,
} from './worker-api.js';

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
  /** What listens for this page. */
  const listening: (() => void)[] = [];

  async function leave(): Promise<void> {
    calls.close();
    node = undefined;
    for (const end of listening.splice(0)) end();
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
      listening.push(
        opened.onFailure((error) => port.postMessage({ plumblineFailure: serialize(error) } satisfies WorkerFailure)),
      );
      const postStatus = () => port.postMessage({ plumblineStore: opened.storeStatus } satisfies WorkerStoreStatus);
      listening.push(opened.onStoreStatus?.(postStatus) ?? (() => {}));
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

interface Current {
  readonly options: NodeOptions;
  readonly node: Promise<NodeTransport>;
  /** The pages that use it. */
  readonly users: Set<symbol>;
}

/** The one node of a worker, for all connected pages. The first page opens it; it is closed when the last page leaves. */
export class CommonNode {
  private readonly activity = new CombinedActivity(NEVER_ACTIVE);
  private current: Current | undefined;

  constructor(private readonly openNode: (options: NodeOptions, extras: InlineExtras) => Promise<NodeTransport>) {}

  /**
   * @param user - stands for the page
   * @param extras - used only if this page is the one that opens the node
   * @throws PlumblineError `WORKER_FAILED` when the worker's node has other options; the errors of opening the node
   */
  async join(user: symbol, options: NodeOptions, extras: InlineExtras): Promise<NodeTransport> {
    if (this.current !== undefined && textOf(this.current.options) !== textOf(options)) {
      const reason = 'it runs a node with other options; give the same options, or start another worker';
      throw new PlumblineError('WORKER_FAILED', `the worker cannot open this node: ${reason}`, { reason });
    }
    this.setActive(user, true);
    this.current ??= this.opening(options, extras);
    const { current } = this;
    current.users.add(user);
    try {
      return await current.node;
    } catch (error) {
      this.setActive(user, false);
      throw error;
    }
  }

  private opening(options: NodeOptions, extras: InlineExtras): Current {
    const forget = () => {
      if (this.current === current) this.current = undefined;
    };
    const opened = this.openNode(options, { ...extras, activity: this.activity });
    const current: Current = { options, node: opened, users: new Set() };
    opened.then((node) => node.onFailure(forget), forget);
    return current;
  }

  /** Sets whether a page needs a node that stays up to date. */
  setActive(user: symbol, isActive: boolean): void {
    this.activity.set(user, isActive);
  }

  async leave(user: symbol): Promise<void> {
    this.setActive(user, false);
    const { current } = this;
    if (current === undefined || !current.users.delete(user) || current.users.size > 0) return;
    this.current = undefined;
    await (await current.node.catch(() => undefined))?.close();
  }
}
