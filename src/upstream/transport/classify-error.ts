import { faultOutcome, type Outcome, type RpcErrorBody } from './fault.js';

/** Error codes of providers. @source docs/spec/json-rpc.md 4.3 */
const REFUSED_CODES = [402, 401, 403, -33000, -33100, -40100];
const RATE_CODES = [429, -33200, -33300, -33400];
const PROJECT_REFUSED = -32002;
const LIMIT = -32005;
/** Besu: the initial sync is still in progress. */
const SYNCING = -32008;

const ABOUT_RATE =
  /\brate\b|too many requests|request (?:count|rate)|per (?:second|minute|hour|day)|throttl|quota|credits/i;
const ABOUT_SIZE = /range|batch|block|result|respon|\bsize\b|too (?:large|big|long)|\bgas\b|\blogs?\b/i;

/**
 * Separates errors of the call from faults of the endpoint: refused keys, rate limits, synchronisation. -32005 may be a rate
 * limit, or a range or batch that is too large, so its message decides (docs/spec/json-rpc.md 4.3).
 *
 * @param error - already redacted
 */
export function classifyError(error: RpcErrorBody, status?: number): Outcome {
  const { code, message } = error;
  const more = status === undefined ? {} : { status };
  if (REFUSED_CODES.includes(code) || (code === PROJECT_REFUSED && /\bproject id\b|\bapi key\b/i.test(message)))
    return faultOutcome('configuration', message, more);
  const wait = backoffMs(error.data);
  if (RATE_CODES.includes(code) || (code === LIMIT && isAboutRate(error)))
    return faultOutcome('rate-limited', message, { ...more, ...(wait !== undefined && { retryAfterMs: wait }) });
  if (code === SYNCING) return faultOutcome('unavailable', message, more);
  return { kind: 'error', error };
}

function isAboutRate({ message, data }: RpcErrorBody): boolean {
  if (rateOf(data) !== undefined || ABOUT_RATE.test(message)) return true;
  return !ABOUT_SIZE.test(message);
}

/** `data.rate.backoff_seconds` in milliseconds. @returns undefined without it */
export function backoffMs(data: unknown): number | undefined {
  const seconds = Number(rateOf(data)?.backoff_seconds ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
}

function rateOf(data: unknown): { readonly backoff_seconds?: unknown } | undefined {
  if (typeof data !== 'object' || data === null || !('rate' in data)) return undefined;
  const { rate } = data;
  return typeof rate === 'object' && rate !== null ? rate : undefined;
}

/**
 * Whether the error of a whole batch means that the endpoint refuses the batch, not its calls.
 *
 * @returns the new batch limit, or undefined for another kind of error
 */
export function refusedBatchLimit(error: RpcErrorBody, size: number): number | undefined {
  if (size < 2) return undefined;
  if (/batch/i.test(error.message)) {
    const tooMany = /exceed|limit|large|max|many|size/i.test(error.message);
    return tooMany ? Math.floor(size / 2) : 1;
  }
  return [-32600, -32700].includes(error.code) ? 1 : undefined;
}

/** Codes and words of errors that depend on the endpoint: on the methods it serves and the blocks it has. */
const ENDPOINT_CODES = [-32601, -32604, -32603, -32002, -39001, 4200, 4444];
const ABOUT_HOLDINGS =
  /header not found|unknown block|missing trie node|prun(?:ed|ing)|(?:state|block) (?:is )?(?:unavailable|not (?:available|found))|proof window|not supported|does not exist|not available/i;

/** Whether another endpoint may answer the call. Execution errors are the same at all endpoints. */
export function dependsOnEndpoint(error: RpcErrorBody): boolean {
  return (
    ENDPOINT_CODES.includes(error.code) ||
    isMethodMissing(error) ||
    (error.code === -32000 && ABOUT_HOLDINGS.test(error.message))
  );
}

/** EIP-1474 and Hardhat: -32004; ganache: -32700, without the name of the method. Besu uses -32004 for other errors, too. */
const MISSING_BY_TEXT = /\bmethod\b.{0,80}\b(?:not supported|not found|does not exist|is not available)/i;

/** Whether the endpoint does not have the method. */
export function isMethodMissing({ code, message }: RpcErrorBody): boolean {
  return [-32601, -32604, 4200].includes(code) || ([-32004, -32700].includes(code) && MISSING_BY_TEXT.test(message));
}
