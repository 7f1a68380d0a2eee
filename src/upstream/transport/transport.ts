import type { Call, Outcome } from './fault.js';

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
