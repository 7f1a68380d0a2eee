import type { FaultKind } from './transport/fault.js';

/** One HTTP request, or one request to a provider. Endpoints appear by origin, never with path, query or user. */
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
  /** Of bodies. */
  readonly bytesSent: number;
  /** Of bodies, decompressed, as far as they were read. */
  readonly bytesReceived: number;
  /** What went wrong with the first call of which something did; `aborted` when nobody waited for it any more. */
  readonly fault?: FaultKind | 'aborted';
}

/** An endpoint has begun to fail, or answers again. */
export interface EndpointEvent {
  readonly type: 'degraded' | 'recovered';
  readonly role: string;
  readonly endpoint: string;
  readonly origin: string;
  /** Of `degraded`. */
  readonly kind?: FaultKind;
  readonly reason?: string;
}

/** Who wants to know what goes to endpoints. What it throws is swallowed. */
export interface UpstreamObserver {
  exchange?(record: ExchangeRecord, role: string): void;
  event?(event: EndpointEvent): void;
}
