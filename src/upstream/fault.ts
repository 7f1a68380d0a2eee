import type { UpstreamReason } from '../errors.js';

/**
 * Why an endpoint gave no answer to a call.
 *
 * - `configuration`: it refuses to serve this node (key, plan, address); asking again does not help
 * - `rate-limited`: it asks to wait
 * - `timed-out`, `unavailable`: no answer arrived, or it cannot serve now
 * - `malformed`: the body is not a JSON-RPC answer
 * - `rejected`: the answer was checked and refused
 */
export type FaultKind = UpstreamReason['kind'];

/** A fault of an endpoint. */
export interface Fault {
  readonly kind: FaultKind;
  /** Own text, or redacted text of the endpoint. */
  readonly reason: string;
  /** HTTP status, if there was one. */
  readonly status?: number;
  /** Of `configuration`: whether the next request may succeed. */
  readonly mayPass?: boolean;
  /** How long the endpoint asks to wait, milliseconds. */
  readonly retryAfterMs?: number;
}

/** The `error` member of a JSON-RPC answer, redacted. */
export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The outcome of one call at one endpoint. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: RpcErrorBody }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** A result or a JSON-RPC error, not a fault. */
export type Answer = Exclude<Outcome, { readonly kind: 'fault' }>;

/** An endpoint as callers see it. */
export interface EndpointInfo {
  /** Its origin; with `#2` and so on if a group has several endpoints of one origin. */
  readonly id: string;
  readonly origin: string;
}

/** How a request failed at one endpoint. */
export interface Failure {
  readonly fault: Fault;
  /** Whether asking this endpoint again cannot help. */
  readonly isFinal: boolean;
  /** The error to throw if no endpoint succeeds. */
  readonly error?: unknown;
}

/** One method call. */
export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** An outcome that is a fault. */
export function faultOutcome(kind: FaultKind, reason: string, more: Partial<Fault> = {}): Outcome {
  return { kind: 'fault', fault: { kind, reason, ...more } };
}

/** Characters that move a cursor, change the direction of a text, or end a line. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const MOST_WORDS = 200;

/** Words of an endpoint as a part of a message: marked as its words, in one line, cut. @param words - redacted */
function quoted(words: string): string {
  const cut = words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS)}…` : words;
  return `"${cut.replace(CONTROLS, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)}"`;
}

/** The reason of a fault that an endpoint has explained. */
export function saying(words: string): string {
  return words === '' ? 'it gives no reason' : `it says ${quoted(words)}`;
}

/** Methods whose last parameter is a block. */
const AT_A_BLOCK =
  /^(?:eth_(?:call|estimateGas|createAccessList|get(?:Balance|Code|Proof|StorageAt|TransactionCount))|linea_getProof)$/;

/** The block that a call asks about, as it names it. */
export function blockOf({ method, params }: Call): string | undefined {
  const [first] = params;
  if (method === 'eth_getLogs') {
    const { blockHash, fromBlock, toBlock } = first as { blockHash?: string; fromBlock?: string; toBlock?: string };
    return blockHash ?? `${fromBlock} to ${toBlock}`;
  }
  const named = AT_A_BLOCK.test(method) ? params.at(-1) : /^eth_getBlock/.test(method) ? first : undefined;
  if (typeof named === 'string') return named;
  const { blockHash, blockNumber } = (named ?? {}) as { blockHash?: string; blockNumber?: string };
  return blockHash ?? blockNumber;
}

/** The reason of a fault `timed-out`. */
export function hanging(timeoutMs: number): string {
  return `no answer in ${timeoutMs} ms; it hangs: raise timeoutMs, or give another endpoint`;
}

/** The same outcome for each of `calls`. */
export function forAll(calls: readonly Call[], outcome: Outcome): Outcome[] {
  return calls.map(() => outcome);
}

/** Result of one exchange with an endpoint. */
export interface Exchange {
  /**
   * One outcome for each call, in their order; or the new batch limit, if the endpoint refused the batch; or `byMethod`, if it may
   * have refused one of its methods: the outcomes if there is only one.
   */
  readonly reply: readonly Outcome[] | { readonly batchLimit: number } | { readonly byMethod: readonly Outcome[] };
  readonly status?: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** Sends calls to one endpoint. It does not wait or retry. */
export interface Transport {
  /** Without secrets. */
  readonly origin: string;
  /** Most calls in one exchange. */
  readonly batchLimit: number;
  /** @throws only the reason of `signal` */
  exchange(calls: readonly Call[], signal: AbortSignal): Promise<Exchange>;
}
