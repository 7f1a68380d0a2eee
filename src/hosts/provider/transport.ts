import { PlumblineError } from '../../errors.js';
import type { Hex } from '../../primitives/hex.js';
import type { Reply } from '../../rpc/envelope.js';
import type { Caller } from '../../rpc/http.js';
import type { SubscriptionMessage } from '../../rpc/subscriptions.js';
import type { LateSignal } from '../../scheduling/deadline.js';
import type { StoreStatus, StoreStatusListener } from '../../store/store-status.js';
import type { NodeInfo } from '../options/options.js';

/** The part of a node that a payload is for: the chain, the devnet's simulated layer 1, or the methods of this library. */
export type Layer = 'l2' | 'l1' | 'inspect';

/** A caller with its own subscriptions, such as a provider or a WebSocket. It gets their messages. */
export interface NodeSession {
  /**
   * As `NodeTransport.dispatch`, with `eth_subscribe` and `eth_unsubscribe`.
   *
   * @param unreported - as `PayloadOptions.unreported`; only a node in this thread takes it into account
   */
  dispatch(payload: unknown, signal?: AbortSignal | LateSignal, unreported?: boolean): Promise<Reply>;
  /** Ends its subscriptions. */
  close(): void;
}

/** Called with each event of a session's subscriptions. The reply with the subscription's id is sent before. */
export type SessionListener = (message: SubscriptionMessage) => void;

/** A caller, and the id of the chain that it asks: the first one of the node when left out. */
export interface ChainCaller extends Caller {
  readonly chain?: number | undefined;
}

/** An open node in this thread or elsewhere. It answers parsed JSON-RPC payloads, and never throws for a failing method. */
export interface NodeTransport {
  readonly info: NodeInfo;
  /**
   * @param caller - only a node in this thread tells callers apart; each host passes its `chain` on
   * @throws PlumblineError `NODE_CLOSED`, `WORKER_FAILED`; the signal's reason when aborted
   */
  dispatch(layer: Layer, payload: unknown, signal?: AbortSignal | LateSignal, caller?: ChainCaller): Promise<Reply>;
  /**
   * @param connection - object that stands for the connection: its requests share `connectionGasBudget`
   * @param chain - id of the chain; when left out, it begins with the first one, and `wallet_switchEthereumChain` changes it
   */
  openSession(listener: SessionListener, connection?: object, chain?: number): NodeSession;
  /** Status of the node's store. Undefined while a shared store has no writer. */
  readonly storeStatus?: StoreStatus | undefined;
  /** Calls the listener at each change of `storeStatus`. @returns a function that removes the listener */
  onStoreStatus?(listener: StoreStatusListener): () => void;
  close(): Promise<void>;
  /** Calls the listener once when the node ends without being closed. @returns a function that removes the listener */
  onFailure(listener: (error: Error) => void): () => void;
}

/** A `wallet_switchEthereumChain` that was answered. @source EIP-3326 */
export interface ChainSwitch {
  readonly params: readonly [{ readonly chainId: Hex }];
}

/** Id of the chain that a session has switched to. */
export function switchedTo({ params: [{ chainId }] }: ChainSwitch): number {
  return Number(chainId);
}

/** The error of a request to a node that was closed. */
export function nodeClosed(): PlumblineError<'NODE_CLOSED'> {
  return new PlumblineError('NODE_CLOSED', 'the node was closed; open it again', {});
}

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
