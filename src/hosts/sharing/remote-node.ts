import type { Reply } from '../../rpc/envelope.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import { textOf } from '../options/options.js';
import type { Layer, NodeSession, SessionListener } from '../provider/transport.js';
import { type Backend, WriterGone } from './backend.js';
import type { Said, ToFollower, ToWriter } from './messages.js';
import { happensTwice } from './repeating.js';

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/** The node of a writer elsewhere. */
export class RemoteNode implements Backend {
  private readonly waiting = new Map<number, Waiting>();
  private readonly sessions = new Map<number, SessionListener>();
  /** Who waits for the next sign of life. */
  private readonly greeting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  private readonly storeListeners = new Set<StoreStatusListener>();
  private isOver = false;
  private next = 1;

  /**
   * @param say - sends to the writer
   * @param storeStatus - as the writer has said
   */
  constructor(
    readonly epoch: number,
    private readonly say: (letter: Said<ToWriter>) => void,
    public storeStatus?: StoreStatus | undefined,
  ) {}

  get store() {
    return this;
  }

  onStoreStatus(listener: StoreStatusListener): () => void {
    this.storeListeners.add(listener);
    return () => this.storeListeners.delete(listener);
  }

  /** The writer says how its store is, be it again. */
  learn(status: StoreStatus | undefined): void {
    if (status === undefined || textOf(status) === textOf(this.storeStatus)) return;
    this.storeStatus = status;
    for (const listener of this.storeListeners) listener(status);
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    return this.call(layer, payload, signal);
  }

  openSession(listener: SessionListener): NodeSession {
    const session = this.next++;
    this.sessions.set(session, listener);
    return {
      dispatch: (payload, signal) => this.call('l2', payload, signal, session),
      close: () => {
        if (this.sessions.delete(session) && !this.isOver) this.say({ kind: 'end-session', session });
      },
    };
  }

  /** Takes what the writer sent. */
  receive(letter: ToFollower): void {
    if (letter.kind === 'reply') this.waiting.get(letter.call)?.resolve(letter.reply);
    else if (letter.kind === 'gone') this.waiting.get(letter.call)?.reject(new WriterGone(letter.begun));
    else if (letter.kind === 'message') this.sessions.get(letter.session)?.(letter.message);
    else if (letter.kind === 'over') this.end(letter.last);
    else for (const { resolve } of this.greeting.splice(0)) resolve();
  }

  /** The writer is no more. @param last - the last call that it may have read */
  end(last = this.next): void {
    this.isOver = true;
    for (const [call, { reject }] of this.waiting) reject(new WriterGone(call <= last));
    for (const { reject } of this.greeting.splice(0)) reject(new WriterGone(false));
    this.sessions.clear();
  }

  /** Waits until the writer says something: what is sent after that, it reads, unless it ends within this moment. */
  private greet(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.greeting.push({ resolve, reject });
      this.say({ kind: 'ping' });
    });
  }

  private async call(layer: Layer, payload: unknown, signal?: AbortSignal, session?: number): Promise<Reply> {
    // One that is gone already must not leave it open whether something happened.
    if (!this.isOver && happensTwice(layer, payload)) await this.greet();
    if (this.isOver) throw new WriterGone(false);
    const call = this.next++;
    const onAbort = () => {
      this.say({ kind: 'abort', call });
      this.waiting.get(call)?.reject(signal?.reason);
    };
    const answered = new Promise<Reply>((resolve, reject) => {
      signal?.throwIfAborted();
      this.say({ kind: 'call', call, layer, payload, session });
      this.waiting.set(call, { resolve, reject });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    return answered.finally(() => {
      this.waiting.delete(call);
      signal?.removeEventListener('abort', onAbort);
    });
  }
}
