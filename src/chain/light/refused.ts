import { PlumblineError } from '../../errors.js';
import type { ProofFailure } from '../../proof/verdict.js';
import type { EndpointInfo, RpcErrorBody } from '../../upstream/fault.js';

/**
 * The error of an answer that a verifier found wrong.
 *
 * @param what - what the answer was about, such as `header` or `account 0x…`
 */
export function refused(what: string, { reason, at, message }: ProofFailure<string>): PlumblineError<'ANSWER_REFUSED'> {
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
