import { createFetchHandler, type FetchHandlerOptions } from '../../rpc/http/http.js';
import { type ExplainedEstimate, type ExplainOptions, explainParams } from '../../rpc/inspection/explained-estimate.js';
import type { SharingReport } from '../../rpc/inspection/sharing-report.js';
import type { ChainImport, StorageReport } from '../../rpc/inspection/storage-control.js';
import { storageResult } from '../../rpc/inspection/storage-result.js';
import type { NodeInfo } from '../options/options.js';
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
  /** Whether this node writes to its store, or another page's does and answers for it. */
  sharing(options?: RequestOptions): Promise<SharingReport>;
  /** What the node keeps: bytes and records by table, budgets, and what the browser says of this origin. */
  storage(options?: RequestOptions): Promise<StorageReport>;
  /**
   * Deletes everything in the node's database. The node works on: a devnet from genesis, with the options it was opened with; a
   * light node with an empty store.
   *
   * @throws PlumblineError `METHOD_NOT_ENABLED` on a replica; of the store
   */
  clear(options?: RequestOptions): Promise<void>;
  /**
   * A devnet as one file: its blocks and what they changed; where a budget has made it forget old ones, its newest stored
   * state as well. The file has a version and a checksum, and every record in it has been decoded.
   *
   * @throws PlumblineError `METHOD_NOT_ENABLED` on other chains; `STORE_UNAVAILABLE` without a store, or while it lacks
   *   blocks; `STORE_CORRUPT` when it was damaged
   */
  exportChain(options?: RequestOptions): Promise<Uint8Array>;
  /**
   * Replaces the devnet by the one of a file: of the same genesis, network and hash scheme. Before anything is changed, the
   * file is opened anew from genesis: blocks are linked, what they changed leads to the roots that they name, transactions,
   * senders and receipts are those of their headers. Not checked is that the transactions make these changes, because those
   * a developer has made by hand are among them; nor, where old blocks were forgotten, the zk roots of that time.
   *
   * It takes as long as it takes, and has no time-out. An import that fails leaves the node as it was.
   *
   * @throws PlumblineError `CHAIN_FILE_REFUSED`; `METHOD_NOT_ENABLED` on other chains; of the store
   */
  importChain(file: Uint8Array, options?: RequestOptions): Promise<ChainImport>;
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

  async sharing(options?: RequestOptions): Promise<SharingReport> {
    return (await this.inspector.request({ method: 'sharing' }, options)) as SharingReport;
  }

  async storage(options?: RequestOptions): Promise<StorageReport> {
    return (await this.keeper('storage', [], options)) as StorageReport;
  }

  async clear(options?: RequestOptions): Promise<void> {
    await this.keeper('clear', [], options);
  }

  async exportChain(options?: RequestOptions): Promise<Uint8Array> {
    return (await this.keeper('exportChain', [], options)) as Uint8Array;
  }

  async importChain(file: Uint8Array, options?: RequestOptions): Promise<ChainImport> {
    return (await this.keeper('importChain', [file], options)) as ChainImport;
  }

  private async keeper(method: string, params: readonly unknown[], options?: RequestOptions): Promise<unknown> {
    return storageResult(await this.inspector.request({ method, params }, options));
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
