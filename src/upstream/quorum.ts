import { invalidParameter, PlumblineError, type UpstreamReason } from '../errors.js';
import { allFailed, tooFew } from './failure.js';
import type { EndpointInfo } from './transport/fault.js';

/** Options of a request that several endpoints must agree on. */
export interface QuorumOptions<T> {
  /** Number of origins that must agree. Several endpoints of one origin count once, because one operator runs them. */
  readonly needed: number;
  /** Checks an answer and converts it. If it throws, the answer does not count. */
  readonly accept: (result: unknown, from: EndpointInfo) => T | Promise<T>;
  /** Two values agree if their keys are equal. */
  readonly key: (value: T) => string;
  /** `enough` settles as soon as enough agree and aborts the other requests; `all` waits for all. Default: `enough`. */
  readonly wait?: 'enough' | 'all';
  /** Ids of the endpoints to ask. Default: all. */
  readonly endpoints?: readonly string[];
  readonly signal?: AbortSignal;
  /** Time limit of the whole request in milliseconds. Default: the group's. */
  readonly timeoutMs?: number;
  /** As in `UpstreamRequestOptions`. */
  readonly deduplicate?: boolean;
}

/** The answer of one endpoint, or why it gave none. */
export type Vote<T> =
  | { readonly from: EndpointInfo; readonly value: T; readonly key: string }
  | { readonly from: EndpointInfo; readonly error: unknown };

/** The value that enough endpoints agree on. */
export interface QuorumAnswer<T> {
  readonly value: T;
  readonly key: string;
  /** Endpoints that agree. */
  readonly agreed: readonly EndpointInfo[];
  /** All answers and errors, in the order in which they arrived. Requests without one were aborted. */
  readonly votes: readonly Vote<T>[];
}

/**
 * Asks all of `endpoints` at the same time.
 *
 * @param what - is asked, for the error
 * @param ask - asks one endpoint; ends when its signal is aborted
 * @throws PlumblineError `UPSTREAM_DISAGREEMENT`, `INVALID_PARAMETER`, `ABORTED`; with the code of the first error if too few
 *   answered
 */
export async function askQuorum<T>(
  what: string,
  endpoints: readonly EndpointInfo[],
  { needed, key, wait = 'enough' }: QuorumOptions<T>,
  ask: (endpoint: EndpointInfo, signal: AbortSignal) => Promise<T>,
  caller?: AbortSignal,
): Promise<QuorumAnswer<T>> {
  const origins = new Set(endpoints.map(({ origin }) => origin)).size;
  if (!Number.isInteger(needed) || needed < 1 || needed > origins) {
    throw invalidParameter('needed', `must be from 1 to ${origins}, the number of origins`);
  }
  const controller = new AbortController();
  const stop = () => controller.abort(caller?.reason);
  if (caller?.aborted) stop();
  else caller?.addEventListener('abort', stop, { once: true });
  const votes: Vote<T>[] = [];
  try {
    return await new Promise<QuorumAnswer<T>>((resolve, reject) => {
      const count = (vote: Vote<T>) => {
        votes.push(vote);
        const best = leadingValue(votes);
        const isOver = votes.length === endpoints.length;
        if (best !== undefined && best.support >= needed && (isOver || wait === 'enough'))
          resolve({ value: best.value, key: best.key, agreed: best.agreed, votes: [...votes] });
        else if (isOver) reject(failureOf(what, votes, needed, best?.support ?? 0, caller));
      };
      for (const from of endpoints) {
        ask(from, controller.signal)
          .then((value) => ({ from, value, key: key(value) }))
          .catch((error: unknown) => ({ from, error }))
          .then(count);
      }
    });
  } finally {
    caller?.removeEventListener('abort', stop);
    controller.abort(new PlumblineError('ABORTED', 'enough endpoints have answered', {}));
  }
}

interface LeadingValue<T> {
  readonly value: T;
  readonly key: string;
  readonly agreed: readonly EndpointInfo[];
  /** Number of origins that agree on it. */
  readonly support: number;
}

/** The value that most origins agree on; of several, the one that arrived first. */
function leadingValue<T>(votes: readonly Vote<T>[]): LeadingValue<T> | undefined {
  let best: LeadingValue<T> | undefined;
  for (const vote of votes) {
    if ('error' in vote || vote.key === best?.key) continue;
    const agreed = votes.filter((other) => 'key' in other && other.key === vote.key).map(({ from }) => from);
    const support = new Set(agreed.map(({ origin }) => origin)).size;
    if (best === undefined || support > best.support) best = { value: vote.value, key: vote.key, agreed, support };
  }
  return best;
}

function failureOf<T>(
  what: string,
  votes: readonly Vote<T>[],
  needed: number,
  agreed: number,
  caller?: AbortSignal,
): unknown {
  const answers = votes.filter((vote) => !('error' in vote));
  const errors = votes.flatMap((vote) => ('error' in vote ? [vote] : []));
  const answered = new Set(answers.map(({ from }) => from.origin)).size;
  const timedOut = caller?.aborted ? errors.find(({ error }) => error instanceof PlumblineError) : undefined;
  if (timedOut !== undefined) return timedOut.error;
  const failures = errors.map(({ error }) => error);
  if (answered === 0) return allFailed(failures);
  if (answered < needed)
    return tooFew(
      failures,
      answers.map(({ from }) => from.origin),
      needed,
    );
  const endpoints: UpstreamReason[] = errors.map(({ from, error }) => ({
    origin: from.origin,
    kind: 'unavailable',
    reason: error instanceof PlumblineError ? error.code : 'failed',
  }));
  const said = votes.flatMap((vote) =>
    'key' in vote ? [{ origin: vote.from.origin, answer: vote.key.slice(0, 100) }] : [],
  );
  const details = { needed, agreed, answers: answers.length, said, endpoints };
  const listed = said.map(({ origin, answer }) => `${origin} says ${answer}`).join('; ');
  const message = `about ${what}, ${agreed === 1 ? 'no two endpoints' : `${agreed} endpoints`} agree, but ${needed} must (${listed})`;
  return new PlumblineError('UPSTREAM_DISAGREEMENT', message, details);
}
