import type { ExchangeRecord, UpstreamObserver } from '../../src/upstream/observer.js';

interface EndpointTotals {
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
