import { faultOutcome, type Outcome, type RpcErrorBody, saying } from './fault.js';

/** Error codes of providers. @source docs/spec/json-rpc.md 4.3 */
const REFUSED_CODES = [402, 401, 403, -33000, -33100, -40100];
const RATE_CODES = [429, -32029, -32097, -33200, -33300, -33400];
/** Codes of other errors as well, such as Besu's of transactions: the text decides. 30: dRPC. */
const MAYBE_RATE_CODES = [-32007, -32012, -32016, 30];
const PROJECT_REFUSED = -32002;
const LIMIT = -32005;
/** Besu: the initial sync is still in progress. */
const SYNCING = -32008;

const ABOUT_RATE =
  /\brate\b|too many requests|request (?:count|rate)|per (?:second|minute|hour|day)|throttl|quota|credits/i;
const ABOUT_LIMIT = /\blimit|exceed|capacity|\bplan\b|\btier\b|\b429\b|too many/i;
/** Says by itself that the rate is limited, under any code that is not one of execution. */
const IS_RATE =
  /\b429\b.{0,40}\btoo many\b|\b(?:status|code|http|error)\b.{0,20}\b429\b|too many requests|rate[- ]?limit/i;
const EXECUTION_CODES = [3, -32015];
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
    return faultOutcome('configuration', saying(message), more);
  const wait = backoffMs(error.data);
  if (isRateLimit(error))
    return faultOutcome('rate-limited', saying(message), {
      ...more,
      ...(wait !== undefined && { retryAfterMs: wait }),
    });
  if (code === SYNCING) return faultOutcome('unavailable', saying(message), more);
  return { kind: 'error', error };
}

function isRateLimit(error: RpcErrorBody): boolean {
  const { code, message } = error;
  if (RATE_CODES.includes(code)) return true;
  if (code === LIMIT) return isAboutRate(error);
  if (MAYBE_RATE_CODES.includes(code)) return ABOUT_RATE.test(message) || ABOUT_LIMIT.test(message);
  return IS_RATE.test(message) && !EXECUTION_CODES.includes(code) && !/revert/i.test(message);
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

/** dRPC, of a batch. */
const BATCH_REFUSED = 31;
const TOO_LARGE = /exceed|limit|large|max|many|more than|size/i;

/**
 * Whether the error of a whole batch means that the endpoint refuses the batch, not its calls.
 *
 * @returns the new batch limit, that of the message if it names one; or undefined for another kind of error
 */
export function refusedBatchLimit(error: RpcErrorBody, size: number): number | undefined {
  const { code, message } = error;
  if (size < 2) return undefined;
  const isAboutBatch = /batch/i.test(message) || /more than \d+ (?:requests|calls)/i.test(message);
  if (isAboutBatch || code === BATCH_REFUSED) {
    if (code !== BATCH_REFUSED && !TOO_LARGE.test(message)) return 1;
    const named = Number(/\b(?:more than|max(?:imum)?|limit(?:ed)?)\b\D{0,20}(\d{1,4})\b/i.exec(message)?.[1]);
    return named >= 1 && named < size ? named : Math.floor(size / 2);
  }
  return [-32600, -32700].includes(code) ? 1 : undefined;
}

/** Whether a member of a batch says that the answers to the whole batch became too long. geth answers so from there on. */
export function isBatchTooLong(error: RpcErrorBody | undefined): boolean {
  return error?.code === -32003 && /response.{0,10}too large/i.test(error.message);
}

/** Codes and words of errors that depend on the endpoint: on the methods it serves and the blocks it has. */
const ENDPOINT_CODES = [-32601, -32604, -32603, -32002, -39001, 4200, 4444];
const ABOUT_HOLDINGS =
  /header not found|unknown block|missing trie node|prun(?:ed|ing)|(?:state|block) (?:is )?(?:unavailable|not (?:available|found))|not supported|does not exist|not available/i;
/**
 * How nodes say that a block is outside of the states or proofs that they hold, under codes of their own: geth and reth (-32000,
 * -32602 `distance to target block exceeds maximum proof window`), Erigon (`requested block is too old, block must be within …`),
 * Nethermind (-32002, -32603 `No state available for block …`).
 */
const ABOUT_WINDOW =
  /proof window|too old.{0,60}block|block.{0,60}too old|must be within \d+ blocks|no state available|historical state.{0,100}not available|missing trie node/i;

/** Whether the endpoint says that it does not hold the state of a block any more, or no proofs of it. */
export function isOutsideWindow({ code, message }: Pick<RpcErrorBody, 'code' | 'message'>): boolean {
  return !EXECUTION_CODES.includes(code) && ABOUT_WINDOW.test(message);
}

/** Whether another endpoint may answer the call. Execution errors are the same at all endpoints. */
export function dependsOnEndpoint(error: RpcErrorBody): boolean {
  return (
    ENDPOINT_CODES.includes(error.code) ||
    isMethodMissing(error) ||
    (error.code === -32000 && ABOUT_HOLDINGS.test(error.message)) ||
    isOutsideWindow(error)
  );
}

/** EIP-1474 and Hardhat: -32004; ganache: -32700, without the name of the method. Besu uses -32004 for other errors, too. */
const MISSING_BY_TEXT = /\bmethod\b.{0,80}\b(?:not supported|not found|does not exist|is not available)/i;

/** Whether the endpoint does not have the method. */
export function isMethodMissing({ code, message }: RpcErrorBody): boolean {
  return [-32601, -32604, 4200].includes(code) || ([-32004, -32700].includes(code) && MISSING_BY_TEXT.test(message));
}
