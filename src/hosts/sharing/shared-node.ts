import { isPlumblineError, messageOf, PlumblineError } from '../../errors.js';
import type { SharingReport } from '../../rpc/inspection/sharing-report.js';
import type { Reply } from '../../rpc/protocol/envelope.js';
import { isTimed } from '../../rpc/protocol/method-info.js';
import { type Deadline, openDeadline } from '../../scheduling/deadline.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import type { NodeInfo } from '../options/options.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from '../provider/transport.js';
import { type Backend, WriterGone } from './backend.js';
import type { MemberListener } from './member-settings.js';
import { methodOf, refuse, repeat } from './repeating.js';
import { SharedSession } from './shared-session.js';
import { nodeClosed } from './writing.js';

/** Asks a writer for a payload. @throws WriterGone */
type Send = (backend: Backend, payload: unknown, signal: AbortSignal) => Promise<Reply>;

interface Waiter {
  readonly resolve: (backend: Backend) => void;
  readonly reject: (error: Error) => void;
}

/** What a shared node asks of the member it stands on. */
export interface Membership {
  readonly report: SharingReport;
  close(): Promise<void>;
}

/**
 * A node on a store that others use too. Whoever writes answers; while nobody does, requests wait, for as long as a request
 * may take.
 */
export class SharedNode implements NodeTransport, MemberListener {
  private backend: Backend | undefined;
  private known: NodeInfo | undefined;
  private ended: Error | undefined;
  private running = 0;
  private readonly waiters = new Set<Waiter>();
  private readonly sessions = new Set<SharedSession>();
  private readonly failureListeners = new Set<(error: Error) => void>();
  private readonly storeListeners = new Set<StoreStatusListener>();
  private unwatchStore: (() => void) | undefined;
  /** What was told of the store the last time. */
  private told: StoreStatus | undefined;
  private membership: Membership | undefined;

  constructor(private readonly timeoutMs: number) {}

  get info(): NodeInfo {
    return this.known!;
  }

  /** Waits until the node can answer. @throws PlumblineError of what keeps it from that */
  async join(membership: Membership): Promise<void> {
    this.membership = membership;
    try {
      await this.writer();
    } catch (error) {
      throw (error as Error).cause ?? error;
    }
  }

  get storeStatus(): StoreStatus | undefined {
    return this.backend?.store.storeStatus;
  }

  onStoreStatus(listener: StoreStatusListener): () => void {
    this.storeListeners.add(listener);
    return () => this.storeListeners.delete(listener);
  }

  onWriter(writer: { readonly backend: Backend; readonly info: NodeInfo } | undefined): void {
    this.backend = writer?.backend;
    this.unwatchStore?.();
    this.unwatchStore = this.backend?.store.onStoreStatus?.((status) => this.tellStore(status));
    const { storeStatus: status } = this;
    // What was so as the store was opened, or is another with this writer.
    const isNews = status !== undefined && status.mode !== (this.told?.mode ?? status.mode);
    if (isNews || (status?.reason ?? status?.repaired) !== undefined) this.tellStore(status!);
    if (writer === undefined) return;
    const { backend, info } = writer;
    this.known = info;
    for (const { resolve } of this.waiters) resolve(backend);
    this.waiters.clear();
    for (const session of this.sessions) {
      // One whose writer goes meanwhile follows the next.
      if (session.hasSubscriptions) session.follow(backend).catch(() => {});
    }
  }

  onEnd(error: Error): void {
    if (!this.end(new PlumblineError('NODE_CLOSED', messageOf(error), {}, { cause: error }))) return;
    for (const listener of this.failureListeners) listener(error);
  }

  onFailure(listener: (error: Error) => void): () => void {
    this.failureListeners.add(listener);
    return () => this.failureListeners.delete(listener);
  }

  isWaiting(): boolean {
    return this.known === undefined || this.running > 0 || [...this.sessions].some((one) => one.hasSubscriptions);
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    if (layer === 'inspect' && methodOf(payload) === 'sharing') {
      return Promise.resolve({ body: { jsonrpc: '2.0', id: 1, result: this.membership?.report } });
    }
    return this.carry(layer, payload, signal, (backend, part, until) => backend.dispatch(layer, part, until));
  }

  openSession(listener: SessionListener): NodeSession {
    const session = new SharedSession(listener);
    this.sessions.add(session);
    return {
      dispatch: (payload, signal) =>
        this.carry('l2', payload, signal, (backend, part, until) => session.dispatch(backend, part, until)),
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
    await this.membership?.close();
  }

  private tellStore(status: StoreStatus): void {
    this.told = status;
    for (const listener of this.storeListeners) listener(status);
  }

  private end(error: Error): boolean {
    if (this.ended !== undefined) return false;
    this.ended = error;
    for (const { reject } of this.waiters) reject(error);
    this.waiters.clear();
    return true;
  }

  /** The writer, once there is one. */
  private writer(): Promise<Backend> {
    if (this.ended !== undefined) return Promise.reject(this.ended);
    if (this.backend !== undefined) return Promise.resolve(this.backend);
    return new Promise((resolve, reject) => this.waiters.add({ resolve, reject }));
  }

  private async carry(layer: Layer, payload: unknown, signal: AbortSignal | undefined, send: Send): Promise<Reply> {
    signal?.throwIfAborted();
    const deadline = openDeadline(signal, this.timeoutMs);
    this.running++;
    try {
      return await deadline.run(() => this.attempt(layer, payload, deadline, send));
    } catch (error) {
      signal?.throwIfAborted();
      if (isPlumblineError(error, 'REQUEST_TIMED_OUT')) return await refuse(payload, error);
      throw error;
    } finally {
      this.running--;
      deadline.close();
    }
  }

  private async attempt(layer: Layer, payload: unknown, deadline: Deadline, send: Send): Promise<Reply> {
    const ask = async (part: unknown) => {
      for (;;) {
        try {
          const writer = await this.writer();
          if (!isTimed(layer, String(methodOf(part)))) deadline.unlimit();
          return await send(writer, part, deadline.signal);
        } catch (error) {
          // Begun by nobody: as if it had not been asked for.
          if (!(error instanceof WriterGone) || error.begun) throw error;
        }
      }
    };
    let isAgain = false;
    for (;;) {
      try {
        return await (isAgain ? repeat(layer, payload, ask) : ask(payload));
      } catch (error) {
        if (!(error instanceof WriterGone)) throw error;
        isAgain = true;
      }
    }
  }
}
