import type { Chain } from '../../chain/chain.js';
import { PlumblineError } from '../../errors.js';
import type { Reply } from '../../rpc/protocol/envelope.js';
import type { Dispatch } from '../../rpc/protocol/handle.js';
import type { MethodCallOptions } from '../../rpc/protocol/method.js';
import { StoreHealth, type StoreStatus, type StoreStatusListener } from '../../store/store-status.js';
import { openSession } from '../provider/session.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from '../provider/transport.js';

/** A node in this thread: dispatchers over an open chain. */
export class InlineTransport implements NodeTransport {
  private closed = false;
  private readonly sessions = new Set<NodeSession>();

  constructor(
    private readonly chain: Pick<Chain, 'close'>,
    private readonly dispatchers: Record<Layer, Dispatch>,
    readonly info: NodeTransport['info'],
    private readonly maxSubscriptions: number | undefined,
    private readonly health: StoreHealth = new StoreHealth('memory'),
  ) {}

  get storeStatus(): StoreStatus {
    return this.health.status;
  }

  onStoreStatus(listener: StoreStatusListener): () => void {
    this.health.listeners.add(listener);
    return () => this.health.listeners.delete(listener);
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal): Promise<Reply> {
    return this.answer(layer, payload, { signal });
  }

  private async answer(layer: Layer, payload: unknown, call: MethodCallOptions): Promise<Reply> {
    if (this.closed) throw new PlumblineError('NODE_CLOSED', 'the node was closed; open another one', {});
    const reply = await this.dispatchers[layer](payload, call);
    call.signal?.throwIfAborted();
    return reply;
  }

  openSession(listener: SessionListener): NodeSession {
    const session = openSession(
      (payload, call = {}) => this.answer('l2', payload, call),
      listener,
      this.maxSubscriptions,
    );
    this.sessions.add(session);
    return {
      dispatch: session.dispatch,
      close: () => {
        session.close();
        this.sessions.delete(session);
      },
    };
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    for (const session of this.sessions) session.close();
    this.sessions.clear();
    await this.chain.close();
  }

  /** Never called back: a node in this thread fails only with the thread. */
  onFailure(): () => void {
    return () => {};
  }
}
