import { type BackOff, createBackOff } from './back-off.js';
import type { Failure, Fault } from './transport/fault.js';

/** First and longest time for which an endpoint that fails comes last. */
const BREAK = { initialMs: 1_000, maxMs: 60_000 };
/** Time for which a refusal, or a method that is not there, is remembered. */
const MEMORY_MS = 300_000;
/** Refusals in a row that an endpoint is granted which has answered before. */
const MAX_REFUSALS = 3;

/**
 * - `healthy`: asked in its turn
 * - `probe`: has failed, its break is over: one request may try it, in its turn
 * - `last`: has failed lately: asked when nobody else answers
 * - `refused`: does not serve us; not asked
 */
export type Readiness = 'healthy' | 'probe' | 'last' | 'refused';

/** What is known of one endpoint from how it has answered. */
export class Health {
  private readonly breaks: BackOff = createBackOff(BREAK);
  private readonly missing = new Map<string, { readonly until: number; readonly failure: Failure }>();
  private failing = false;
  private until = 0;
  private refusedUntil = 0;
  private probing = false;
  /** Methods it has answered at some time. */
  private readonly served = new Set<string>();
  /** Refusals since the last answer; those of one moment count once. */
  private refusals = 0;
  private refusedAt = 0;
  private isDegraded = false;

  readiness(now: number): Readiness {
    if (now < this.refusedUntil) return 'refused';
    if (!this.failing) return 'healthy';
    return now < this.until || this.probing ? 'last' : 'probe';
  }

  /** When the break of a failing endpoint ends. */
  get breakEndsAt(): number {
    return this.until;
  }

  /** A probe goes out: others come last until it has ended. */
  beginProbe(): void {
    this.probing = true;
  }

  endProbe(): void {
    this.probing = false;
  }

  /** @returns whether the endpoint has recovered by it */
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

  /** @returns whether this is the first fault after good answers */
  failed(now: number): boolean {
    // What was sent side by side fails together, and counts once.
    if (!this.failing || now >= this.until) this.until = now + this.breaks.next();
    this.failing = true;
    return this.degrade();
  }

  /** A rate limit: no failure, its own pause orders it. @returns whether this is the first fault after good answers */
  limited(): boolean {
    return this.degrade();
  }

  /**
   * A refusal. A plan may lack some methods, so an endpoint that serves others is left out for those alone which it has
   * never answered; and for all when it goes on refusing, as it does without a valid key.
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

  /** Remembers that a method is not there, and how a request for it fails. */
  lacks(method: string, failure: Failure, now: number): void {
    this.missing.set(method, { until: now + MEMORY_MS, failure });
  }

  /** How a request fails whose method is known not to be there, or to be refused. */
  missingMethod(method: string, now: number): Failure | undefined {
    const known = this.missing.get(method);
    return known === undefined || now >= known.until ? undefined : known.failure;
  }

  /** Forgets refusals and missing methods: the key or the plan was changed. */
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
