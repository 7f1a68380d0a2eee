import type { UpstreamReason } from '../../errors.js';

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

/** The reason of a fault `timed-out`. */
export function hanging(timeoutMs: number): string {
  return `no answer in ${timeoutMs} ms; it hangs: raise timeoutMs, or give another endpoint`;
}

/** The same outcome for each of `calls`. */
export function forAll(calls: readonly Call[], outcome: Outcome): Outcome[] {
  return calls.map(() => outcome);
}
