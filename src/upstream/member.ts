/**
 * An endpoint of a group, and its health as its answers show it: asked in its turn, last, or not at all.
 */

import { type BackOff, createBackOff, Endpoint, type EndpointHost } from './endpoint.js';
import type { Call, EndpointInfo, Failure, Fault, FaultKind, Outcome } from './failure.js';
import { type EndpointSource, limitsOf, type OpenTransport } from './options.js';

/** An endpoint of a group, with its health. */
export interface GroupEndpoint {
  readonly info: EndpointInfo;
  readonly endpoint: Endpoint;
  readonly health: Health;
  /** The last fault. */
  lastFault: Fault | undefined;
}

/** Reports that an endpoint began to fail or recovered. */
export type ReportEvent = (
  member: GroupEndpoint,
  type: 'degraded' | 'recovered',
  fault?: { kind: FaultKind; reason: string },
) => void;

/** @throws PlumblineError `INVALID_PARAMETER` */
export function openMembers(
  sources: readonly EndpointSource[],
  open: OpenTransport,
  given: typeof fetch | undefined,
  host: EndpointHost,
): GroupEndpoint[] {
  const seen = new Map<string, number>();
  return sources.map((source) => {
    const transport = open(source, given);
    const { origin } = transport;
    const count = (seen.get(origin) ?? 0) + 1;
    seen.set(origin, count);
    const id = count === 1 ? origin : `${origin}#${count}`;
    const endpoint = new Endpoint(id, transport, limitsOf(source), host);
    return { info: { id, origin }, endpoint, health: new Health(), lastFault: undefined };
  });
}

/** Updates the health of an endpoint by the outcomes of `calls`. */
export function noteOutcomes(
  member: GroupEndpoint,
  calls: readonly Call[],
  outcomes: readonly Outcome[],
  now: number,
  report: ReportEvent,
): void {
  const { health } = member;
  const answered = calls.filter((_, i) => outcomes[i]!.kind !== 'fault').map(({ method }) => method);
  const [first] = outcomes;
  if (answered.length > 0) {
    if (health.answered(answered)) report(member, 'recovered');
  } else if (first?.kind === 'fault') noteFault(member, calls, first.fault, now, report);
}

/** Updates the health of an endpoint after a fault. */
export function noteFault(
  member: GroupEndpoint,
  calls: readonly Call[],
  fault: Fault,
  now: number,
  report: ReportEvent,
): void {
  const { health } = member;
  member.lastFault = fault;
  const methods = calls.map(({ method }) => method);
  const isFirst =
    fault.kind === 'configuration' && fault.mayPass !== true
      ? health.refused(methods, fault, now)
      : fault.kind === 'rate-limited'
        ? health.limited()
        : health.failed(now);
  if (isFirst) report(member, 'degraded', fault);
}

/** Endpoints in the order in which they are asked. Those that failed recently come last, the earliest failure first. */
export function orderMembers(members: readonly GroupEndpoint[], now: number): GroupEndpoint[] {
  const isLast = ({ health }: GroupEndpoint) => health.readiness(now) === 'last';
  const last = members.filter(isLast).sort((a, b) => a.health.breakEndsAt - b.health.breakEndsAt);
  return [...members.filter((member) => !isLast(member)), ...last];
}

/** First and longest time for which a failing endpoint comes last, milliseconds. */
const BREAK = { initialMs: 1_000, maxMs: 60_000 };
/** How long a refusal or a missing method is remembered, milliseconds. */
const MEMORY_MS = 300_000;
/** Refusals in a row after which an endpoint that has answered before is no longer asked. */
const MAX_REFUSALS = 3;

/**
 * - `healthy`: asked in its turn
 * - `probe`: failed, and its break is over: one request may try it in its turn
 * - `last`: failed recently: asked if no other endpoint answers
 * - `refused`: refuses to serve this node; not asked
 */
export type Readiness = 'healthy' | 'probe' | 'last' | 'refused';

/** Health of one endpoint, judged by its answers. */
export class Health {
  private readonly breaks: BackOff = createBackOff(BREAK);
  private readonly missing = new Map<string, { readonly until: number; readonly failure: Failure }>();
  private failing = false;
  private until = 0;
  private refusedUntil = 0;
  private probing = false;
  /** Methods that it has answered. */
  private readonly served = new Set<string>();
  /** Refusals since the last answer. Those of the same moment count once. */
  private refusals = 0;
  private refusedAt = 0;
  private isDegraded = false;

  readiness(now: number): Readiness {
    if (now < this.refusedUntil) return 'refused';
    if (!this.failing) return 'healthy';
    return now < this.until || this.probing ? 'last' : 'probe';
  }

  /** When the break of a failing endpoint ends, milliseconds since 1970. */
  get breakEndsAt(): number {
    return this.until;
  }

  /** Starts a probe. Until it ends, no other request may probe. */
  beginProbe(): void {
    this.probing = true;
  }

  endProbe(): void {
    this.probing = false;
  }

  /** Records answers. @returns whether the endpoint has recovered */
  answered(methods: readonly string[]): boolean {
    for (const method of methods) this.served.add(method);
    this.refusals = 0;
    this.failing = false;
    this.refusedUntil = 0;
    this.breaks.reset();
    const recovered = this.isDegraded;
    this.isDegraded = false;
    return recovered;
  }

  /** Records a failure. @returns whether this is the first fault after good answers */
  failed(now: number): boolean {
    // Concurrent requests fail together. That counts once.
    if (!this.failing || now >= this.until) this.until = now + this.breaks.next();
    this.failing = true;
    return this.degrade();
  }

  /**
   * Records a rate limit, which is not a failure: the endpoint's pause handles it.
   *
   * @returns whether this is the first fault after good answers
   */
  limited(): boolean {
    return this.degrade();
  }

  /**
   * Records a refusal. A plan may lack some methods, so an endpoint that serves others is skipped only for methods that it has
   * never answered. It is skipped for all methods if it goes on refusing, as it does without a valid key.
   *
   * @returns whether this is the first fault after good answers
   */
  refused(methods: readonly string[], fault: Fault, now: number): boolean {
    if (now !== this.refusedAt) this.refusals++;
    this.refusedAt = now;
    if (this.served.size === 0 || this.refusals > MAX_REFUSALS) this.refusedUntil = now + MEMORY_MS;
    for (const method of methods) if (!this.served.has(method)) this.lacks(method, { fault, isFinal: true }, now);
    return this.degrade();
  }

  /** Remembers that a method is missing, and how a request for it fails. */
  lacks(method: string, failure: Failure, now: number): void {
    this.missing.set(method, { until: now + MEMORY_MS, failure });
  }

  /** How a request for the method fails, if the method is known to be missing or refused. */
  missingMethod(method: string, now: number): Failure | undefined {
    const known = this.missing.get(method);
    return known === undefined || now >= known.until ? undefined : known.failure;
  }

  /** Forgets refusals and missing methods, after the key or the plan was changed. */
  forgetRefusals(): void {
    this.refusedUntil = 0;
    this.missing.clear();
  }

  private degrade(): boolean {
    const first = !this.isDegraded;
    this.isDegraded = true;
    return first;
  }
}
