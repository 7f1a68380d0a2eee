import type { FaultKind } from './transport/fault.js';

/** One HTTP request, or one request to a provider. Endpoints are named by origin, never with path, query or user. */
export interface ExchangeRecord {
  /** Name of the endpoint within its group. */
  readonly endpoint: string;
  readonly origin: string;
  /** Methods of the calls it carried. */
  readonly methods: readonly string[];
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status?: number;
  /** Bytes of bodies. */
  readonly bytesSent: number;
  /** Bytes of bodies that were read, decompressed. */
  readonly bytesReceived: number;
  /** Fault of the first call that had one; `aborted` if no caller waited for the answer any more. */
  readonly fault?: FaultKind | 'aborted';
}

/** An endpoint began to fail, or answers again. */
export interface EndpointEvent {
  readonly type: 'degraded' | 'recovered';
  readonly role: string;
  readonly endpoint: string;
  readonly origin: string;
  /** Set for `degraded`. */
  readonly kind?: FaultKind;
  readonly reason?: string;
}

/** Observes requests to endpoints. Errors that it throws are ignored. */
export interface UpstreamObserver {
  exchange?(record: ExchangeRecord, role: string): void;
  event?(event: EndpointEvent): void;
}
