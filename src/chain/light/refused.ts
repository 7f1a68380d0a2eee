import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { ProofFailure } from '../../proof/verdict.js';
import type { EndpointInfo, RpcErrorBody } from '../../upstream/transport/fault.js';
import type { TrustLevel } from '../chain.js';

/**
 * The error of an answer that a verifier found wrong.
 *
 * @param what - what the answer was about, such as `header` or `account 0x…`
 */
export function answerRefused(
  what: string,
  { reason, at, message }: ProofFailure<string>,
): PlumblineError<'ANSWER_REFUSED'> {
  const place = at === '' ? message : `${at} ${message}`;
  return new PlumblineError('ANSWER_REFUSED', `${what}: ${place}`, { what, check: reason, at });
}

/** The error of an endpoint that answers with a JSON-RPC error what has to be answered. */
export function answeredError({ origin }: EndpointInfo, error: RpcErrorBody): PlumblineError<'UPSTREAM_ERROR'> {
  const { code, message, data } = error;
  return new PlumblineError('UPSTREAM_ERROR', `${origin}: ${message}`, {
    origin,
    code,
    message,
    ...(data !== undefined && { data }),
  });
}

/** The error of an endpoint that has nothing where there is something. @param what - as for `answerRefused` */
export function missing(what: string): PlumblineError<'ANSWER_REFUSED'> {
  return new PlumblineError('ANSWER_REFUSED', `${what}: there is none`, { what, check: 'MISSING', at: '' });
}

const NOT_FOUND = /\b(?:header|block)\b.{0,80}\bnot (?:be )?found\b|\bunknown block\b/i;

/**
 * Whether an endpoint says that it does not have a block which is there: behind one address there may be several nodes, and
 * not all of them have the newest block already.
 */
export function isNotThereYet(error: unknown): boolean {
  if (isPlumblineError(error, 'ANSWER_REFUSED')) return error.details.check === 'MISSING';
  return isPlumblineError(error, 'UPSTREAM_ERROR') && NOT_FOUND.test(error.details.message);
}

/** @param reached - the level that would have been */
export function notReached(
  required: TrustLevel,
  reached: TrustLevel | undefined,
  reason: string,
): PlumblineError<'TRUST_LEVEL_NOT_REACHED'> {
  const message = `trust level ${required} is not reached: ${reason}`;
  return new PlumblineError('TRUST_LEVEL_NOT_REACHED', message, { required, reached, reason });
}

/** The error of a head that contradicts what was known below a re-organization of `depth` blocks. */
export function tooDeep(level: TrustLevel, depth: number): PlumblineError<'TRUST_LEVEL_NOT_REACHED'> {
  return notReached(level, undefined, `the new head takes back more than ${depth} blocks`);
}
