import type { Hex } from '../../primitives/hex.js';
import type { Reply } from '../../rpc/protocol/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions/subscriptions.js';
import type { NodeSession, SessionListener } from '../provider/transport.js';
import type { Backend } from './backend.js';
import { answersOf, methodOf } from './repeating.js';

/** A subscription: what was asked for, and the id it has with the present writer. */
interface Subscribed {
  readonly request: { readonly params?: unknown };
  current: Hex;
}

/**
 * The session of one caller with whoever writes. Its subscriptions are made again with each new writer, and keep the ids
 * they were given first. What happens while nobody writes, and until they are made again, they do not tell.
 */
export class SharedSession {
  private readonly subscriptions = new Map<Hex, Subscribed>();
  private bound: { readonly backend: Backend; readonly session: NodeSession } | undefined;
  private isClosed = false;

  constructor(private readonly listener: SessionListener) {}

  get hasSubscriptions(): boolean {
    return this.subscriptions.size > 0;
  }

  /** As `NodeSession.dispatch`, by this writer. @throws WriterGone */
  async dispatch(backend: Backend, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    const { session } = await this.follow(backend);
    const reply = await session.dispatch(translate(payload, this.subscriptions), signal);
    for (const { item, answer } of answersOf(payload, reply)) {
      if (!('result' in answer)) continue;
      if (methodOf(item) === 'eth_subscribe') {
        const id = answer.result as Hex;
        this.subscriptions.set(id, { request: item as Subscribed['request'], current: id });
      } else if (methodOf(item) === 'eth_unsubscribe' && answer.result === true) {
        this.subscriptions.delete((item as { params: [Hex] }).params[0]);
      }
    }
    return reply;
  }

  /** Makes the subscriptions again when the writer is another. @throws WriterGone */
  async follow(backend: Backend): Promise<{ readonly session: NodeSession }> {
    if (this.bound?.backend === backend) return this.bound;
    this.bound?.session.close();
    const session: NodeSession = backend.openSession((message) => this.tell(session, message));
    const bound = { backend, session };
    this.bound = bound;
    for (const subscribed of this.subscriptions.values()) {
      const { params } = subscribed.request;
      const reply = await session.dispatch({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params });
      const { result } = reply.body as { result?: Hex };
      if (result !== undefined) subscribed.current = result;
    }
    if (this.isClosed) session.close();
    return bound;
  }

  close(): void {
    this.isClosed = true;
    this.bound?.session.close();
    this.subscriptions.clear();
  }

  private tell(session: NodeSession, { subscription, result }: SubscriptionMessage): void {
    if (this.isClosed || this.bound?.session !== session) return;
    for (const [id, { current }] of this.subscriptions) {
      if (current === subscription) this.listener({ subscription: id, result });
    }
  }
}

/** Puts the ids of the present writer into what ends subscriptions. */
function translate(payload: unknown, subscriptions: ReadonlyMap<Hex, Subscribed>): unknown {
  if (Array.isArray(payload)) return payload.map((item) => translate(item, subscriptions));
  if (methodOf(payload) !== 'eth_unsubscribe') return payload;
  const { params } = payload as { params?: unknown };
  const current = Array.isArray(params) ? subscriptions.get(params[0])?.current : undefined;
  return current === undefined ? payload : { ...(payload as object), params: [current] };
}
