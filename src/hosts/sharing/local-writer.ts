import type { Reply } from '../../rpc/protocol/envelope.js';
import { RemoteCalls } from '../provider/remote-calls.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from '../provider/transport.js';
import type { MessageBody, MessageToFollower, MessageToWriter } from './peer-channels.js';
import { changesState } from './retry.js';
import { type Writer, WriterGone } from './writer.js';

/** How long an orderly end waits for requests that may change state, ms. */
const DRAIN_MS = 10_000;

/** The requests of one follower. */
interface FollowerCalls {
  /** Number of the last call that was read. */
  last: number;
  readonly calls: RemoteCalls;
}

/** The writer's node in this thread. It serves its own page and the followers. After its end, none of its answers are used. */
export class LocalWriter implements Writer {
  private readonly running = new Set<{ readonly changesState: boolean; readonly end: () => void }>();
  private readonly followers = new Map<string, FollowerCalls>();
  private isLeaving = false;
  private onDrained: () => void = () => {};

  /** @param send - sends to a follower */
  constructor(
    readonly epoch: number,
    private readonly node: NodeTransport,
    private readonly send: (to: string, message: MessageBody<MessageToFollower>) => void,
  ) {}

  get store() {
    return this.node;
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal, connection?: object): Promise<Reply> {
    return this.run(layer, payload, () => this.node.dispatch(layer, payload, signal, connection));
  }

  openSession(listener: SessionListener, connection?: object): NodeSession {
    const session = this.node.openSession(listener, connection);
    return {
      dispatch: (payload, signal) => this.run('l2', payload, () => session.dispatch(payload, signal)),
      close: () => session.close(),
    };
  }

  /** Handles a message from a follower. */
  receive(message: MessageToWriter): void {
    const { from } = message;
    if (message.kind === 'call') void this.answer(message);
    else if (message.kind === 'abort') this.followers.get(from)?.calls.abort(message.call);
    else if (message.kind === 'end-session') this.followers.get(from)?.calls.closeSession(message.session);
    else this.send(from, { kind: 'pong' });
  }

  /** Aborts the calls and closes the sessions of a follower that has ended. */
  removeFollower(id: string): void {
    this.followers.get(id)?.calls.close();
    this.followers.delete(id);
  }

  /** Accepts no more requests, and waits for those that may change state. Reads can be retried with the next writer. */
  async drain(): Promise<void> {
    this.isLeaving = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.onDrained = resolve;
      timer = setTimeout(resolve, DRAIN_MS);
      this.checkDrained();
    });
    clearTimeout(timer);
    // The last answers are sent first.
    await new Promise((resolve) => setTimeout(resolve));
  }

  /** Tells all followers that no reply will come. The caller closes the node. */
  end(followers: Iterable<string>): void {
    this.isLeaving = true;
    for (const { end } of this.running) end();
    for (const id of new Set([...followers, ...this.followers.keys()])) {
      this.send(id, { kind: 'over', last: this.followers.get(id)?.last ?? 0 });
      this.removeFollower(id);
    }
  }

  private async answer(message: MessageToWriter & { kind: 'call' }): Promise<void> {
    const { from, call } = message;
    const follower = this.followers.get(from) ?? {
      last: 0,
      calls: new RemoteCalls((session, event) => this.send(from, { kind: 'message', session, message: event })),
    };
    this.followers.set(from, follower);
    follower.last = call;
    try {
      this.send(from, { kind: 'reply', call, reply: await follower.calls.dispatch(this, call, message) });
    } catch (error) {
      this.send(from, { kind: 'gone', call, begun: !(error instanceof WriterGone) || error.begun });
    }
  }

  private run(layer: Layer, payload: unknown, work: () => Promise<Reply>): Promise<Reply> {
    if (this.isLeaving) return Promise.reject(new WriterGone(false));
    return new Promise((resolve, reject) => {
      const running = { changesState: changesState(layer, payload), end: () => reject(new WriterGone(true)) };
      this.running.add(running);
      work()
        .then(resolve, reject)
        .finally(() => {
          this.running.delete(running);
          this.checkDrained();
        });
    });
  }

  private checkDrained(): void {
    if (![...this.running].some((running) => running.changesState)) this.onDrained();
  }
}
