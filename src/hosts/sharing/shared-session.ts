import type { Hex } from '../../primitives/hex.js';
import type { Reply } from '../../rpc/protocol/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions/subscriptions.js';
import type { NodeSession, SessionListener } from '../provider/transport.js';
import { answersOf, methodOf } from './retry.js';
import type { Writer } from './writer.js';

/** A subscription: its `eth_subscribe` request, and the id that the current writer gave it. */
interface Subscribed {
  readonly request: { readonly params?: unknown };
  currentId: Hex;
}

/**
 * The session of one caller with the current writer. Each new writer makes the subscriptions again. The caller keeps the ids of
 * the first writer. Events are missed while there is no writer, and until the subscriptions are made again.
 */
export class SharedSession {
  /** By the id that the caller knows. */
  private readonly subscriptions = new Map<Hex, Subscribed>();
  private bound: { readonly writer: Writer; readonly session: NodeSession } | undefined;
  private isClosed = false;

  /** @param connection - of its requests, where the writer is in this thread */
  constructor(
    private readonly listener: SessionListener,
    private readonly connection?: object | undefined,
  ) {}

  get hasSubscriptions(): boolean {
    return this.subscriptions.size > 0;
  }

  /** As `NodeSession.dispatch`, by this writer. @throws WriterGone */
  async dispatch(writer: Writer, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    const { session } = await this.follow(writer);
    const reply = await session.dispatch(translate(payload, this.subscriptions), signal);
    for (const { item, answer } of answersOf(payload, reply)) {
      if (!('result' in answer)) continue;
      if (methodOf(item) === 'eth_subscribe') {
        const id = answer.result as Hex;
        this.subscriptions.set(id, { request: item as Subscribed['request'], currentId: id });
      } else if (methodOf(item) === 'eth_unsubscribe' && answer.result === true) {
        this.subscriptions.delete((item as { params: [Hex] }).params[0]);
      }
    }
    return reply;
  }

  /** Opens a session with this writer and makes the subscriptions again, unless that has been done. @throws WriterGone */
  async follow(writer: Writer): Promise<{ readonly session: NodeSession }> {
    if (this.bound?.writer === writer) return this.bound;
    this.bound?.session.close();
    const session: NodeSession = writer.openSession((message) => this.onMessage(session, message), this.connection);
    const bound = { writer, session };
    this.bound = bound;
    for (const subscribed of this.subscriptions.values()) {
      const { params } = subscribed.request;
      const reply = await session.dispatch({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params });
      const { result } = reply.body as { result?: Hex };
      if (result !== undefined) subscribed.currentId = result;
    }
    if (this.isClosed) session.close();
    return bound;
  }

  close(): void {
    this.isClosed = true;
    this.bound?.session.close();
    this.subscriptions.clear();
  }

  private onMessage(session: NodeSession, { subscription, result }: SubscriptionMessage): void {
    if (this.isClosed || this.bound?.session !== session) return;
    for (const [id, { currentId }] of this.subscriptions) {
      if (currentId === subscription) this.listener({ subscription: id, result });
    }
  }
}

/** Replaces the ids in `eth_unsubscribe` by those of the current writer. */
function translate(payload: unknown, subscriptions: ReadonlyMap<Hex, Subscribed>): unknown {
  if (Array.isArray(payload)) return payload.map((item) => translate(item, subscriptions));
  if (methodOf(payload) !== 'eth_unsubscribe') return payload;
  const { params } = payload as { params?: unknown };
  const id = Array.isArray(params) ? subscriptions.get(params[0])?.currentId : undefined;
  return id === undefined ? payload : { ...(payload as object), params: [id] };
}
