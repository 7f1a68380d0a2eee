import type { CallRequest } from '../../../primitives/call-request.js';
import { isMethodMissing } from '../../../upstream/transport/classify-error.js';
import type { Answer, Call } from '../../../upstream/transport/fault.js';
import type { Wants } from './access-set.js';
import { accessListParams, listedWants } from './call-hints.js';

/** For how long endpoints are taken not to have the method once one has said so, milliseconds. */
const MEMORY_MS = 300_000;

/**
 * What endpoints say a call touches: a hint that saves round trips, and tells them the call. Public endpoints mostly do not
 * have the method.
 */
export class AccessLists {
  private missingUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param allowed - whether endpoints may be told of calls in this way
   * @param now - milliseconds
   */
  constructor(
    private readonly allowed: boolean,
    private readonly now: () => number,
  ) {}

  get areOfUse(): boolean {
    return this.allowed && this.now() >= this.missingUntil;
  }

  callFor(call: CallRequest, at: string): Call {
    return { method: 'eth_createAccessList', params: accessListParams(call, at) };
  }

  /** @returns undefined where there is none */
  read(answer: Answer): Wants | undefined {
    if (answer.kind === 'result') return listedWants(answer.result);
    if (isMethodMissing(answer.error)) this.missingUntil = this.now() + MEMORY_MS;
    return undefined;
  }
}
