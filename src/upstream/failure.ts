import { type ErrorCode, isPlumblineError, messageOf, PlumblineError, type UpstreamReason } from '../errors.js';

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
  if (answered.length > 0 && answered.length === failures.length)
    return (answered.find(([, { error }]) => isPlumblineError(error)) ?? answered[0]!)[1].error;
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
  if (details.origin !== undefined) return error;
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

/** The reasons of all endpoints, of an error about all of them. */
export function reasonsOf(error: unknown): readonly UpstreamReason[] | undefined {
  return isPlumblineError(error)
    ? (error.details as { readonly endpoints?: readonly UpstreamReason[] }).endpoints
    : undefined;
}

/** The error of a request that each of several endpoints failed: the first, or one for all if none could be reached. */
export function allFailed(errors: readonly unknown[]): unknown {
  const lists = errors.map(reasonsOf);
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
    const endpoints = reasonsOf(error);
    if (endpoints !== undefined) return listed(endpoints);
    return isPlumblineError(error) ? error.message : 'failed';
  });
  const names = [...new Set(answered)].join(', ');
  const remedy = 'name another in its place, or need fewer (chain.level, chain.agreeing, chain.layerOneAgreeing)';
  const message = `${needed} endpoints must agree, but only ${names} answered (${reasons.join('; ')}); ${remedy}`;
  return new PlumblineError(first.code, message, first.details, { cause: first });
}

export function listed(endpoints: readonly UpstreamReason[]): string {
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

/**
 * The failure of an endpoint whose answer was checked, if the check threw `error`. It counts against the endpoint only if it is
 * about this answer: a check may ask other endpoints, or load code.
 *
 * @param isFinal - see `Failure`
 */
export function rejection(error: unknown, { origin }: EndpointInfo, isFinal: boolean): Failure {
  const kind = 'unavailable';
  if (!isPlumblineError(error)) return { fault: { kind, reason: messageOf(error) }, isFinal, error };
  const { origin: about = origin, timeoutMs } = error.details as About;
  const isOfAnother = about !== origin || (reasonsOf(error) ?? timeoutMs) !== undefined;
  const open = unknownHere(error) ?? (isOfAnother ? `not checked: ${error.message}` : undefined);
  if (open !== undefined) return { fault: { kind, reason: open }, isFinal, error };
  return { fault: { kind: 'rejected', reason: `its answer was refused: ${error.code}` }, isFinal, error };
}

interface About {
  readonly origin?: string;
  readonly timeoutMs?: number;
}

/**
 * Why an endpoint gave no answer to a call.
 *
 * - `configuration`: it refuses to serve this node (key, plan, address); asking again does not help
 * - `rate-limited`: it asks to wait
 * - `timed-out`, `unavailable`: no answer arrived, or it cannot serve now
 * - `malformed`: the body is not a JSON-RPC answer
 * - `rejected`: the answer was checked and refused
 */
export type FaultKind = UpstreamReason['kind'];

/** A fault of an endpoint. */
export interface Fault {
  readonly kind: FaultKind;
  /** Own text, or redacted text of the endpoint. */
  readonly reason: string;
  /** HTTP status, if there was one. */
  readonly status?: number;
  /** Of `configuration`: whether the next request may succeed. */
  readonly mayPass?: boolean;
  /** How long the endpoint asks to wait, milliseconds. */
  readonly retryAfterMs?: number;
}

/** The `error` member of a JSON-RPC answer, redacted. */
export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The outcome of one call at one endpoint. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: RpcErrorBody }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** A result or a JSON-RPC error, not a fault. */
export type Answer = Exclude<Outcome, { readonly kind: 'fault' }>;

/** An endpoint as callers see it. */
export interface EndpointInfo {
  /** Its origin; with `#2` and so on if a group has several endpoints of one origin. */
  readonly id: string;
  readonly origin: string;
}

/** How a request failed at one endpoint. */
export interface Failure {
  readonly fault: Fault;
  /** Whether asking this endpoint again cannot help. */
  readonly isFinal: boolean;
  /** The error to throw if no endpoint succeeds. */
  readonly error?: unknown;
}

/** One method call. */
export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** An outcome that is a fault. */
export function faultOutcome(kind: FaultKind, reason: string, more: Partial<Fault> = {}): Outcome {
  return { kind: 'fault', fault: { kind, reason, ...more } };
}

/** Characters that move a cursor, change the direction of a text, or end a line. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const MOST_WORDS = 200;

/** Words of an endpoint as a part of a message: marked as its words, in one line, cut. @param words - redacted */
function quoted(words: string): string {
  const cut = words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS)}…` : words;
  return `"${cut.replace(CONTROLS, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)}"`;
}

/** The reason of a fault that an endpoint has explained. */
export function saying(words: string): string {
  return words === '' ? 'it gives no reason' : `it says ${quoted(words)}`;
}

/** Methods whose last parameter is a block. */
const AT_A_BLOCK =
  /^(?:eth_(?:call|estimateGas|createAccessList|get(?:Balance|Code|Proof|StorageAt|TransactionCount))|linea_getProof)$/;

/** The block that a call asks about, as it names it. */
export function blockOf({ method, params }: Call): string | undefined {
  const [first] = params;
  if (method === 'eth_getLogs') {
    const { blockHash, fromBlock, toBlock } = first as { blockHash?: string; fromBlock?: string; toBlock?: string };
    return blockHash ?? `${fromBlock} to ${toBlock}`;
  }
  const named = AT_A_BLOCK.test(method) ? params.at(-1) : /^eth_getBlock/.test(method) ? first : undefined;
  if (typeof named === 'string') return named;
  const { blockHash, blockNumber } = (named ?? {}) as { blockHash?: string; blockNumber?: string };
  return blockHash ?? blockNumber;
}

/** The reason of a fault `timed-out`. */
export function hanging(timeoutMs: number): string {
  return `no answer in ${timeoutMs} ms; it hangs: raise timeoutMs, or give another endpoint`;
}

/** The same outcome for each of `calls`. */
export function forAll(calls: readonly Call[], outcome: Outcome): Outcome[] {
  return calls.map(() => outcome);
}

/** Result of one exchange with an endpoint. */
export interface Exchange {
  /**
   * One outcome for each call, in their order; or the new batch limit, if the endpoint refused the batch; or `byMethod`, if it may
   * have refused one of its methods: the outcomes if there is only one.
   */
  readonly reply: readonly Outcome[] | { readonly batchLimit: number } | { readonly byMethod: readonly Outcome[] };
  readonly status?: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** Sends calls to one endpoint. It does not wait or retry. */
export interface Transport {
  /** Without secrets. */
  readonly origin: string;
  /** Most calls in one exchange. */
  readonly batchLimit: number;
  /** @throws only the reason of `signal` */
  exchange(calls: readonly Call[], signal: AbortSignal): Promise<Exchange>;
}

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
function isOutsideWindow({ code, message }: Pick<RpcErrorBody, 'code' | 'message'>): boolean {
  return !EXECUTION_CODES.includes(code) && ABOUT_WINDOW.test(message);
}

/** Whether another endpoint may answer the call. Execution errors are the same at all endpoints. */
export function dependsOnEndpoint(error: RpcErrorBody): boolean {
  return ENDPOINT_CODES.includes(error.code) || isNotHeld(error);
}

/** Whether the endpoint does not have what the call asks for, or not the method. To ask it again does not help. */
export function isNotHeld(error: RpcErrorBody): boolean {
  const isAboutHoldings = error.code === -32000 && ABOUT_HOLDINGS.test(error.message);
  return isAboutHoldings || isMethodMissing(error) || isOutsideWindow(error);
}

/** EIP-1474 and Hardhat: -32004; ganache: -32700, without the name of the method. Besu uses -32004 for other errors, too. */
const MISSING_BY_TEXT = /\bmethod\b.{0,80}\b(?:not supported|not found|does not exist|is not available)/i;

/** Whether the endpoint does not have the method. */
export function isMethodMissing({ code, message }: RpcErrorBody): boolean {
  return [-32601, -32604, 4200].includes(code) || ([-32004, -32700].includes(code) && MISSING_BY_TEXT.test(message));
}
