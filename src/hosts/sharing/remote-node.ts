import type { Reply } from '../../rpc/envelope.js';
import type { Layer, NodeSession, SessionListener } from '../transport.js';
import { type Backend, WriterGone } from './backend.js';
import type { Said, ToFollower, ToWriter } from './messages.js';

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/** The node of a writer elsewhere. */
export class RemoteNode implements Backend {
  private readonly waiting = new Map<number, Waiting>();
  private readonly sessions = new Map<number, SessionListener>();
  private isOver = false;
  private next = 1;

  /** @param say - sends to the writer */
  constructor(
    readonly epoch: number,
    private readonly say: (letter: Said<ToWriter>) => void,
  ) {}

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
  }

  /** The writer is no more. @param last - the last call that it may have read */
  end(last = this.next): void {
    this.isOver = true;
    for (const [call, { reject }] of this.waiting) reject(new WriterGone(call <= last));
    this.sessions.clear();
  }

  private call(layer: Layer, payload: unknown, signal?: AbortSignal, session?: number): Promise<Reply> {
    if (this.isOver) return Promise.reject(new WriterGone(false));
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
