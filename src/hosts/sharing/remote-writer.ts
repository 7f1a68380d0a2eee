import type { AnswerReport } from '../../rpc/protocol/answer-report.js';
import type { Reply } from '../../rpc/protocol/envelope.js';
import { Listeners } from '../../scheduling/listeners.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import { textOf } from '../options/options.js';
import type { Layer, NodeSession, SessionListener } from '../provider/transport.js';
import type { MessageBody, MessageToFollower, MessageToWriter } from './peer-channels.js';
import { answersOf, isNonIdempotent, methodOf } from './retry.js';
import { type Writer, WriterGone } from './writer.js';

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

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    return this.call(layer, payload, signal);
  }

  openSession(listener: SessionListener): NodeSession {
    const session = this.nextNumber++;
    this.sessions.set(session, listener);
    return {
      dispatch: (payload, signal) => this.call('l2', payload, signal, session),
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

  private async call(layer: Layer, payload: unknown, signal?: AbortSignal, session?: number): Promise<Reply> {
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
      this.send({ kind: 'call', call, layer, payload, session });
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
