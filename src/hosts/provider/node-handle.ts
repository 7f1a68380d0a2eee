import type { TransactionDiagnosis } from '../../diagnosis/diagnosis.js';
import { invalidParameter } from '../../errors.js';
import type { EvidenceBundle, EvidenceClaim } from '../../evidence/evidence-bundle.js';
import type {
  ClaimOptions,
  ClaimPreparation,
  DepositStatus,
  MessageList,
  MessageQuery,
} from '../../messages/withdrawal.js';
import type { Hex } from '../../primitives/hex.js';
import type { NodeFault } from '../../rpc/envelope.js';
import type { Caller, FetchHandlerOptions, HttpCaller } from '../../rpc/http.js';
import {
  type AddressLookup,
  type ChainImport,
  type ExplainedEstimate,
  type ExplainOptions,
  explainParams,
  type NameOptions,
  type NameResolution,
  type NodeStatus,
  type SharingReport,
  type StorageReport,
  storageResult,
} from '../../rpc/schema/answers.js';
import type {
  PreviewCall,
  PreviewOptions,
  SignatureOptions,
  SignaturePreview,
  SignatureToPreview,
  TransactionPreview,
} from '../../rpc/schema/transaction-preview.js';
import type { LateSignal } from '../../scheduling/deadline.js';
import { loadOnce } from '../../scheduling/load-once.js';
import type { NodeInfo } from '../options/options.js';
import {
  type LayerOneSchema,
  type Provider,
  type ProviderEvents,
  type RequestOptions,
  TransportProvider,
} from './provider.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from './transport.js';

/** An open node, for a page or a program. */
export interface PlumblineNode extends Provider {
  readonly info: NodeInfo;
  /**
   * One chain of a node that was opened with `chains`. It never switches to another chain: `wallet_switchEthereumChain` on the node
   * changes the chain of the node's caller, but not this one. If you close it, you close the node.
   *
   * @param chainId - of one of the chains
   * @throws PlumblineError `INVALID_PARAMETER` for another id
   *
   * @example
   * ```ts
   * const balance = await node.chain(1).request({ method: 'eth_getBalance', params: [address, 'latest'] });
   * ```
   */
  chain(chainId: number): PlumblineNode;
  /** A provider for the devnet's simulated layer 1. */
  readonly l1: Provider<LayerOneSchema>;
  /**
   * Estimates like `linea_estimateGas`, and explains the estimate.
   *
   * @param params - the method's parameters
   * @throws ProviderRpcError with the method's codes
   */
  explainEstimate(params: readonly unknown[], options?: RequestOptions & ExplainOptions): Promise<ExplainedEstimate>;
  /**
   * Says whether a transaction will be included, and what to do next. The answer has each check with its limit and what was found. The
   * rules are those of the network profile at the newest block. If a check could not be made, it is `unknown`.
   *
   * @param transaction - a hash (32 bytes), the signed bytes, or a call object with `from`. Missing fields of a call are filled in as
   *   `linea_estimateGas` does it, and listed
   * @throws ProviderRpcError -32602 for something else; an endpoint's error if a hash cannot be looked up
   */
  diagnoseTransaction(transaction: Hex | object, options?: RequestOptions): Promise<TransactionDiagnosis>;
  /**
   * Collects the proof of an account or a block, for a program that trusts one beacon block of layer 1 and asks no endpoint.
   * `verifyEvidence` and `plumbline verify` verify it. It needs a light node that follows layer-1 consensus.
   *
   * @param claim - an account with storage keys, after the newest finalized block; or the number of a block below it
   * @returns JSON of 0.1 to 1 MB
   * @throws ProviderRpcError on other nodes; if the zk state does not hold the block; errors of the endpoints
   */
  exportEvidence(claim: EvidenceClaim, options?: RequestOptions): Promise<EvidenceBundle>;
  /**
   * Lists the messages to layer 1 that an address sent, or that are sent to it, in a range of blocks. Each message comes with its
   * state. Withdrawals are such messages. `proved` in the answer names the blocks whose logs were proved to be complete. The answer
   * says nothing about other blocks. It needs a light node or a replica of a rollup, with layer-1 endpoints.
   *
   * @param query - the range may have any length, as in `eth_getLogs`. A longer range takes longer
   * @throws ProviderRpcError -32602 above the head; 4200 on other nodes; errors of the endpoints
   * @example
   * ```ts
   * const { messages, proved } = await node.messages({ address, fromBlock: head - 1000, toBlock: head });
   * for (const { hash, state } of messages) console.log(hash, state);
   * ```
   */
  messages(query: MessageQuery, options?: RequestOptions): Promise<MessageList>;
  /**
   * Proves that a message can be claimed on layer 1, and makes the transaction that claims it. Layer 1 is read at a block that
   * consensus finalized. Without `layerOne.consensus`, it is read at a block that layer-1 endpoints call final. `layerOne.level` in
   * the answer says which. `status` says what was found.
   *
   * @param hash - of the message, 32 bytes
   * @throws ProviderRpcError as `messages`
   * @example
   * ```ts
   * const claim = await node.prepareClaim(hash, { fromBlock: sentIn });
   * if (claim.status === 'anchored' && claim.slotsAllow) await wallet.sendTransaction(claim.transaction);
   * ```
   */
  prepareClaim(hash: Hex, options?: RequestOptions & ClaimOptions): Promise<ClaimPreparation>;
  /**
   * Says whether a message from layer 1 has arrived on the rollup and was claimed there. The newest final zk state proves it.
   *
   * @param hash - of the message, 32 bytes; an unknown one is `notReceived`
   * @throws ProviderRpcError as `messages`
   * @example
   * ```ts
   * const { status, zkBlock } = await node.depositStatus(hash);
   * console.log(status, 'after block', zkBlock);
   * ```
   */
  depositStatus(hash: Hex, options?: RequestOptions): Promise<DepositStatus>;
  /**
   * Says what calls would do in the next block, before the user signs: who gains and loses what, approvals, contracts, warnings, fees.
   * The node runs the calls in order, each on the state after the call before it. If a call reverts, the preview says so.
   *
   * @param calls - one call, or up to 32 calls. You can also pass a signed transaction as bytes. It runs as it is signed
   * @throws ProviderRpcError -32000 for a call that could not be sent, for example without funds; -32602; errors of the endpoints
   */
  previewTransaction(
    calls: PreviewCall | Hex | readonly (PreviewCall | Hex)[],
    options?: RequestOptions & PreviewOptions,
  ): Promise<TransactionPreview>;
  /**
   * Says what a signature would allow, before the user signs: typed data, a message, an authorization (EIP-7702), or calls (EIP-5792).
   * The node runs what the signature allows as if the user had signed. It signs nothing.
   *
   * @throws ProviderRpcError -32602; errors of the endpoints
   * @example
   * ```ts
   * const { findings } = await node.previewSignature({ typedData }, { account, origin: 'https://app.example.org' });
   * const dangers = findings.filter(({ severity }) => severity === 'danger');
   * if (dangers.length > 0) console.log(dangers);
   * ```
   */
  previewSignature(request: SignatureToPreview, options: RequestOptions & SignatureOptions): Promise<SignaturePreview>;
  /**
   * Resolves an ENS name. The node runs the ENS contracts on the state of one block. It needs a network with ENS: `ethereum`,
   * `sepolia`. No server takes part: if a resolver asks for one (CCIP-Read), the answer is `notProved`, and never an address.
   *
   * @param name - the node normalises it first (ENSIP-15)
   * @throws ProviderRpcError -32602 if it is not a name; 4200 on a network without ENS (-32604 over HTTP); errors of the endpoints
   * @example
   * ```ts
   * const found = await node.resolveName('vitalik.eth');
   * if (found.status === 'resolved') console.log(found.address, found.trust.level, found.trust.block.number);
   * ```
   */
  resolveName(name: string, options?: RequestOptions & NameOptions): Promise<NameResolution>;
  /**
   * Finds the name of an address: the name in its reverse record, if it is normalised and resolves to the address in the same block.
   * Otherwise `status` says which of the two records is missing or false.
   *
   * @throws ProviderRpcError as `resolveName`
   * @example
   * ```ts
   * const found = await node.lookupAddress('0xd8da6bf26964af9d7eed9e03e53415d37aa96045');
   * if (found.status === 'found') console.log(found.name);
   * ```
   */
  lookupAddress(address: Hex, options?: RequestOptions & NameOptions): Promise<AddressLookup>;
  /**
   * Answers HTTP requests with JSON-RPC bodies, for service workers and servers.
   *
   * @param caller - its client and its connection have their own limits
   */
  handle(request: Request, caller?: HttpCaller): Promise<Response>;
  /**
   * As `handle`, for the simulated layer 1. It also answers GET requests of the beacon API, at any path that ends in a path of that
   * API.
   */
  handleL1(request: Request, caller?: HttpCaller): Promise<Response>;
  /**
   * As `handle`, for a server that has no `Request`. It takes the body of a POST, and returns status and JSON text. The server must
   * check verb, host and origin.
   *
   * @param read - returns the text of the body, or undefined if it is cut off or is not UTF-8. It gets a function that it calls with
   *   the length of each part. If this function returns false, it must stop reading
   */
  handleBody(
    read: (onPart: (length: number) => boolean) => Promise<string | 'too-large' | undefined>,
    caller: HttpCaller & {
      readonly signal: AbortSignal | LateSignal;
      /** `l1`: the simulated layer 1 of a devnet. Default `l2`. */
      readonly layer?: 'l2' | 'l1';
    },
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** The options of `handle` and `handleL1`, for code that also answers other requests. */
  readonly http: FetchHandlerOptions;
  /** Opens a session with its own subscriptions, such as for one WebSocket connection. @param connection - as for `handle` */
  openSession(listener: SessionListener, connection?: object): NodeSession;
  /**
   * Asks each endpoint of a light node or a replica now. For each, it says whether it answers, why not, its chain id and its newest
   * block. It also says which dictionary the node has. Each answer also sends the event `status`. The first listener of this event
   * starts a check. It takes 8 s at most.
   */
  status(options?: RequestOptions): Promise<NodeStatus>;
  /** Says whether this node is the writer of its store, or follows the node of another page. */
  sharing(options?: RequestOptions): Promise<SharingReport>;
  /** Says what the node stores: bytes and records of each table, budgets, and the browser's figures for this origin. */
  storage(options?: RequestOptions): Promise<StorageReport>;
  /**
   * Deletes everything in the node's database. The node goes on: a devnet from genesis with the options with which it was opened, a
   * light node with an empty store.
   *
   * @throws PlumblineError `METHOD_NOT_ENABLED` on a replica; the errors of the store
   */
  clear(options?: RequestOptions): Promise<void>;
  /**
   * Exports a devnet as one file: its blocks and their state changes. If old blocks were deleted to keep a budget, the file also has
   * the newest stored state. The file has a version and a checksum. Every record in it was decoded as a check.
   *
   * @throws PlumblineError `METHOD_NOT_ENABLED` on other chains; `STORE_UNAVAILABLE` if there is no store, or if blocks are not stored
   *   yet; `STORE_CORRUPT` if the store is damaged
   */
  exportChain(options?: RequestOptions): Promise<Uint8Array>;
  /**
   * Replaces the devnet with the one in a file. The file must have the same genesis, network and hash scheme. It is checked from
   * genesis on before anything is changed: blocks must be linked, state changes must lead to the state roots of the blocks, and
   * transactions, senders and receipts must match the headers. The import does not check that the transactions make these state
   * changes, because they also contain changes made by hand (`anvil_setBalance`). The zk roots of pruned blocks cannot be checked.
   *
   * An import has no timeout. If it fails, the node stays as it was.
   *
   * @throws PlumblineError `CHAIN_FILE_REFUSED`; `METHOD_NOT_ENABLED` on other chains; the errors of the store
   */
  importChain(file: Uint8Array, options?: RequestOptions): Promise<ChainImport>;
  /** Closes the node. Open calls are rejected. */
  close(): Promise<void>;
}

class OpenNode extends TransportProvider implements PlumblineNode {
  readonly info: NodeInfo;
  readonly l1: TransportProvider;
  private readonly inspector: TransportProvider;
  private firstStatus: Promise<unknown> | undefined;
  private readonly chains = new Map<number, OpenNode>();
  readonly handle: PlumblineNode['handle'];
  readonly handleL1: PlumblineNode['handle'];
  readonly handleBody: PlumblineNode['handleBody'];

  constructor(
    private readonly node: NodeTransport,
    readonly http: FetchHandlerOptions,
  ) {
    super(node, 'l2');
    this.info = node.info;
    this.l1 = new TransportProvider(node, 'l1');
    this.inspector = new TransportProvider(
      node.info.chains === undefined ? node : viewOf(node, node.info, () => Number(this.chainId)),
      'inspect',
    );
    this.inspector.on('error', (fault) => this.emit('error', fault));
    const load = loadOnce(() => import('../../rpc/http.js'));
    const answering = (layer: Layer, provider: TransportProvider) => ({
      options: {
        ...http,
        beacon: layer === 'l1',
        onFault: (fault: NodeFault) => void provider.emitChanges({ body: undefined, faults: [fault] }),
      },
      async dispatch(payload: unknown, caller: Caller & { signal: AbortSignal | LateSignal }) {
        const { client, connection, signal } = caller;
        const unreported = caller.unreported && !provider.hears('answer');
        const reply = await node.dispatch(layer, payload, signal, { client, connection, unreported });
        if (reply.reports !== undefined || reply.faults !== undefined) await provider.emitAnswers(reply);
        return reply;
      },
    });
    const layers = { l2: answering('l2', this), l1: answering('l1', this.l1) };
    const handler = ({ dispatch, options }: ReturnType<typeof answering>): PlumblineNode['handle'] => {
      const made = loadOnce(async () => (await load()).createFetchHandler(dispatch, options));
      return async (request, caller) => (await made())(request, caller);
    };
    this.handle = handler(layers.l2);
    this.handleL1 = handler(layers.l1);
    let loaded: Awaited<ReturnType<typeof load>> | undefined;
    this.handleBody = (read, caller) => {
      const { dispatch, options } = layers[caller.layer ?? 'l2'];
      if (loaded !== undefined) return loaded.answerPost(dispatch, read, caller, options);
      return load().then((http) => {
        loaded = http;
        return http.answerPost(dispatch, read, caller, options);
      });
    };
  }

  chain(chainId: number): PlumblineNode {
    const known = this.chains.get(chainId);
    if (known !== undefined) return known;
    const { info } = this;
    const own = (info.chains ?? [info]).find((one) => one.chainId === chainId);
    if (own === undefined) throw invalidParameter('chainId', `must be the id of a chain of this node: ${idsOf(info)}`);
    const one = new OpenNode(
      viewOf(
        this.node,
        own,
        () => chainId,
        () => this.close(),
      ),
      this.http,
    );
    this.chains.set(chainId, one);
    return one;
  }

  async explainEstimate(
    params: readonly unknown[],
    options: RequestOptions & ExplainOptions = {},
  ): Promise<ExplainedEstimate> {
    return (await this.inspect('explainEstimate', explainParams(params, options), options)) as ExplainedEstimate;
  }

  async diagnoseTransaction(transaction: Hex | object, options?: RequestOptions): Promise<TransactionDiagnosis> {
    return (await this.inspect('diagnoseTransaction', [transaction], options)) as TransactionDiagnosis;
  }

  async exportEvidence(claim: EvidenceClaim, options?: RequestOptions): Promise<EvidenceBundle> {
    return (await this.inspect('exportEvidence', [claim], options)) as EvidenceBundle;
  }

  async messages(query: MessageQuery, options?: RequestOptions): Promise<MessageList> {
    return (await this.inspect('messages', [query], options)) as MessageList;
  }

  async prepareClaim(hash: Hex, { signal, ...options }: RequestOptions & ClaimOptions = {}): Promise<ClaimPreparation> {
    return (await this.inspect('prepareClaim', [hash, options], signal && { signal })) as ClaimPreparation;
  }

  async depositStatus(hash: Hex, { signal }: RequestOptions = {}): Promise<DepositStatus> {
    return (await this.inspect('depositStatus', [hash], signal && { signal })) as DepositStatus;
  }

  async previewTransaction(
    calls: PreviewCall | Hex | readonly (PreviewCall | Hex)[],
    { signal, ...options }: RequestOptions & PreviewOptions = {},
  ): Promise<TransactionPreview> {
    const result = await this.inspect('previewTransaction', [calls, options], signal && { signal });
    return result as TransactionPreview;
  }

  previewSignature(
    request: SignatureToPreview,
    { signal, ...options }: RequestOptions & SignatureOptions,
  ): Promise<SignaturePreview> {
    return this.request({ method: 'plumbline_previewSignature', params: [request, options] }, signal && { signal });
  }

  resolveName(name: string, { signal, ...options }: RequestOptions & NameOptions = {}): Promise<NameResolution> {
    return this.request({ method: 'plumbline_resolveName', params: [name, options] }, signal && { signal });
  }

  lookupAddress(address: Hex, { signal, ...options }: RequestOptions & NameOptions = {}): Promise<AddressLookup> {
    return this.request({ method: 'plumbline_lookupAddress', params: [address, options] }, signal && { signal });
  }

  async status(options?: RequestOptions): Promise<NodeStatus> {
    const status = (await this.inspect('status', [], options)) as NodeStatus;
    this.emit('status', status);
    return status;
  }

  override on<Name extends keyof ProviderEvents>(name: Name, listener: (event: ProviderEvents[Name]) => void): this {
    super.on(name, listener);
    if (name === 'status') this.firstStatus ??= this.status().catch(() => undefined);
    return this;
  }

  async sharing(options?: RequestOptions): Promise<SharingReport> {
    return (await this.inspect('sharing', [], options)) as SharingReport;
  }

  async storage(options?: RequestOptions): Promise<StorageReport> {
    return (await this.storageRequest('storage', [], options)) as StorageReport;
  }

  async clear(options?: RequestOptions): Promise<void> {
    await this.storageRequest('clear', [], options);
  }

  async exportChain(options?: RequestOptions): Promise<Uint8Array> {
    return (await this.storageRequest('exportChain', [], options)) as Uint8Array;
  }

  async importChain(file: Uint8Array, options?: RequestOptions): Promise<ChainImport> {
    return (await this.storageRequest('importChain', [file], options)) as ChainImport;
  }

  private async storageRequest(method: string, params: readonly unknown[], options?: RequestOptions): Promise<unknown> {
    return storageResult(await this.inspect(method, params, options));
  }

  private inspect(method: string, params: readonly unknown[], options?: RequestOptions): Promise<unknown> {
    return this.inspector.request({ method, params }, options);
  }

  openSession(listener: SessionListener, connection?: object): NodeSession {
    const session = this.node.openSession(listener, connection);
    return {
      dispatch: async (payload, signal, unreported) => {
        const reply = await session.dispatch(payload, signal, unreported);
        if (reply.reports !== undefined || reply.faults !== undefined) await this.emitChanges(reply);
        return reply;
      },
      close: () => session.close(),
    };
  }

  async close(): Promise<void> {
    this.disconnect('the node was closed');
    this.l1.disconnect('the node was closed');
    for (const one of this.chains.values()) one.disconnect('the node was closed');
    await this.node.close();
  }
}

/** One chain of a node. @param chain - id of the chain that a request is for */
function viewOf(node: NodeTransport, info: NodeInfo, chain: () => number, close = () => node.close()): NodeTransport {
  return {
    info,
    get storeStatus() {
      return node.storeStatus;
    },
    onStoreStatus: (listener) => node.onStoreStatus?.(listener) ?? (() => {}),
    dispatch: (layer, payload, signal, caller) => node.dispatch(layer, payload, signal, { ...caller, chain: chain() }),
    openSession: (listener, connection) => node.openSession(listener, connection, chain()),
    close,
    onFailure: (listener) => node.onFailure(listener),
  };
}

function idsOf({ chainId, chains = [] }: NodeInfo): string {
  return chains.length === 0 ? `${chainId}` : chains.map((one) => one.chainId).join(', ');
}

/** Makes a provider and fetch handlers of an open node. */
export function nodeHandle(transport: NodeTransport, http: FetchHandlerOptions = {}): PlumblineNode {
  return new OpenNode(transport, http);
}
