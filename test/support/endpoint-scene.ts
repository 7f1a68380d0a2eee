import { Endpoint, type EndpointLimits, type ExchangeRecord } from '../../src/upstream/endpoint.js';
import {
  type Call,
  type Exchange,
  faultOutcome,
  forAll,
  type Outcome,
  type Transport,
} from '../../src/upstream/failure.js';
import { createManualClock, type ManualClock } from './mock-upstream-clock.js';

const NO_LIMITS = { timeoutMs: 10_000, ratePerSecond: Number.POSITIVE_INFINITY, burst: 1, concurrency: 6 };

/** A request that an endpoint has sent; the test answers it. */
export interface SentRequest {
  readonly methods: readonly string[];
  readonly signal: AbortSignal;
  /** Answers each call with its method and `!`, but for what is given. */
  reply(exchange: Partial<Exchange>): void;
  fail(reason: unknown): void;
}

/** An endpoint whose answers the test gives, and what it has sent and reported. */
export interface EndpointScene {
  readonly clock: ManualClock;
  readonly sent: readonly SentRequest[];
  readonly records: readonly ExchangeRecord[];
  readonly endpoint: Endpoint;
  /** Asks for these methods, without parameters. */
  ask(...methods: string[]): Promise<readonly Outcome[]>;
}

/** Opens an endpoint on a clock that stands still; its random numbers are one half. */
export function openEndpoint(limits: Partial<EndpointLimits> = {}, batchLimit = 100): EndpointScene {
  const clock = createManualClock();
  const sent: SentRequest[] = [];
  const records: ExchangeRecord[] = [];
  const transport: Transport = {
    origin: 'https://host.example',
    batchLimit,
    exchange: (calls, signal) =>
      new Promise((resolve, reject) => {
        const methods = calls.map(({ method }) => method);
        const whole = { reply: resultsOf(...methods), status: 200, bytesSent: 1, bytesReceived: 2 };
        sent.push({ methods, signal, reply: (exchange) => resolve({ ...whole, ...exchange }), fail: reject });
      }),
  };
  const host = { clock, random: () => 0.5, onExchange: (record: ExchangeRecord) => void records.push(record) };
  const endpoint = new Endpoint('id', transport, { ...NO_LIMITS, ...limits }, host);
  const { signal } = new AbortController();
  const ask = (...methods: string[]) => endpoint.ask(callsOf(...methods), { signal, deduplicate: false });
  return { clock, sent, records, endpoint, ask };
}

export const callsOf = (...methods: string[]): Call[] => methods.map((method) => ({ method, params: [] }));
export const resultsOf = (...methods: string[]): Outcome[] =>
  methods.map((method) => ({ kind: 'result', result: `${method}!` }));
/** A rate limit for one call. */
export const limitedFor = (retryAfterMs?: number): Outcome[] =>
  forAll(callsOf('a'), faultOutcome('rate-limited', 'slowly', retryAfterMs === undefined ? {} : { retryAfterMs }));
