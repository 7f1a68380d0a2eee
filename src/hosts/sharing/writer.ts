/**
 * The writer of a shared store, as those who send it requests see it: in this thread, or elsewhere and reached by messages.
 *
 * It may end at any moment. A request that got no answer then fails with `WriterGone`, which says whether it may have been carried
 * out; `retry.ts` decides by that what the next writer is asked.
 */

import type { AnswerReport } from '../../rpc/answer-report.js';
import { answersOf, methodOf, type Reply } from '../../rpc/envelope.js';
import { type LateSignal, signalOf } from '../../scheduling/deadline.js';
import { Listeners } from '../../scheduling/listeners.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import { textOf } from '../options/options.js';
import type { ChainCaller, Layer, NodeSession, NodeTransport, SessionListener } from '../provider/transport.js';
import { RemoteCalls, type RemoteRequest } from '../provider/transport.js';
import type { MessageBody, MessageToFollower, MessageToWriter } from './peer-channels.js';
import { changesState, isNonIdempotent } from './retry.js';

/** The node that writes to a shared store, for one epoch. It runs in this thread or elsewhere. */
export interface Writer {
  readonly epoch: number;
  /** Status of the store, as far as it is known here. */
  readonly store: Pick<NodeTransport, 'storeStatus' | 'onStoreStatus'>;
  /** @throws WriterGone when there will be no reply; the signal's reason when aborted */
  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal | LateSignal, caller?: ChainCaller): Promise<Reply>;
  /** The session's `dispatch` throws the same errors as `dispatch` here. */
  openSession(listener: SessionListener, connection?: object, chain?: number): NodeSession;
}

/** The writer ended before it answered. This error never leaves the folder. */
export class WriterGone extends Error {
  override readonly name = 'WriterGone';

  /** @param begun - whether the writer may have carried out the request */
  constructor(readonly begun: boolean) {
    super('the writer of the store ended before it answered');
  }
}

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

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal | LateSignal, caller?: ChainCaller): Promise<Reply> {
    return this.run(layer, payload, () => this.node.dispatch(layer, payload, signal, caller));
  }

  openSession(listener: SessionListener, connection?: object, chain?: number): NodeSession {
    const session = this.node.openSession(listener, connection, chain);
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

/** A writer that runs elsewhere, reached by messages. */
export class RemoteWriter implements Writer {
  private readonly calls = new Map<number, { resolve: (reply: Reply) => void; reject: (error: unknown) => void }>();
  private readonly sessions = new Map<number, SessionListener>();
  private readonly pings: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  private readonly storeListeners = new Listeners<StoreStatus>();
  private isOver = false;
  private nextNumber = 1;

  /**
   * @param send - sends to the writer
   * @param storeStatus - as the writer has announced it
   */
  constructor(
    readonly epoch: number,
    private readonly send: (message: MessageBody<MessageToWriter>) => void,
    public storeStatus?: StoreStatus | undefined,
  ) {}

  get store() {
    return this;
  }

  onStoreStatus(listener: StoreStatusListener): () => void {
    return this.storeListeners.add(listener);
  }

  /** Takes the status that the writer announces. Listeners are called if it has changed. */
  setStoreStatus(status: StoreStatus | undefined): void {
    if (status === undefined || textOf(status) === textOf(this.storeStatus)) return;
    this.storeStatus = status;
    this.storeListeners.notify(status);
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal | LateSignal, caller?: ChainCaller): Promise<Reply> {
    return this.call({ layer, payload, chain: caller?.chain }, signalOf(signal));
  }

  openSession(listener: SessionListener, _?: object, chain?: number): NodeSession {
    const session = this.nextNumber++;
    this.sessions.set(session, listener);
    return {
      dispatch: (payload, signal) => this.call({ layer: 'l2', payload, session, chain }, signalOf(signal)),
      close: () => {
        if (this.sessions.delete(session) && !this.isOver) this.send({ kind: 'end-session', session });
      },
    };
  }

  /** Handles a message from the writer. */
  receive(message: MessageToFollower): void {
    if (message.kind === 'reply') this.calls.get(message.call)?.resolve(message.reply);
    else if (message.kind === 'gone') this.calls.get(message.call)?.reject(new WriterGone(message.begun));
    else if (message.kind === 'message') this.sessions.get(message.session)?.(message.message);
    else if (message.kind === 'over') this.end(message.last);
    else for (const { resolve } of this.pings.splice(0)) resolve();
  }

  /** Rejects all calls: the writer has ended. @param last - number of the last call that it may have read */
  end(last = this.nextNumber): void {
    this.isOver = true;
    for (const [call, { reject }] of this.calls) reject(new WriterGone(call <= last));
    for (const { reject } of this.pings.splice(0)) reject(new WriterGone(false));
    this.sessions.clear();
  }

  /** Waits for a pong. A call sent right after it is read by the writer, unless the writer ends at that moment. */
  private ping(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.pings.push({ resolve, reject });
      this.send({ kind: 'ping' });
    });
  }

  private async call(request: RemoteRequest, signal?: AbortSignal): Promise<Reply> {
    const { layer, payload } = request;
    // If the writer has already ended, the outcome of a non-idempotent request would be unknown without need.
    if (!this.isOver && isNonIdempotent(layer, payload)) await this.ping();
    if (this.isOver) throw new WriterGone(false);
    const call = this.nextNumber++;
    const onAbort = () => {
      this.send({ kind: 'abort', call });
      this.calls.get(call)?.reject(signal?.reason);
    };
    const answered = new Promise<Reply>((resolve, reject) => {
      signal?.throwIfAborted();
      this.send({ kind: 'call', call, ...request });
      this.calls.set(call, { resolve, reject });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    const reply = await answered.finally(() => {
      this.calls.delete(call);
      signal?.removeEventListener('abort', onAbort);
    });
    return layer === 'l2' ? { ...reply, reports: relayedReports(payload, reply) } : reply;
  }
}

/** The reports of a reply from another page, marked as such. If results have none, these are `forwarded`. */
function relayedReports(payload: unknown, reply: Reply): AnswerReport[] {
  const { reports = [] } = reply;
  const results = answersOf(payload, reply).filter(({ answer }) => 'result' in answer);
  const isWhole = reports.filter(({ errorCode }) => errorCode === undefined).length >= results.length;
  const told = isWhole
    ? reports
    : results.map(({ item }) => ({ method: String(methodOf(item)), class: 'forwarded' as const, blocks: [] }));
  return told.map((report) => ({ ...report, relayed: true }));
}
