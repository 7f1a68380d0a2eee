/**
 * A node on a store that other nodes use too. Whichever of them is the writer answers, and requests and subscriptions of this page
 * outlive it.
 */

import { isPlumblineError, messageOf, PlumblineError } from '../../errors.js';
import type { Hex } from '../../primitives/hex.js';
import { answersOf, methodOf, type Reply, type RpcFailure } from '../../rpc/envelope.js';
import { isTimed } from '../../rpc/method-info.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions.js';
import { type Deadline, type LateSignal, openDeadline, signalOf } from '../../scheduling/deadline.js';
import { Listeners } from '../../scheduling/listeners.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import type { NodeInfo } from '../options/options.js';
import {
  type ChainCaller,
  type ChainSwitch,
  type Layer,
  type NodeSession,
  type NodeTransport,
  nodeClosed,
  type SessionListener,
  switchedTo,
} from '../provider/transport.js';
import type { Peer, PeerListener } from './peer.js';
import { refuse, retry } from './retry.js';
import { type Writer, WriterGone } from './writer.js';

/** Sends a payload to a writer. @throws WriterGone */
type Send = (writer: Writer, payload: unknown, signal: AbortSignal) => Promise<Reply>;

/**
 * A node on a store that other nodes use too. The writer answers. While there is no writer, requests wait until their time limit.
 */
export class SharedNode implements NodeTransport, PeerListener {
  private writer: Writer | undefined;
  private known: NodeInfo | undefined;
  private ended: Error | undefined;
  private running = 0;
  /** Requests that wait for a writer. */
  private readonly waiters = new Set<{ resolve: (writer: Writer) => void; reject: (error: Error) => void }>();
  private readonly sessions = new Set<SharedSession>();
  private readonly failureListeners = new Listeners<Error>();
  private readonly storeListeners = new Listeners<StoreStatus>();
  private unwatchStore: (() => void) | undefined;
  /** The status that the listeners were last called with. */
  private reportedStatus: StoreStatus | undefined;
  private peer: Peer | undefined;

  constructor(private readonly timeoutMs: number) {}

  get info(): NodeInfo {
    return this.known!;
  }

  /** Waits until there is a writer. @throws PlumblineError with which the peer ended */
  async join(peer: Peer): Promise<void> {
    this.peer = peer;
    try {
      await this.untilWriter();
    } catch (error) {
      throw (error as Error).cause ?? error;
    }
  }

  get storeStatus(): StoreStatus | undefined {
    return this.writer?.store.storeStatus;
  }

  onStoreStatus(listener: StoreStatusListener): () => void {
    return this.storeListeners.add(listener);
  }

  onWriter(next: { readonly writer: Writer; readonly info: NodeInfo } | undefined): void {
    this.writer = next?.writer;
    this.unwatchStore?.();
    this.unwatchStore = this.writer?.store.onStoreStatus?.((status) => this.reportStatus(status));
    const { storeStatus: status } = this;
    // Reported when it differs from the previous writer's, or when opening found a damaged or unusable store.
    const hasChanged = status !== undefined && status.mode !== (this.reportedStatus?.mode ?? status.mode);
    if (hasChanged || (status?.reason ?? status?.repaired) !== undefined) this.reportStatus(status!);
    if (next === undefined) return;
    const { writer, info } = next;
    this.known = info;
    for (const { resolve } of this.waiters) resolve(writer);
    this.waiters.clear();
    for (const session of this.sessions) {
      // If this writer ends before that is done, the session follows the next one.
      if (session.hasSubscriptions) session.follow(writer);
    }
  }

  onEnd(error: Error): void {
    if (!this.end(new PlumblineError('NODE_CLOSED', messageOf(error), {}, { cause: error }))) return;
    this.failureListeners.notify(error);
  }

  onFailure(listener: (error: Error) => void): () => void {
    return this.failureListeners.add(listener);
  }

  isWaiting(): boolean {
    return this.known === undefined || this.running > 0 || [...this.sessions].some((one) => one.hasSubscriptions);
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal | LateSignal, caller?: ChainCaller): Promise<Reply> {
    if (layer === 'inspect' && methodOf(payload) === 'sharing') {
      return Promise.resolve({ body: { jsonrpc: '2.0', id: 1, result: this.peer?.report } });
    }
    return this.send(layer, payload, signalOf(signal), (writer, part, until) =>
      writer.dispatch(layer, part, until, caller),
    );
  }

  openSession(listener: SessionListener, connection?: object, chain?: number): NodeSession {
    const { chains, chainId } = this.info;
    const session = new SharedSession(listener, connection, chain, chains && chainId);
    this.sessions.add(session);
    return {
      dispatch: (payload, signal) =>
        this.send('l2', payload, signalOf(signal), (writer, part, until) => session.dispatch(writer, part, until)),
      close: () => {
        session.close();
        this.sessions.delete(session);
      },
    };
  }

  async close(): Promise<void> {
    this.end(nodeClosed());
    for (const session of this.sessions) session.close();
    this.sessions.clear();
    await this.peer?.close();
  }

  private reportStatus(status: StoreStatus): void {
    this.reportedStatus = status;
    this.storeListeners.notify(status);
  }

  private end(error: Error): boolean {
    if (this.ended !== undefined) return false;
    this.ended = error;
    for (const { reject } of this.waiters) reject(error);
    this.waiters.clear();
    return true;
  }

  private untilWriter(): Promise<Writer> {
    if (this.ended !== undefined) return Promise.reject(this.ended);
    if (this.writer !== undefined) return Promise.resolve(this.writer);
    return new Promise((resolve, reject) => this.waiters.add({ resolve, reject }));
  }

  /** Sends a payload within the time limit of a request. */
  private async send(layer: Layer, payload: unknown, signal: AbortSignal | undefined, send: Send): Promise<Reply> {
    signal?.throwIfAborted();
    const deadline = openDeadline(signal, this.timeoutMs);
    this.running++;
    try {
      return await deadline.run(() => this.sendUntilAnswered(layer, payload, deadline, send));
    } catch (error) {
      signal?.throwIfAborted();
      if (isPlumblineError(error, 'REQUEST_TIMED_OUT')) return await refuse(payload, error);
      throw error;
    } finally {
      this.running--;
      deadline.close();
    }
  }

  private async sendUntilAnswered(layer: Layer, payload: unknown, deadline: Deadline, send: Send): Promise<Reply> {
    const ask = async (part: unknown) => {
      for (;;) {
        try {
          const writer = await this.untilWriter();
          if (!isTimed(layer, String(methodOf(part)))) deadline.unlimit();
          return await send(writer, part, deadline.signal);
        } catch (error) {
          // A request that the writer never began can be sent again, whatever its method.
          if (!(error instanceof WriterGone) || error.begun) throw error;
        }
      }
    };
    let isRetry = false;
    for (;;) {
      try {
        return await (isRetry ? retry(layer, payload, ask) : ask(payload));
      } catch (error) {
        if (!(error instanceof WriterGone)) throw error;
        isRetry = true;
      }
    }
  }
}

/** A subscription: its `eth_subscribe` request, and the id that the current writer gave it. */
interface Subscribed {
  readonly request: { readonly params?: unknown };
  currentId: Hex;
}

/**
 * The session of one caller with the current writer. Each new writer switches it to its chain again, and makes the subscriptions again. The
 * caller keeps the ids of the first writer. Events are missed while there is no writer, and until the subscriptions are made again.
 */
class SharedSession {
  /** By the id that the caller knows. */
  private readonly subscriptions = new Map<Hex, Subscribed>();
  private bound: Bound | undefined;
  /** The request with which it was switched to another chain. */
  private switched: object | undefined;
  private isClosed = false;

  /**
   * @param connection - of its requests, where the writer is in this thread
   * @param chain - id of the chain that it stays with
   * @param current - id of the chain that it is at, on a node with several
   */
  constructor(
    private readonly listener: SessionListener,
    private readonly connection: object | undefined,
    private readonly chain: number | undefined,
    private current: number | undefined,
  ) {}

  get hasSubscriptions(): boolean {
    return this.subscriptions.size > 0;
  }

  /** As `NodeSession.dispatch`, by this writer. @throws WriterGone */
  async dispatch(writer: Writer, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    const { session, ready } = this.follow(writer);
    const refusal = await ready;
    if (refusal !== undefined) return refused(payload, refusal);
    const reply = await session.dispatch(translate(payload, this.subscriptions), signal);
    for (const { item, answer } of answersOf(payload, reply)) {
      if (!('result' in answer)) continue;
      if (methodOf(item) === 'eth_subscribe') {
        const id = answer.result as Hex;
        this.subscriptions.set(id, { request: item as Subscribed['request'], currentId: id });
      } else if (methodOf(item) === 'eth_unsubscribe' && answer.result === true) {
        this.subscriptions.delete((item as { params: [Hex] }).params[0]);
      } else if (methodOf(item) === 'wallet_switchEthereumChain') {
        this.onSwitched(item as ChainSwitch);
      }
    }
    return reply;
  }

  /** Opens a session with this writer, unless there is one. */
  follow(writer: Writer): Bound {
    if (this.bound?.writer === writer) return this.bound;
    this.bound?.session.close();
    const session: NodeSession = writer.openSession(
      (message) => this.onMessage(session, message),
      this.connection,
      this.chain,
    );
    const bound = { writer, session, ready: this.renew(session) };
    // Each request is told, and the next one tries it again.
    const forget = () => {
      if (this.bound === bound) this.bound = undefined;
    };
    bound.ready.then((refusal) => refusal && forget(), forget);
    this.bound = bound;
    return bound;
  }

  /** Switches a new session to the chain of the caller, and makes the subscriptions again. @throws WriterGone */
  private async renew(session: NodeSession): Promise<RpcFailure['error'] | undefined> {
    if (this.switched !== undefined) {
      const { error } = (await session.dispatch(this.switched)).body as Partial<RpcFailure>;
      if (error !== undefined) return error;
    }
    for (const subscribed of this.subscriptions.values()) {
      const { params } = subscribed.request;
      const reply = await session.dispatch({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params });
      const { result } = reply.body as { result?: Hex };
      if (result !== undefined) subscribed.currentId = result;
    }
    if (this.isClosed) session.close();
    return undefined;
  }

  close(): void {
    this.isClosed = true;
    this.bound?.session.close();
    this.subscriptions.clear();
  }

  /** The subscriptions of another chain have ended with the switch. */
  private onSwitched(item: ChainSwitch): void {
    const next = switchedTo(item);
    if (this.chain !== undefined || this.current === undefined || next === this.current) return;
    this.current = next;
    this.switched = item;
    this.subscriptions.clear();
  }

  private onMessage(session: NodeSession, { subscription, result }: SubscriptionMessage): void {
    if (this.isClosed || this.bound?.session !== session) return;
    for (const [id, { currentId }] of this.subscriptions) {
      if (currentId === subscription) this.listener({ subscription: id, result });
    }
  }
}

/** A session with a writer. */
interface Bound {
  readonly writer: Writer;
  readonly session: NodeSession;
  /** Ends when the session stands where the caller left it: nothing else is sent on it before. Has the error of a refused switch. */
  readonly ready: Promise<RpcFailure['error'] | undefined>;
}

/** The reply to requests, if the session cannot be had on the chain of the caller. */
function refused(payload: unknown, error: RpcFailure['error']): Reply {
  const answer = (item: unknown): RpcFailure => {
    const { id = null } = (item ?? {}) as { id?: RpcFailure['id'] };
    return { jsonrpc: '2.0', id, error };
  };
  return { body: Array.isArray(payload) ? payload.map(answer) : answer(payload) };
}

/** Replaces the ids in `eth_unsubscribe` by those of the current writer. */
function translate(payload: unknown, subscriptions: ReadonlyMap<Hex, Subscribed>): unknown {
  if (Array.isArray(payload)) return payload.map((item) => translate(item, subscriptions));
  if (methodOf(payload) !== 'eth_unsubscribe') return payload;
  const { params } = payload as { params?: unknown };
  const id = Array.isArray(params) ? subscriptions.get(params[0])?.currentId : undefined;
  return id === undefined ? payload : { ...(payload as object), params: [id] };
}
