import { isPlumblineError, messageOf } from '../../errors.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { NodeStatus } from '../../rpc/inspection/node-status.js';
import type { AnswerReport } from '../../rpc/protocol/answer-report.js';
import type { Reply } from '../../rpc/protocol/envelope.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions/subscriptions.js';
import type { StoreStatus } from '../../store/store-status.js';
import { PROVIDER_CODES, ProviderRpcError } from './provider-error.js';
import type { Layer, NodeSession, NodeTransport } from './transport.js';

/** A request of EIP-1193. */
export interface RequestArguments {
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** Options of a request. */
export interface RequestOptions {
  /** Aborts the request, and its work where that is possible. */
  readonly signal?: AbortSignal;
}

/** A message of a subscription made by `eth_subscribe`. */
export interface ProviderMessage {
  readonly type: 'eth_subscription';
  readonly data: SubscriptionMessage;
}

/** Events that a node sends: those of EIP-1193, `answer`, `storage` and `status`. */
export interface ProviderEvents {
  connect: { chainId: string };
  disconnect: ProviderRpcError;
  message: ProviderMessage;
  /** Not of EIP-1193: where an answer comes from and how far it is verified. Sent before the request resolves. */
  answer: AnswerReport;
  /**
   * Not of EIP-1193: the status of the store has changed. Also sent once, a turn after the node has opened, when its store was
   * repaired or cannot be used.
   */
  storage: StoreStatus;
  /** Not of EIP-1193: what endpoints answered, and which dictionary the node has (`node.status()`). */
  status: NodeStatus;
}

type Listener<Name extends keyof ProviderEvents> = (event: ProviderEvents[Name]) => void;

/** An EIP-1193 provider over a node. */
export interface Provider {
  /**
   * Calls a JSON-RPC method.
   *
   * @throws ProviderRpcError with the JSON-RPC code that the request has over HTTP, -32601 for an unknown method; 4900 after `close`
   */
  request(args: RequestArguments, options?: RequestOptions): Promise<unknown>;
  on<Name extends keyof ProviderEvents>(name: Name, listener: Listener<Name>): this;
  removeListener<Name extends keyof ProviderEvents>(name: Name, listener: Listener<Name>): this;
}

interface JsonRpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** EIP-1193 over one layer of a transport. `connect` is sent a turn later, so that the caller can add listeners before. */
export class TransportProvider implements Provider {
  private readonly listeners = new Map<keyof ProviderEvents, Set<(event: never) => void>>();
  private nextId = 1;
  private ended = false;
  /** Only of layer 2: the simulated layer 1 has no subscriptions. */
  private readonly session: NodeSession | undefined;

  constructor(
    private readonly transport: NodeTransport,
    private readonly layer: Layer,
  ) {
    if (layer === 'l2') {
      this.session = transport.openSession((data) => this.emit('message', { type: 'eth_subscription', data }));
      transport.onStoreStatus?.((status) => this.emit('storage', status));
    }
    transport.onFailure((error) => this.disconnect(messageOf(error), error));
    setTimeout(() => {
      if (this.ended) return;
      this.emit('connect', { chainId: toQuantity(transport.info.chainId) });
      const { storeStatus: status } = transport;
      if (layer === 'l2' && (status?.reason ?? status?.repaired) !== undefined) this.emit('storage', status!);
    });
  }

  async request({ method, params = [] }: RequestArguments, options: RequestOptions = {}): Promise<unknown> {
    options.signal?.throwIfAborted();
    const body = { jsonrpc: '2.0', id: this.nextId++, method, params };
    let answer: JsonRpcAnswer;
    try {
      const reply = await this.dispatch(body, options.signal);
      this.emitAnswers(reply);
      answer = reply.body as JsonRpcAnswer;
    } catch (error) {
      if (!isPlumblineError(error, 'NODE_CLOSED') && !isPlumblineError(error, 'WORKER_FAILED')) throw error;
      throw new ProviderRpcError(PROVIDER_CODES.disconnected, error.message, undefined, { cause: error });
    }
    if (answer.error === undefined) return answer.result;
    const { code, message, data } = answer.error;
    throw new ProviderRpcError(code, message, data);
  }

  on<Name extends keyof ProviderEvents>(name: Name, listener: Listener<Name>): this {
    const listeners = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, listeners.add(listener as (event: never) => void));
    return this;
  }

  removeListener<Name extends keyof ProviderEvents>(name: Name, listener: Listener<Name>): this {
    this.listeners.get(name)?.delete(listener as (event: never) => void);
    return this;
  }

  /** Sends an `answer` event for each report of a reply. */
  emitAnswers({ reports = [] }: Reply): void {
    for (const report of reports) this.emit('answer', report);
  }

  /** Sends `disconnect`, once. */
  disconnect(reason: string, cause?: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.session?.close();
    this.emit('disconnect', new ProviderRpcError(PROVIDER_CODES.disconnected, reason, undefined, { cause }));
  }

  private dispatch(body: unknown, signal: AbortSignal | undefined): Promise<Reply> {
    return this.session === undefined
      ? this.transport.dispatch(this.layer, body, signal)
      : this.session.dispatch(body, signal);
  }

  protected emit<Name extends keyof ProviderEvents>(name: Name, event: ProviderEvents[Name]): void {
    for (const listener of this.listeners.get(name) ?? []) {
      try {
        (listener as Listener<Name>)(event);
      } catch (error) {
        // An error of a listener must not stop the node or the other listeners.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
