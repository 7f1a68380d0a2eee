import { isPlumblineError, messageOf } from '../../errors.js';
import type { Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { AnswerReport } from '../../rpc/answer-report.js';
import type { NodeFault, Reply, RpcFailure } from '../../rpc/envelope.js';
import type { NodeStatus } from '../../rpc/schema/answers.js';
import type { PlainHex } from '../../rpc/schema/json.js';
import type { ChainSchema, DevnetSchema, WalletSchema } from '../../rpc/schema/methods.generated.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions.js';
import type { StoreStatus } from '../../store/store-status.js';
import { disconnected, PROVIDER_CODES, ProviderRpcError } from './provider-error.js';
import type { Layer, NodeSession, NodeTransport } from './transport.js';

/** A request of EIP-1193. */
export interface RequestArguments {
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** A method that the types do not know, for `request<UntypedMethod>(…)`. If you know more about it, extend this type. */
export interface UntypedMethod extends MethodType {
  readonly method: string;
}

/** Methods by name, with parameters and results. */
type SchemaOf<Methods> = { readonly [Name in keyof Methods]: MethodType };

/** The parameters of a method; they may be left out where none is required. */
type ParamsOf<Methods extends SchemaOf<Methods>> = {
  readonly [Name in keyof Methods]: [] extends Methods[Name]['params']
    ? { readonly params?: Readonly<PlainHex<Methods[Name]['params']>> }
    : { readonly params: Readonly<PlainHex<Methods[Name]['params']>> };
};

/** Options of a request. */
export interface RequestOptions {
  /** Aborts the request, and its work if that is possible. */
  readonly signal?: AbortSignal;
}

/** Options of `request`. */
export interface AnswerOptions extends RequestOptions {
  /** Called before the request resolves, with the same report as the event `answer`. */
  readonly onAnswer?: (report: AnswerReport) => void;
}

/** A message of a subscription made by `eth_subscribe`. */
export interface ProviderMessage {
  readonly type: 'eth_subscription';
  readonly data: SubscriptionMessage;
}

/** Events that a node sends: those of EIP-1193, `answer`, `storage`, `status` and `error`. */
export interface ProviderEvents {
  /** Sent when the node is open. Sent again when a page without permission gets accounts, as wallets do. */
  connect: { chainId: string };
  disconnect: ProviderRpcError;
  message: ProviderMessage;
  /**
   * The accounts of `eth_accounts` have changed, because of `wallet_requestPermissions`, `wallet_revokePermissions` or
   * `eth_requestAccounts`.
   */
  accountsChanged: readonly Hex[];
  /**
   * `eth_chainId` has changed: because of `anvil_setChainId`, through this node or its HTTP and WebSocket server; or, on a node with
   * several chains, because of a `wallet_switchEthereumChain` of this provider.
   */
  chainChanged: Hex;
  /** Not part of EIP-1193: where an answer comes from, and how far it is verified. Sent before the request resolves. */
  answer: AnswerReport;
  /**
   * Not part of EIP-1193: the status of the store has changed. Also sent once, just after the node has opened, if its store was
   * repaired or cannot be used.
   */
  storage: StoreStatus;
  /** Not part of EIP-1193: what endpoints answered, and which dictionary the node has (`node.status()`). */
  status: NodeStatus;
  /**
   * Not part of EIP-1193: the exception behind an answer `Internal error (id …)`. The client of the request does not see it. Sent
   * before the request rejects.
   */
  error: NodeFault;
}

type Listener<Name extends keyof ProviderEvents> = (event: ProviderEvents[Name]) => void;

/** An EIP-1193 provider of a node. `Methods`: the methods that `request` knows, by name. */
export interface Provider<Methods extends SchemaOf<Methods> = RpcSchema> {
  /**
   * Calls a JSON-RPC method. A name that is not in `Methods` does not compile. To call such a method, pass a type:
   * `request<UntypedMethod>({ method, params })`. The type of a result is that of a node that follows the specification.
   *
   * @throws ProviderRpcError with the same JSON-RPC code as over HTTP, such as -32601 for an unknown method; 4200 (EIP-1193) for a
   *   method that this kind of node does not have (over HTTP: -32604); 4900 after `close`
   */
  request<Custom extends UntypedMethod = never>(
    args: { readonly method: Custom['method']; readonly params?: Custom['params'] },
    options?: AnswerOptions,
  ): Promise<Custom['result']>;
  request<Name extends keyof Methods>(
    args: { readonly method: Name } & ParamsOf<Methods>[Name],
    options?: AnswerOptions,
  ): Promise<Methods[Name]['result']>;
  on<Name extends keyof ProviderEvents>(name: Name, listener: Listener<Name>): this;
  removeListener<Name extends keyof ProviderEvents>(name: Name, listener: Listener<Name>): this;
}

type JsonRpcAnswer = { readonly error?: undefined; readonly result: unknown } | RpcFailure;

/** The method exists, and this kind of node does not have it. */
const NOT_ENABLED = -32604;

/** Methods that may change which chain a provider has. */
const CHANGES_CHAIN = new Set(['anvil_setChainId', 'wallet_switchEthereumChain']);

/** Methods that may change which accounts a provider sees. */
const CHANGES_ACCOUNTS = new Set(['eth_requestAccounts', 'wallet_requestPermissions', 'wallet_revokePermissions']);

/** EIP-1193 over one layer of a transport. `connect` is sent a turn later, so that the caller can add listeners before. */
export class TransportProvider implements Provider {
  private readonly listeners = new Map<keyof ProviderEvents, Set<(event: never) => void>>();
  private nextId = 1;
  private ended = false;
  /** As events say it. */
  protected chainId: Hex;
  /** Only of layer 2: the simulated layer 1 has no subscriptions. */
  private readonly session: NodeSession | undefined;
  private readonly dispatch: NodeSession['dispatch'];

  constructor(transport: NodeTransport, layer: Layer) {
    this.chainId = toQuantity(transport.info.chainId);
    if (layer === 'l2') {
      this.session = transport.openSession((data) => this.emit('message', { type: 'eth_subscription', data }));
      transport.onStoreStatus?.((status) => this.emit('storage', status));
    }
    this.dispatch = this.session?.dispatch ?? ((body, signal) => transport.dispatch(layer, body, signal));
    transport.onFailure((error) => this.disconnect(messageOf(error), error));
    setTimeout(() => {
      if (this.ended) return;
      this.emit('connect', { chainId: this.chainId });
      const { storeStatus: status } = transport;
      if (layer === 'l2' && (status?.reason ?? status?.repaired) !== undefined) this.emit('storage', status!);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of `Provider` say what type the result has.
  async request(args: RequestArguments, options: AnswerOptions = {}): Promise<any> {
    options.signal?.throwIfAborted();
    if (!CHANGES_ACCOUNTS.has(args.method)) return this.ask(args, options);
    const before = await this.read<readonly Hex[]>('eth_accounts');
    const result = await this.ask(args, options);
    const after = await this.read<readonly Hex[]>('eth_accounts');
    if (after === undefined || after.join() === before?.join()) return result;
    if (before?.length === 0) this.emit('connect', { chainId: this.chainId });
    this.emit('accountsChanged', after);
    return result;
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

  /** Whether somebody listens for an event. */
  hears(name: keyof ProviderEvents): boolean {
    return (this.listeners.get(name)?.size ?? 0) > 0;
  }

  /** Sends an `answer` event for each report of a reply, an `error` event for each fault, then `chainChanged`. */
  async emitAnswers(reply: Reply): Promise<void> {
    for (const report of reply.reports ?? []) this.emit('answer', report);
    await this.emitChanges(reply);
  }

  /** The same without `answer`, for the requests of others. @source EIP-1193, "chainChanged" */
  async emitChanges({ reports = [], faults = [] }: Reply): Promise<void> {
    for (const fault of faults) this.emit('error', fault);
    if (!reports.some(({ method, errorCode }) => CHANGES_CHAIN.has(method) && errorCode === undefined)) return;
    const id = await this.read<Hex>('eth_chainId');
    if (id === undefined || id === this.chainId) return;
    this.chainId = id;
    this.emit('chainChanged', id);
  }

  /** Sends `disconnect`, once. */
  disconnect(reason: string, cause?: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.session?.close();
    this.emit('disconnect', disconnected(reason, cause));
  }

  private async ask({ method, params = [] }: RequestArguments, { signal, onAnswer }: AnswerOptions): Promise<unknown> {
    let answer: JsonRpcAnswer;
    try {
      const reply = await this.dispatch(this.requestOf(method, params), signal);
      for (const report of reply.reports ?? []) onAnswer?.(report);
      await this.emitAnswers(reply);
      answer = reply.body as JsonRpcAnswer;
    } catch (error) {
      if (!isPlumblineError(error, 'NODE_CLOSED') && !isPlumblineError(error, 'WORKER_FAILED')) throw error;
      throw disconnected(error.message, error);
    }
    if (answer.error === undefined) return answer.result;
    const { code } = answer.error;
    throw new ProviderRpcError({
      ...answer.error,
      code: code === NOT_ENABLED ? PROVIDER_CODES.unsupportedMethod : code,
    });
  }

  /** What a method without parameters answers to this provider, without events. Undefined if it cannot be asked. */
  private async read<Result>(method: string): Promise<Result | undefined> {
    const reply = await this.dispatch(this.requestOf(method, [])).catch(() => undefined);
    const answer = reply?.body as JsonRpcAnswer | undefined;
    return answer?.error === undefined ? (answer?.result as Result | undefined) : undefined;
  }

  private requestOf(method: string, params: readonly unknown[]): object {
    return { jsonrpc: '2.0', id: this.nextId++, method, params };
  }

  protected emit<Name extends keyof ProviderEvents>(name: Name, event: ProviderEvents[Name]): void {
    for (const listener of this.listeners.get(name) ?? []) {
      try {
        (listener as Listener<Name>)(event);
      } catch (error) {
        // An error of a listener must not stop the node or the other listeners.
        setTimeout(() => {
          throw error;
        });
      }
    }
  }
}

/** Parameters and result of one method. */
export interface MethodType {
  readonly params: readonly unknown[];
  readonly result: unknown;
}

/** The methods of a node, by name, with parameters and results. */
export interface RpcSchema extends ChainSchema, DevnetSchema, WalletSchema {
  l2_estimateGas: ChainSchema['linea_estimateGas'];
  l2_getProof: ChainSchema['linea_getProof'];
}

/** The methods of a devnet's simulated layer 1, and its beacon API. */
export interface LayerOneSchema
  extends Pick<
    RpcSchema,
    | 'debug_traceCall'
    | 'debug_traceTransaction'
    | 'eth_accounts'
    | 'eth_blockNumber'
    | 'eth_call'
    | 'eth_chainId'
    | 'eth_createAccessList'
    | 'eth_estimateGas'
    | 'eth_feeHistory'
    | 'eth_gasPrice'
    | 'eth_getBalance'
    | 'eth_getBlockByHash'
    | 'eth_getBlockByNumber'
    | 'eth_getBlockReceipts'
    | 'eth_getCode'
    | 'eth_getLogs'
    | 'eth_getProof'
    | 'eth_getStorageAt'
    | 'eth_getTransactionByHash'
    | 'eth_getTransactionCount'
    | 'eth_getTransactionReceipt'
    | 'eth_maxPriorityFeePerGas'
    | 'eth_sendRawTransaction'
    | 'eth_sendTransaction'
    | 'evm_mine'
    | 'net_version'
    | 'web3_clientVersion'
  > {
  /** Parameters: path and query of the beacon API, and whether objects should be SSZ bytes in hex. Result: status and body. */
  beacon_get: { params: [target: string, form?: 'json' | 'ssz']; result: unknown };
}
