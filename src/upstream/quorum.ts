import { invalidParameter, PlumblineError, type UpstreamReason } from '../errors.js';
import type { EndpointInfo } from './transport/fault.js';

export interface QuorumOptions<T> {
  /** How many must agree. Endpoints of one origin are one operator's, and count once. */
  readonly needed: number;
  /** Checks an answer and makes a value of it; what it throws makes this answer count for nothing. */
  readonly accept: (result: unknown, from: EndpointInfo) => T | Promise<T>;
  /** What has to be the same in two answers for them to agree. */
  readonly key: (value: T) => string;
  /** `enough` settles as soon as enough agree and breaks off the rest, `all` hears everybody out; `enough` unless told. */
  readonly wait?: 'enough' | 'all';
  /** Ids of the endpoints to ask; all unless told. */
  readonly endpoints?: readonly string[];
  readonly signal?: AbortSignal;
  /** Time of the whole in milliseconds, in place of the group's. */
  readonly timeoutMs?: number;
  readonly share?: boolean;
}

/** What one endpoint said, or why it said nothing. */
export type Vote<T> =
  | { readonly from: EndpointInfo; readonly value: T; readonly key: string }
  | { readonly from: EndpointInfo; readonly error: unknown };

export interface QuorumAnswer<T> {
  readonly value: T;
  readonly key: string;
  /** Endpoints that agree on it. */
  readonly agreed: readonly EndpointInfo[];
  /** Everything that was heard, in the order of hearing; others were broken off. */
  readonly votes: readonly Vote<T>[];
}

/**
 * Asks all of `endpoints` side by side.
 *
 * @param ask - asks one of them; ends when its signal does
 * @throws PlumblineError `UPSTREAM_DISAGREEMENT`, `INVALID_PARAMETER`, `ABORTED`; the first error when so few answered
 *   that they could not have agreed
 */
export async function askQuorum<T>(
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
        const best = mostAgreed(votes);
        const isOver = votes.length === endpoints.length;
        if (best !== undefined && best.support >= needed && (isOver || wait === 'enough'))
          resolve({ value: best.value, key: best.key, agreed: best.agreed, votes: [...votes] });
        else if (isOver) reject(failureOf(votes, needed, best?.support ?? 0, caller));
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

interface Agreement<T> {
  readonly value: T;
  readonly key: string;
  readonly agreed: readonly EndpointInfo[];
  /** Number of origins. */
  readonly support: number;
}

/** The key most origins stand behind; the first heard of those that are equal in that. */
function mostAgreed<T>(votes: readonly Vote<T>[]): Agreement<T> | undefined {
  let best: Agreement<T> | undefined;
  for (const vote of votes) {
    if ('error' in vote || vote.key === best?.key) continue;
    const agreed = votes.filter((other) => 'key' in other && other.key === vote.key).map(({ from }) => from);
    const support = new Set(agreed.map(({ origin }) => origin)).size;
    if (best === undefined || support > best.support) best = { value: vote.value, key: vote.key, agreed, support };
  }
  return best;
}

function failureOf<T>(votes: readonly Vote<T>[], needed: number, agreed: number, caller?: AbortSignal): unknown {
  const heard = votes.filter((vote) => !('error' in vote));
  const errors = votes.flatMap((vote) => ('error' in vote ? [vote] : []));
  const answered = new Set(heard.map(({ from }) => from.origin)).size;
  const timedOut = caller?.aborted ? errors.find(({ error }) => error instanceof PlumblineError) : undefined;
  if (timedOut !== undefined) return timedOut.error;
  if (answered < needed && errors[0] !== undefined) return errors[0].error;
  const endpoints: UpstreamReason[] = errors.map(({ from, error }) => ({
    origin: from.origin,
    kind: 'unavailable',
    reason: error instanceof PlumblineError ? error.code : 'failed',
  }));
  const details = { needed, agreed, answers: heard.length, endpoints };
  return new PlumblineError('UPSTREAM_DISAGREEMENT', `${agreed} endpoints agree where ${needed} must`, details);
}
