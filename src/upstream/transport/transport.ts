import type { Call, Outcome } from './fault.js';

/** What one exchange with an endpoint came to. */
export interface Exchange {
  /** One for each call, in their order; or how many calls the endpoint takes together, when these were too many for it. */
  readonly reply: readonly Outcome[] | { readonly batchLimit: number };
  readonly status?: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** How calls get to one endpoint and back. It neither waits nor repeats. */
export interface Transport {
  /** Safe to show. */
  readonly origin: string;
  /** Calls that may go together. */
  readonly batchLimit: number;
  /** @throws the reason of `signal` when it is aborted, nothing else */
  exchange(calls: readonly Call[], signal: AbortSignal): Promise<Exchange>;
}
