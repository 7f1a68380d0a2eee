import { isPlumblineError, messageOf, PlumblineError } from '../../errors.js';
import type { Reply } from '../../rpc/protocol/envelope.js';
import { isTimed } from '../../rpc/protocol/method-info.js';
import { type Deadline, openDeadline } from '../../scheduling/deadline.js';
import { Listeners } from '../../scheduling/listeners.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import type { NodeInfo } from '../options/options.js';
import {
  type Layer,
  type NodeSession,
  type NodeTransport,
  nodeClosed,
  type SessionListener,
} from '../provider/transport.js';
import type { Candidate, CandidateListener } from './candidate.js';
import { methodOf, refuse, retry } from './retry.js';
import { SharedSession } from './shared-session.js';
import { type Writer, WriterGone } from './writer.js';

/** Sends a payload to a writer. @throws WriterGone */
type Send = (writer: Writer, payload: unknown, signal: AbortSignal) => Promise<Reply>;

/**
 * A node on a store that other nodes use too. The writer answers. While there is no writer, requests wait until their time limit.
 */
export class SharedNode implements NodeTransport, CandidateListener {
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
  private candidate: Candidate | undefined;

  constructor(private readonly timeoutMs: number) {}

  get info(): NodeInfo {
    return this.known!;
  }

  /** Waits until there is a writer. @throws PlumblineError with which the candidate ended */
  async join(candidate: Candidate): Promise<void> {
    this.candidate = candidate;
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
      if (session.hasSubscriptions) session.follow(writer).catch(() => {});
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

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal, connection?: object): Promise<Reply> {
    if (layer === 'inspect' && methodOf(payload) === 'sharing') {
      return Promise.resolve({ body: { jsonrpc: '2.0', id: 1, result: this.candidate?.report } });
    }
    return this.send(layer, payload, signal, (writer, part, until) => writer.dispatch(layer, part, until, connection));
  }

  openSession(listener: SessionListener, connection?: object): NodeSession {
    const session = new SharedSession(listener, connection);
    this.sessions.add(session);
    return {
      dispatch: (payload, signal) =>
        this.send('l2', payload, signal, (writer, part, until) => session.dispatch(writer, part, until)),
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
    await this.candidate?.close();
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
