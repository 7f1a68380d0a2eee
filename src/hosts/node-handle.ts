import { type ExplainedEstimate, type ExplainOptions, explainParams } from '../rpc/explained-estimate.js';
import { createFetchHandler, type FetchHandlerOptions } from '../rpc/http.js';
import type { NodeInfo } from './options.js';
import { type Provider, type RequestOptions, TransportProvider } from './provider.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from './transport.js';

/** An open node as a page or a program holds it. */
export interface PlumblineNode extends Provider {
  readonly info: NodeInfo;
  /** The devnet's simulated layer 1, as a provider of its own. */
  readonly l1: Provider;
  /**
   * As `linea_estimateGas`, with the way the estimate came about.
   *
   * @param params - the method's parameters
   * @throws ProviderRpcError with the method's codes
   */
  explainEstimate(params: readonly unknown[], options?: RequestOptions & ExplainOptions): Promise<ExplainedEstimate>;
  /** Answers HTTP requests with JSON-RPC bodies: what a service worker or a server needs. */
  handle(request: Request): Promise<Response>;
  /** As `handle`, for the simulated layer 1. */
  handleL1(request: Request): Promise<Response>;
  /** Rules of `handle` and `handleL1`, for whoever answers beside them. */
  readonly http: FetchHandlerOptions;
  /** A caller of its own, as one WebSocket connection is: payloads in, replies and messages of its subscriptions out. */
  openSession(listener: SessionListener): NodeSession;
  /** Ends the node. Calls still under way are rejected. */
  close(): Promise<void>;
}

class OpenNode extends TransportProvider implements PlumblineNode {
  readonly info: NodeInfo;
  readonly l1: TransportProvider;
  private readonly inspector: TransportProvider;
  readonly handle: (request: Request) => Promise<Response>;
  readonly handleL1: (request: Request) => Promise<Response>;

  constructor(
    private readonly node: NodeTransport,
    readonly http: FetchHandlerOptions,
  ) {
    super(node, 'l2');
    this.info = node.info;
    this.l1 = new TransportProvider(node, 'l1');
    this.inspector = new TransportProvider(node, 'inspect');
    const handler = (layer: Layer, told: TransportProvider) =>
      createFetchHandler(async (payload, call) => {
        const reply = await node.dispatch(layer, payload, call?.signal);
        told.tell(reply);
        return reply;
      }, http);
    this.handle = handler('l2', this);
    this.handleL1 = handler('l1', this.l1);
  }

  async explainEstimate(
    params: readonly unknown[],
    options: RequestOptions & ExplainOptions = {},
  ): Promise<ExplainedEstimate> {
    const request = { method: 'explainEstimate', params: explainParams(params, options) };
    return (await this.inspector.request(request, options)) as ExplainedEstimate;
  }

  openSession(listener: SessionListener): NodeSession {
    return this.node.openSession(listener);
  }

  async close(): Promise<void> {
    this.disconnect('the node was closed');
    this.l1.disconnect('the node was closed');
    await this.node.close();
  }
}

/** Puts provider and fetch handler over an open node. */
export function nodeHandle(transport: NodeTransport, http: FetchHandlerOptions = {}): PlumblineNode {
  return new OpenNode(transport, http);
}
