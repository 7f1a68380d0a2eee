import { type NodeTransport, nodeClosed } from '../provider/transport.js';

/** A node that the first request opens. If opening fails, or the node ends, the next request opens it again. */
export class LazyNode {
  private opened: Promise<NodeTransport> | undefined;
  private closed = false;
  private readonly busy = new Set<Promise<unknown>>();

  constructor(private readonly open: () => Promise<NodeTransport>) {}

  /** @throws PlumblineError `NODE_CLOSED`; the errors of opening and of `work` */
  use<T>(work: (node: NodeTransport) => T | Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(nodeClosed());
    const used = this.node().then(work);
    this.busy.add(used);
    const done = () => this.busy.delete(used);
    used.then(done, done);
    return used;
  }

  /** Closes the node when all `use` calls under way have ended. */
  async close(): Promise<void> {
    this.closed = true;
    while (this.busy.size > 0) await Promise.allSettled([...this.busy]);
    const node = await this.opened?.catch(() => undefined);
    this.opened = undefined;
    await node?.close();
  }

  private node(): Promise<NodeTransport> {
    if (this.opened !== undefined) return this.opened;
    const opening = this.open().then((node) => {
      node.onFailure(forget);
      return node;
    });
    const forget = () => {
      if (this.opened === opening) this.opened = undefined;
    };
    opening.catch(forget);
    this.opened = opening;
    return opening;
  }
}
