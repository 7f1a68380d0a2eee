import type { Reply } from '../../rpc/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions.js';
import type { Layer, NodeSession, NodeTransport } from './transport.js';

/** A call of a remote caller. A session keeps the chain of its first call. */
export interface RemoteRequest {
  readonly layer: Layer;
  readonly payload: unknown;
  readonly session?: number | undefined;
  readonly chain?: number | undefined;
}

/**
 * The calls and sessions of one remote caller: a page of a worker, or a node of another page. The caller numbers them. A session
 * begins with its first call. All of them are one connection.
 */
export class RemoteCalls {
  private readonly running = new Map<number, AbortController>();
  private readonly sessions = new Map<number, NodeSession>();

  /** @param send - sends a message of one of its sessions to the caller */
  constructor(private readonly send: (session: number, message: SubscriptionMessage) => void) {}

  /** @throws what the node throws */
  async dispatch(
    node: Pick<NodeTransport, 'dispatch' | 'openSession'>,
    call: number,
    request: RemoteRequest,
  ): Promise<Reply> {
    const { layer, payload, session, chain } = request;
    const controller = new AbortController();
    const { signal } = controller;
    this.running.set(call, controller);
    try {
      if (session === undefined) return await node.dispatch(layer, payload, signal, { connection: this, chain });
      return await this.sessionOf(node, session, chain).dispatch(payload, signal);
    } finally {
      this.running.delete(call);
    }
  }

  abort(call: number): void {
    this.running.get(call)?.abort();
  }

  closeSession(session: number): void {
    this.sessions.get(session)?.close();
    this.sessions.delete(session);
  }

  /** Aborts all calls and closes all sessions. */
  close(): void {
    for (const controller of this.running.values()) controller.abort();
    for (const session of this.sessions.keys()) this.closeSession(session);
  }

  private sessionOf(node: Pick<NodeTransport, 'openSession'>, id: number, chain: number | undefined): NodeSession {
    let session = this.sessions.get(id);
    if (session === undefined) {
      session = node.openSession((message) => this.send(id, message), this, chain);
      this.sessions.set(id, session);
    }
    return session;
  }
}
