import { createFetchHandler, type FetchHandlerOptions } from '../rpc/http.js';
import type { ExplainedEstimate } from '../rpc/inspect-table.js';
import type { NodeInfo } from './options.js';
import { type Provider, type RequestOptions, TransportProvider } from './provider.js';
import type { Layer, NodeTransport } from './transport.js';

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
  explainEstimate(params: readonly unknown[], options?: RequestOptions): Promise<ExplainedEstimate>;
  /** Answers HTTP requests with JSON-RPC bodies: what a service worker or a server needs. */
  handle(request: Request): Promise<Response>;
  /** As `handle`, for the simulated layer 1. */
  handleL1(request: Request): Promise<Response>;
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
    http: FetchHandlerOptions,
  ) {
    super(node, 'l2');
    this.info = node.info;
    this.l1 = new TransportProvider(node, 'l1');
    this.inspector = new TransportProvider(node, 'inspect');
    const handler = (layer: Layer) =>
      createFetchHandler((payload, call) => node.dispatch(layer, payload, call?.signal), http);
    this.handle = handler('l2');
    this.handleL1 = handler('l1');
  }

  async explainEstimate(params: readonly unknown[], options?: RequestOptions): Promise<ExplainedEstimate> {
    return (await this.inspector.request({ method: 'explainEstimate', params }, options)) as ExplainedEstimate;
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
