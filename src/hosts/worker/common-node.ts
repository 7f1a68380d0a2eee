import { PlumblineError } from '../../errors.js';
import { CombinedActivity, NEVER_ACTIVE } from '../../scheduling/activity.js';
import type { InlineExtras } from '../options/options.js';
import { type NodeOptions, textOf } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';

/** The one node of a worker, for all connected pages. The first page opens it; it is closed when the last page leaves. */
export class CommonNode {
  private readonly activity = new CombinedActivity(NEVER_ACTIVE);
  private current: { options: NodeOptions; node: Promise<NodeTransport>; users: Set<symbol> } | undefined;

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
    this.current ??= {
      options,
      node: this.openNode(options, { ...extras, activity: this.activity }),
      users: new Set(),
    };
    const { current } = this;
    const forget = () => {
      if (this.current === current) this.current = undefined;
    };
    current.users.add(user);
    try {
      const node = await current.node;
      node.onFailure(forget);
      return node;
    } catch (error) {
      forget();
      this.setActive(user, false);
      throw error;
    }
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
