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
import type { LayerOneSchema } from '../../rpc/schema/rpc-schema.js';
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
import { type Provider, type ProviderEvents, type RequestOptions, TransportProvider } from './provider.js';
import type { Layer, NodeSession, NodeTransport, SessionListener } from './transport.js';

/** An open node, for a page or a program. */
export interface PlumblineNode extends Provider {
  readonly info: NodeInfo;
  /**
   * One chain of a node that was opened with `chains`. It does not switch: `wallet_switchEthereumChain` on the node itself changes which chain
   * the node asks for its caller, not this one. Closing it closes the node.
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
   * As `linea_estimateGas`, with an explanation of the estimate.
   *
   * @param params - the method's parameters
   * @throws ProviderRpcError with the method's codes
   */
  explainEstimate(params: readonly unknown[], options?: RequestOptions & ExplainOptions): Promise<ExplainedEstimate>;
  /**
   * Whether a transaction will be included: each check with its limit and what was found, and what to do next. The rules are those
   * of the network profile at the newest block. What could not be checked is in the answer, as `unknown`.
   *
   * @param transaction - a hash (32 bytes), the signed bytes, or a call object with `from`. What a call leaves out is filled in as
   *   `linea_estimateGas` does, and listed
   * @throws ProviderRpcError -32602 for something else; of the endpoints, where a hash cannot be looked up
   */
  diagnoseTransaction(transaction: Hex | object, options?: RequestOptions): Promise<TransactionDiagnosis>;
  /**
   * Collects what proves an account or a block to a program that trusts one beacon block of layer 1 and asks no endpoint:
   * `verifyEvidence` and `plumbline verify` judge it. Only on a light node that follows layer-1 consensus.
   *
   * @param claim - an account with storage keys, after the newest finalized block; or the number of a block below it
   * @returns JSON of 0.1 to 1 MB
   * @throws ProviderRpcError on other nodes; for a block that the zk state does not hold; of the endpoints
   */
  exportEvidence(claim: EvidenceClaim, options?: RequestOptions): Promise<EvidenceBundle>;
  /**
   * The messages to layer 1 that an address sent, or that are sent to it, in a range of blocks, each with its state: withdrawals are such
   * messages. `proved` of the answer names the blocks whose logs were proved to be complete; of other blocks it says nothing. Only on a
   * light node or a replica of a rollup, with endpoints of layer 1.
   *
   * @param query - the range may have any length, as that of `eth_getLogs`; a longer one takes longer
   * @throws ProviderRpcError -32602 above the head; 4200 on other nodes; of the endpoints
   * @example
   * ```ts
   * const { messages, proved } = await node.messages({ address, fromBlock: head - 1000, toBlock: head });
   * for (const { hash, state } of messages) console.log(hash, state);
   * ```
   */
  messages(query: MessageQuery, options?: RequestOptions): Promise<MessageList>;
  /**
   * Proves that a message can be claimed on layer 1, and makes the transaction that claims it. Layer 1 is read at a block that consensus
   * finalized; without `layerOne.consensus` at one that its endpoints call final, and `layerOne.level` of the answer says so. `status` says
   * what was found.
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
   * Whether a message from layer 1 has arrived on the rollup and was claimed there, proved by the newest zk state that is final.
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
   * Says what calls would do in the next block, before they are signed: who gains and loses what, approvals, contracts, warnings,
   * fees. They run here, in order, each on the state that the one before left. A call that reverts is a result.
   *
   * @param calls - one call, or up to 32. The bytes of a signed transaction will do for a call: they run as they are signed
   * @throws ProviderRpcError -32000 for a call that could not be sent, such as without funds; -32602; of the endpoints
   */
  previewTransaction(
    calls: PreviewCall | Hex | readonly (PreviewCall | Hex)[],
    options?: RequestOptions & PreviewOptions,
  ): Promise<TransactionPreview>;
  /**
   * Says what a signature would allow, before it is given: typed data, a message, an authorization (EIP-7702), or calls (EIP-5792). What
   * it allows is run here, as if the signature were there. Nothing is signed.
   *
   * @throws ProviderRpcError -32602; of the endpoints
   * @example
   * ```ts
   * const { findings } = await node.previewSignature({ typedData }, { account, origin: 'https://app.example.org' });
   * const dangers = findings.filter(({ severity }) => severity === 'danger');
   * if (dangers.length > 0) console.log(dangers);
   * ```
   */
  previewSignature(request: SignatureToPreview, options: RequestOptions & SignatureOptions): Promise<SignaturePreview>;
  /**
   * The address of a name of ENS, read from the state of one block by running the contracts here. Only on a network with ENS: `ethereum`,
   * `sepolia`. No server takes part: a resolver that asks for one (CCIP-Read) gives `notProved`, and never an address.
   *
   * @param name - is normalised first (ENSIP-15)
   * @throws ProviderRpcError -32602 for what is no name; 4200 on a network without ENS (-32604 over HTTP); of the endpoints
   * @example
   * ```ts
   * const found = await node.resolveName('vitalik.eth');
   * if (found.status === 'resolved') console.log(found.address, found.trust.level, found.trust.block.number);
   * ```
   */
  resolveName(name: string, options?: RequestOptions & NameOptions): Promise<NameResolution>;
  /**
   * The name of an address: what its reverse record says, if that name is normalised and resolves to the address in the same block.
   * Otherwise `status` says which of both records is missing or false.
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
   * @param caller - its client and its connection have limits of their own
   */
  handle(request: Request, caller?: HttpCaller): Promise<Response>;
  /** As `handle`, for the simulated layer 1. It also answers GET requests of the beacon API, at any path that ends in one. */
  handleL1(request: Request, caller?: HttpCaller): Promise<Response>;
  /**
   * As `handle`, for a server that has no `Request`: the body of a POST in, status and JSON text out. Verb, host and origin are the server's
   * to check.
   *
   * @param read - text of the body; undefined for one that is cut off or is not UTF-8. It is given a function to call with the length of
   *   each part, which returns false to end the reading
   */
  handleBody(
    read: (onPart: (length: number) => boolean) => Promise<string | 'too-large' | undefined>,
    caller: HttpCaller & {
      readonly signal: AbortSignal | LateSignal;
      /** `l1`: the simulated layer 1 of a devnet. Default `l2`. */
      readonly layer?: 'l2' | 'l1';
    },
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** Options of `handle` and `handleL1`, for code that answers other requests beside them. */
  readonly http: FetchHandlerOptions;
  /** Opens a session with its own subscriptions, such as for one WebSocket connection. @param connection - as for `handle` */
  openSession(listener: SessionListener, connection?: object): NodeSession;
  /**
   * Asks each endpoint of a light node or a replica now, and says what it found: answers or not and why not, chain id, newest block;
   * and which dictionary the node has. The event `status` is sent with each answer, and the first listener of it has it asked.
   * Takes 8 s at most.
   */
  status(options?: RequestOptions): Promise<NodeStatus>;
  /** Whether this node is the writer of its store, or a follower of the node of another page. */
  sharing(options?: RequestOptions): Promise<SharingReport>;
  /** What the node stores: bytes and records by table, budgets, and the browser's figures for this origin. */
  storage(options?: RequestOptions): Promise<StorageReport>;
  /**
   * Deletes everything in the node's database. The node goes on: a devnet from genesis with the options it was opened with, a
   * light node with an empty store.
   *
   * @throws PlumblineError `METHOD_NOT_ENABLED` on a replica; the errors of the store
   */
  clear(options?: RequestOptions): Promise<void>;
  /**
   * Exports a devnet as one file: its blocks and their state changes. If a budget has pruned old blocks, the file also has the
   * newest stored state. The file has a version and a checksum, and every record in it has been decoded.
   *
   * @throws PlumblineError `METHOD_NOT_ENABLED` on other chains; `STORE_UNAVAILABLE` without a store, or while blocks are not
   *   stored; `STORE_CORRUPT` when the store is damaged
   */
  exportChain(options?: RequestOptions): Promise<Uint8Array>;
  /**
   * Replaces the devnet by the one in a file, which needs the same genesis, network and hash scheme. The file is checked from
   * genesis before anything is changed: blocks are linked, state changes lead to the state roots of the blocks, and
   * transactions, senders and receipts match the headers. It is not checked that the transactions make these state changes,
   * because changes made by hand (`anvil_setBalance`) are among them. The zk roots of pruned blocks cannot be checked.
   *
   * An import has no timeout. If it fails, the node stays as it was.
   *
   * @throws PlumblineError `CHAIN_FILE_REFUSED`; `METHOD_NOT_ENABLED` on other chains; the errors of the store
   */
  importChain(file: Uint8Array, options?: RequestOptions): Promise<ChainImport>;
  /** Closes the node. Calls under way are rejected. */
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
      async dispatch(payload: unknown, { signal, ...caller }: Caller & { signal: AbortSignal | LateSignal }) {
        const unreported = caller.unreported && !provider.hears('answer');
        const reply = await node.dispatch(layer, payload, signal, { ...caller, unreported });
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
    this.handleBody = async (read, { layer = 'l2', ...caller }) => {
      loaded ??= await load();
      const { dispatch, options } = layers[layer];
      return loaded.answerPost(dispatch, read, caller, options);
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
