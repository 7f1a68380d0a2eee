import { type BackOff, createBackOff } from './back-off.js';
import type { Failure, Fault } from './transport/fault.js';

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
