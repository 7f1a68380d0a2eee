import type { ExchangeRecord, UpstreamObserver } from '../../src/upstream/endpoint.js';

/** Totals of requests. */
interface EndpointTotals {
  /** HTTP requests. */
  readonly requests: number;
  /** Method calls in these requests. */
  readonly calls: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Requests with a fault. */
  readonly faults: number;
}

/** Totals over all requests. */
export interface UpstreamStatistics extends UpstreamObserver {
  exchange(record: ExchangeRecord, role: string): void;
  readonly totals: EndpointTotals;
  /** By origin. */
  readonly byOrigin: ReadonlyMap<string, EndpointTotals>;
  /** Sequential round trips. Concurrent requests count once. */
  readonly roundTrips: number;
  reset(): void;
}

const NOTHING: EndpointTotals = { requests: 0, calls: 0, bytesSent: 0, bytesReceived: 0, faults: 0 };

/** An observer that counts. */
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
      // Records arrive in the order in which requests end, so this finds the longest sequence of requests.
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
