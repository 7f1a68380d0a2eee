import { type ErrorCode, isPlumblineError, PlumblineError, type UpstreamReason } from '../errors.js';
import { isOutsideWindow } from './classify-error.js';
import {
  blockOf,
  type Call,
  type EndpointInfo,
  type Failure,
  type Fault,
  type FaultKind,
  type RpcErrorBody,
  saying,
} from './fault.js';

/** Error code of a request that failed in the same way at every endpoint. */
const CODES: { readonly [K in FaultKind]?: ErrorCode } = {
  configuration: 'UPSTREAM_CONFIGURATION',
  'rate-limited': 'UPSTREAM_RATE_LIMITED',
  malformed: 'UPSTREAM_MALFORMED',
};
const WORDS: { readonly [C in ErrorCode]?: string } = {
  UPSTREAM_CONFIGURATION: 'no endpoint serves this node; check URLs and API keys',
  UPSTREAM_RATE_LIMITED: 'the endpoints limit the rate; wait, or give more endpoints',
  UPSTREAM_MALFORMED: 'no endpoint gave a well-formed answer',
  UPSTREAM_UNAVAILABLE: 'no endpoint could be reached',
};

/** The error of a request that no endpoint answered. Refused answers come before JSON-RPC errors, and those before faults. */
export function requestFailureOf(
  calls: readonly Call[],
  failures: readonly (readonly [EndpointInfo, Failure])[],
  retryAfterMs?: number,
): unknown {
  const rejected = failures.find(([, { fault }]) => fault.kind === 'rejected');
  if (rejected !== undefined) return named(rejected[1].error, rejected[0], calls);
  const unsupported = failures.find(([, { error }]) => unknownHere(error) !== undefined);
  if (unsupported !== undefined) return named(unsupported[1].error, unsupported[0], calls);
  const answered = failures.filter(([, { error }]) => error !== undefined);
  if (answered.length > 0 && answered.length === failures.length) return answered[0]![1].error;
  return unreached(
    failures.map(([info, { fault }]) => reasonOf(info, fault)),
    retryAfterMs,
  );
}

const NAMED = ['ANSWER_REFUSED', 'PROOF_MALFORMED', 'HEADER_UNSUPPORTED'] as const;

/** The error of a refused answer, or of one that this version does not know, with the endpoint that gave it. */
function named(error: unknown, { origin }: EndpointInfo, calls: readonly Call[]): unknown {
  if (!NAMED.some((code) => isPlumblineError(error, code))) return error;
  const { code, message, details } = error as PlumblineError<(typeof NAMED)[number]>;
  const method = [...new Set(calls.map((call) => call.method))].join(', ');
  const more = { origin, method: details.method ?? method };
  return new PlumblineError(code, `${origin}: ${message}`, { ...details, ...more }, { cause: error });
}

function unreached(endpoints: readonly UpstreamReason[], retryAfterMs: number | undefined): PlumblineError {
  const kinds = new Set(endpoints.map(({ kind }) => kind));
  const code = (kinds.size === 1 ? CODES[endpoints[0]!.kind] : undefined) ?? 'UPSTREAM_UNAVAILABLE';
  const message = endpoints.length === 0 ? WORDS[code]! : `${WORDS[code]} (${listed(endpoints)})`;
  if (code !== 'UPSTREAM_RATE_LIMITED') return new PlumblineError(code, message, { endpoints });
  return new PlumblineError(code, message, { endpoints, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

/** The error of a request that each of several endpoints failed: the first, or one for all if none could be reached. */
export function allFailed(errors: readonly unknown[]): unknown {
  const lists = errors.map((error) =>
    isPlumblineError(error) ? (error.details as { endpoints?: readonly UpstreamReason[] }).endpoints : undefined,
  );
  return lists.includes(undefined)
    ? errors[0]
    : unreached(
        lists.flatMap((list) => list!),
        undefined,
      );
}

/**
 * The error of a request that some endpoints answered, but too few for `needed` to agree: the first, with the reasons of all.
 *
 * @param answered - origins
 */
export function tooFew(errors: readonly unknown[], answered: readonly string[], needed: number): unknown {
  const [first] = errors;
  if (!isPlumblineError(first)) return first;
  const reasons = errors.map((error) => {
    if (!isPlumblineError(error)) return 'failed';
    const { endpoints } = error.details as { endpoints?: readonly UpstreamReason[] };
    return endpoints === undefined ? error.message : listed(endpoints);
  });
  const names = [...new Set(answered)].join(', ');
  const remedy = 'name another in its place, or need fewer (chain.level, chain.agreeing, chain.layerOneAgreeing)';
  const message = `${needed} endpoints must agree, but only ${names} answered (${reasons.join('; ')}); ${remedy}`;
  return new PlumblineError(first.code, message, first.details, { cause: first });
}

function listed(endpoints: readonly UpstreamReason[]): string {
  return endpoints.map(({ origin, reason }) => `${origin}: ${reason}`).join('; ');
}

function reasonOf({ origin }: EndpointInfo, { kind, reason, status }: Fault): UpstreamReason {
  return { origin, kind, reason, ...(status !== undefined && { status }) };
}

/** The error to throw for a JSON-RPC error of an endpoint. @param forwarded - whether the call is only forwarded */
export function upstreamError(
  { origin }: EndpointInfo,
  call: Call,
  error: RpcErrorBody,
  forwarded = false,
): PlumblineError<'UPSTREAM_ERROR'> {
  const { method } = call;
  const block = blockOf(call);
  const asked = block === undefined ? method : `${method} of block ${block}`;
  const window = isOutsideWindow(error) ? '; it does not hold the state of this block, or no proof of it' : '';
  const message = `${origin} answered ${asked} with error ${error.code}, ${saying(error.message)}${window}`;
  return new PlumblineError('UPSTREAM_ERROR', message, {
    origin,
    method,
    ...(block !== undefined && { block }),
    ...error,
    ...(forwarded && { forwarded }),
  });
}

/** What this version does not know, so that it says nothing against an endpoint. */
const UNKNOWN: { readonly [C in ErrorCode]?: string } = {
  HEADER_UNSUPPORTED: 'its header has members that this version does not know',
  FORK_UNSUPPORTED: 'its answer is of a fork that this version does not know',
  FORK_SCHEDULE: 'its answer is of a schedule of forks that this version does not know',
};
const unknownHere = (error: unknown) => (isPlumblineError(error) ? UNKNOWN[error.code] : undefined);

/** The failure of an endpoint whose answer was refused with `error`. @param isFinal - see `Failure` */
export function rejection(error: unknown, isFinal: boolean): Failure {
  const unknown = unknownHere(error);
  if (unknown !== undefined) return { fault: { kind: 'unavailable', reason: unknown }, isFinal, error };
  const reason = error instanceof PlumblineError ? `its answer was refused: ${error.code}` : 'its answer was refused';
  return { fault: { kind: 'rejected', reason }, isFinal, error };
}
