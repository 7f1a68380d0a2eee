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

export interface EndpointTotals {
  /** HTTP requests. */
  readonly requests: number;
  /** Method calls in them. */
  readonly calls: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Requests with something wrong. */
  readonly faults: number;
}

/** Totals over all that was sent. */
export interface UpstreamStatistics extends UpstreamObserver {
  exchange(record: ExchangeRecord, role: string): void;
  readonly totals: EndpointTotals;
  /** By origin. */
  readonly byOrigin: ReadonlyMap<string, EndpointTotals>;
  /** Sequential round trips: requests that ran at the same time count once. */
  readonly roundTrips: number;
  reset(): void;
}

const NOTHING: EndpointTotals = { requests: 0, calls: 0, bytesSent: 0, bytesReceived: 0, faults: 0 };

export function createStatistics(): UpstreamStatistics {
  let totals = NOTHING;
  let roundTrips = 0;
  let lastCounted = Number.NEGATIVE_INFINITY;
  const byOrigin = new Map<string, EndpointTotals>();
  return {
    get totals() {
      return totals;
    },
    get roundTrips() {
      return roundTrips;
    },
    byOrigin,
    exchange(record) {
      totals = add(totals, record);
      byOrigin.set(record.origin, add(byOrigin.get(record.origin) ?? NOTHING, record));
      // Records come in the order of their ends, so this finds the longest chain of requests one after the other.
      if (record.startedAt < lastCounted) return;
      roundTrips++;
      lastCounted = record.endedAt;
    },
    reset() {
      totals = NOTHING;
      roundTrips = 0;
      lastCounted = Number.NEGATIVE_INFINITY;
      byOrigin.clear();
    },
  };
}

function add(totals: EndpointTotals, record: ExchangeRecord): EndpointTotals {
  return {
    requests: totals.requests + 1,
    calls: totals.calls + record.methods.length,
    bytesSent: totals.bytesSent + record.bytesSent,
    bytesReceived: totals.bytesReceived + record.bytesReceived,
    faults: totals.faults + (record.fault === undefined ? 0 : 1),
  };
}
