import type { Chain } from '../../chain/chain.js';
import type { GasCount } from '../../evm/run-budget.js';
import type { Reply } from '../../rpc/envelope.js';
import type { Dispatch, PayloadOptions } from '../../rpc/handle.js';
import type { Caller } from '../../rpc/http.js';
import { Subscriptions } from '../../rpc/subscriptions.js';
import { type Deadline, type LateSignal, signalOf } from '../../scheduling/deadline.js';
import { InOrder } from '../../scheduling/in-order.js';
import { StoreHealth, type StoreStatus, type StoreStatusListener } from '../../store/store-status.js';
import type { NodeSettings } from '../options/options.js';
import {
  type Layer,
  type NodeSession,
  type NodeTransport,
  nodeClosed,
  type SessionListener,
} from '../provider/transport.js';

/** Gas of each connection, on all chains of its node together. */
const connections = new WeakMap<object, GasCount>();

/** A node in this thread: dispatchers over an open chain. */
export class InlineTransport implements NodeTransport {
  private closed = false;
  private closing: Promise<void> | undefined;
  private readonly sessions = new Set<NodeSession>();

  constructor(
    private readonly chain: Pick<Chain, 'close'>,
    private readonly dispatchers: Record<Layer, Dispatch>,
    readonly info: NodeTransport['info'],
    private readonly limits: Partial<Pick<NodeSettings, 'maxSubscriptions' | 'connectionGasBudget'>> = {},
    private readonly health: StoreHealth = new StoreHealth('memory'),
    /** Deadlines of the payloads under way. */
    private readonly running: InOrder<Deadline> = new InOrder(),
  ) {}

  get storeStatus(): StoreStatus {
    return this.health.status;
  }

  onStoreStatus(listener: StoreStatusListener): () => void {
    this.health.listeners.add(listener);
    return () => this.health.listeners.delete(listener);
  }

  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal | LateSignal, caller: Caller = {}): Promise<Reply> {
    const { client, connection, unreported } = caller;
    return this.answer(layer, payload, { signal, client, unreported, connectionGas: this.gasOf(connection) });
  }

  private gasOf(connection: object | undefined): GasCount | undefined {
    if (connection === undefined) return undefined;
    const { connectionGasBudget: budget = Number.POSITIVE_INFINITY } = this.limits;
    let gas = connections.get(connection);
    if (gas === undefined) {
      gas = { budget, spent: 0, minuteFrom: Number.NEGATIVE_INFINITY };
      connections.set(connection, gas);
    }
    return gas;
  }

  private async answer(layer: Layer, payload: unknown, call: PayloadOptions): Promise<Reply> {
    if (this.closed) throw nodeClosed();
    const reply = await this.dispatchers[layer](payload, call);
    if (call.signal?.aborted) signalOf(call.signal)!.throwIfAborted();
    return reply;
  }

  /** @param chains - ids of the chains that the session can switch to, where it can; the caller carries that out */
  openSession(listener: SessionListener, connection?: object, _?: number, chains?: readonly number[]): NodeSession {
    const connectionGas = this.gasOf(connection);
    const client = new Subscriptions(listener, this.limits.maxSubscriptions);
    const session: NodeSession = {
      dispatch: async (payload, signal, unreported) => {
        const subscriber = client.subscriber();
        try {
          return await this.answer('l2', payload, { signal, subscriber, client, unreported, connectionGas, chains });
        } finally {
          subscriber.replied();
        }
      },
      close: () => {
        client.close();
        this.sessions.delete(session);
      },
    };
    this.sessions.add(session);
    return session;
  }

  /** Each call waits for the same end. */
  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  private async closeOnce(): Promise<void> {
    this.closed = true;
    for (const deadline of this.running) deadline.abort(nodeClosed());
    for (const session of this.sessions) session.close();
    this.sessions.clear();
    await this.chain.close();
  }

  /** Never called back: a node in this thread fails only with the thread. */
  onFailure(): () => void {
    return () => {};
  }
}
