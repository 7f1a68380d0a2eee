import type { UpstreamReason } from '../../errors.js';

/**
 * Why an endpoint gave no answer to a call.
 *
 * - `configuration`: it will not serve us (key, plan, address); asking again is of no use
 * - `rate-limited`: it asks us to wait
 * - `timed-out`, `unavailable`: nothing came, or it says that it cannot serve now
 * - `malformed`: what came is not an answer
 * - `rejected`: the caller refused the answer
 */
export type FaultKind = UpstreamReason['kind'];

/** What went wrong at an endpoint. */
export interface Fault {
  readonly kind: FaultKind;
  /** Words of ours, or redacted ones of the endpoint. */
  readonly reason: string;
  /** HTTP status, when there was one. */
  readonly status?: number;
  /** Of `configuration`: what stands in the way may be gone with the next request. */
  readonly mayPass?: boolean;
  /** How long the endpoint asks us to stay away. */
  readonly retryAfterMs?: number;
}

/** The `error` member of a JSON-RPC answer, redacted. */
export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What one endpoint made of one call. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: RpcErrorBody }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** An answer, good or bad; only faults are left out. */
export type Answer = Exclude<Outcome, { readonly kind: 'fault' }>;

/** An endpoint as callers see it. */
export interface EndpointInfo {
  /** Its origin; `#2` and so on behind it where a group has several of one origin. */
  readonly id: string;
  readonly origin: string;
}

/** How far one endpoint has come with one request. */
export interface Failure {
  readonly fault: Fault;
  /** Whether it is of no use to ask this endpoint again. */
  readonly isFinal: boolean;
  /** What is thrown when no endpoint did better. */
  readonly error?: unknown;
}

/** One method call. */
export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The outcome of a call that met a fault. */
export function faultOutcome(kind: FaultKind, reason: string, more: Partial<Fault> = {}): Outcome {
  return { kind: 'fault', fault: { kind, reason, ...more } };
}

/** An outcome of each of `calls`, all alike. */
export function forAll(calls: readonly Call[], outcome: Outcome): Outcome[] {
  return calls.map(() => outcome);
}
