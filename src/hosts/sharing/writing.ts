import { PlumblineError } from '../../errors.js';
import type { Reply } from '../../rpc/protocol/envelope.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from '../provider/transport.js';
import { type Backend, WriterGone } from './backend.js';
import type { Said, ToFollower, ToWriter } from './messages.js';
import { writes } from './repeating.js';

/** How long an orderly end waits for what may write, ms. */
const DRAIN_MS = 10_000;

interface Running {
  readonly writes: boolean;
  readonly end: () => void;
}

/** What a node elsewhere has under way here. */
interface Follower {
  /** The last call that was read. */
  last: number;
  readonly calls: Map<number, AbortController>;
  readonly sessions: Map<number, NodeSession>;
}

/** The node of a writer, as it serves its own page and the others. Once it ends, nothing it answers is believed. */
export class Writing implements Backend {
  private readonly running = new Set<Running>();
  private readonly followers = new Map<string, Follower>();
  private isLeaving = false;
  private drained: () => void = () => {};

  /** @param say - sends to a follower */
  constructor(
    readonly epoch: number,
    private readonly node: NodeTransport,
    private readonly say: (to: string, letter: Said<ToFollower>) => void,
  ) {}

  get store() {
    return this.node;
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    return this.run(layer, payload, () => this.node.dispatch(layer, payload, signal));
  }

  openSession(listener: SessionListener): NodeSession {
    const session = this.node.openSession(listener);
    return {
      dispatch: (payload, signal) => this.run('l2', payload, () => session.dispatch(payload, signal)),
      close: () => session.close(),
    };
  }

  /** Takes what a follower sent. */
  receive(letter: ToWriter): void {
    const { from } = letter;
    if (letter.kind === 'call') void this.answer(letter);
    else if (letter.kind === 'abort') this.followers.get(from)?.calls.get(letter.call)?.abort();
    else if (letter.kind === 'end-session') this.endSession(from, letter.session);
    else this.say(from, { kind: 'pong' });
  }

  /** A follower is no longer there. */
  drop(id: string): void {
    const { calls, sessions } = this.followers.get(id) ?? {};
    for (const controller of calls?.values() ?? []) controller.abort();
    for (const session of sessions?.keys() ?? []) this.endSession(id, session);
    this.followers.delete(id);
  }

  /** Begins nothing more, and waits for what may write; reading can be asked for elsewhere again. */
  async drain(): Promise<void> {
    this.isLeaving = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.drained = resolve;
      timer = setTimeout(resolve, DRAIN_MS);
      this.look();
    });
    clearTimeout(timer);
    // Lets the last answers go first.
    await new Promise((resolve) => setTimeout(resolve));
  }

  /** Whoever still waits, or might, is told that no reply comes. The node is left to be closed. */
  end(followers: Iterable<string>): void {
    this.isLeaving = true;
    for (const { end } of this.running) end();
    for (const id of new Set([...followers, ...this.followers.keys()])) {
      this.say(id, { kind: 'over', last: this.followers.get(id)?.last ?? 0 });
      this.drop(id);
    }
  }

  private async answer(letter: ToWriter & { kind: 'call' }): Promise<void> {
    const { from, call, layer, payload, session } = letter;
    const follower = this.followers.get(from) ?? { last: 0, calls: new Map(), sessions: new Map() };
    this.followers.set(from, follower);
    follower.last = call;
    const controller = new AbortController();
    follower.calls.set(call, controller);
    try {
      const { signal } = controller;
      const reply = await (session === undefined
        ? this.dispatch(layer, payload, signal)
        : this.sessionOf(from, follower, session).dispatch(payload, signal));
      this.say(from, { kind: 'reply', call, reply });
    } catch (error) {
      this.say(from, { kind: 'gone', call, begun: !(error instanceof WriterGone) || error.begun });
    } finally {
      follower.calls.delete(call);
    }
  }

  private sessionOf(from: string, { sessions }: Follower, id: number): NodeSession {
    let session = sessions.get(id);
    if (session === undefined) {
      session = this.openSession((message) => this.say(from, { kind: 'message', session: id, message }));
      sessions.set(id, session);
    }
    return session;
  }

  private endSession(from: string, id: number): void {
    const sessions = this.followers.get(from)?.sessions;
    sessions?.get(id)?.close();
    sessions?.delete(id);
  }

  private run(layer: Layer, payload: unknown, work: () => Promise<Reply>): Promise<Reply> {
    if (this.isLeaving) return Promise.reject(new WriterGone(false));
    return new Promise((resolve, reject) => {
      const running = { writes: writes(layer, payload), end: () => reject(new WriterGone(true)) };
      this.running.add(running);
      work()
        .then(resolve, reject)
        .finally(() => {
          this.running.delete(running);
          this.look();
        });
    });
  }

  private look(): void {
    if (![...this.running].some((running) => running.writes)) this.drained();
  }
}

/** The error of what is asked of a node that was closed. */
export function nodeClosed(): PlumblineError<'NODE_CLOSED'> {
  return new PlumblineError('NODE_CLOSED', 'the node was closed', {});
}
