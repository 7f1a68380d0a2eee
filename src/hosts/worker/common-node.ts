import { PlumblineError } from '../../errors.js';
import { NEVER_ACTIVE } from '../../scheduling/activity.js';
import type { InlineExtras } from '../options/inline-extras.js';
import { type NodeOptions, type OpenProgress, textOf } from '../options/options.js';
import type { NodeTransport } from '../provider/transport.js';
import { JointActivity } from '../sharing/joint-activity.js';

/** The node of a worker, for all who are connected to it: the first opens it, the last to leave closes it. */
export class CommonNode {
  private readonly activity = new JointActivity(NEVER_ACTIVE);
  private current: { options: NodeOptions; node: Promise<NodeTransport>; users: Set<string> } | undefined;

  constructor(private readonly openNode: (options: NodeOptions, extras: InlineExtras) => Promise<NodeTransport>) {}

  /**
   * @param user - a name of its own
   * @param onProgress - told only if this user is the one who opens it
   * @throws PlumblineError `WORKER_FAILED` where the node runs with other options; what opening throws
   */
  async join(user: string, options: NodeOptions, onProgress: (progress: OpenProgress) => void): Promise<NodeTransport> {
    if (this.current !== undefined && textOf(this.current.options) !== textOf(options)) {
      const reason = 'it runs a node with other options';
      throw new PlumblineError('WORKER_FAILED', `the worker: ${reason}`, { reason });
    }
    this.setActive(user, true);
    this.current ??= {
      options,
      node: this.openNode(options, { onProgress, activity: this.activity }),
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

  /** Whether a user is there to be kept up to date. */
  setActive(user: string, isActive: boolean): void {
    this.activity.set(user, isActive);
  }

  async leave(user: string): Promise<void> {
    this.setActive(user, false);
    const { current } = this;
    if (current === undefined || !current.users.delete(user) || current.users.size > 0) return;
    this.current = undefined;
    await (await current.node.catch(() => undefined))?.close();
  }
}
