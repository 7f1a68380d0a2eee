import type { AnswerClass, AnswerReport } from '../../rpc/protocol/answer-report.js';
import { failure, type Reply, type RpcRequest, type RpcResponse, readRequest } from '../../rpc/protocol/envelope.js';
import { toRpcError } from '../../rpc/protocol/rpc-errors.js';
import type { Forward } from './forward.js';

/** How the requests of a payload are answered. */
export interface Parts {
  /** Answers by the node. @throws when the node cannot be opened */
  readonly local: (payload: unknown) => Promise<Reply>;
  readonly serves: (method: string) => boolean;
  /** Answers methods that the node does not have. If undefined, the node answers them with errors. */
  readonly forward: Forward | undefined;
  /** Answers methods that the node has, while it cannot be opened. */
  readonly fallback: Forward | undefined;
  readonly maxBatch: number;
  readonly signal?: AbortSignal | undefined;
}

/** How a response is known. */
export interface Mark {
  /** `forwarded` when it is not verified, `error` for an error of the node. */
  readonly class: AnswerClass | 'error' | 'unreported';
  /** Left out where it rests on no block. */
  readonly level?: AnswerReport['level'];
  readonly relayed?: AnswerReport['relayed'];
}

/** A reply with a mark for each response. */
export interface SplitReply extends Reply {
  readonly marks: readonly Mark[];
}

type Answer = { readonly response: RpcResponse; readonly mark: Mark };

const FORWARDED: Mark = { class: 'forwarded' };
const ERROR: Mark = { class: 'error' };

/**
 * Answers the requests of a payload: by the node if it has the method, otherwise by forwarding. Both run at the same time. The
 * responses are in the order of the requests.
 */
export async function answerSplit(payload: unknown, parts: Parts): Promise<SplitReply> {
  const isBatch = Array.isArray(payload);
  const items: unknown[] = isBatch ? payload : [payload];
  const requests = items.map(readRequest);
  const { forward, serves } = parts;
  const isAway = (i: number) => {
    const request = requests[i]!;
    return forward !== undefined && !('error' in request) && !serves(request.method);
  };
  const away = items.length > parts.maxBatch ? [] : items.map((_, i) => i).filter(isAway);
  if (away.length === 0) return own(payload, parts);

  const here = items.map((_, i) => i).filter((i) => !isAway(i));
  const [ours, theirs] = await Promise.all([
    here.length === 0
      ? []
      : own(
          here.map((i) => items[i]),
          parts,
        ).then(answersOf),
    forwardAll(
      away.map((i) => items[i]),
      parts,
      forward!,
    ),
  ]);
  const answers: Answer[] = [];
  for (const [i, request] of requests.entries()) {
    if (!('error' in request) && request.id === undefined) continue;
    const answer = (away.includes(i) ? theirs : ours).shift();
    if (answer !== undefined) answers.push(answer);
  }
  const bodies = answers.map(({ response }) => response);
  return { body: isBatch ? bodies : bodies[0], marks: answers.map(({ mark }) => mark) };
}

/** Forwards requests. If the URL does not answer JSON-RPC, the node answers with its errors. */
async function forwardAll(requests: readonly unknown[], parts: Parts, forward: Forward): Promise<Answer[]> {
  const responses = await forward(
    requests.map((request) => readRequest(request) as RpcRequest),
    parts.signal,
  );
  if (responses === undefined) return answersOf(await own(requests, parts));
  return responses.map((response) => ({ response, mark: FORWARDED }));
}

/** Answers by the node. If it cannot be opened, the fallback answers; without a fallback, each request gets the error. */
async function own(payload: unknown, parts: Parts): Promise<SplitReply> {
  const { local, fallback, signal } = parts;
  try {
    const reply = await local(payload);
    return { ...reply, marks: marksOf(reply) };
  } catch (error) {
    const isBatch = Array.isArray(payload);
    const requests = (isBatch ? payload : [payload]).map(readRequest);
    const sound = requests.filter((request): request is RpcRequest => !('error' in request));
    const useFallback = fallback !== undefined && sound.length === requests.length && signal?.aborted !== true;
    const responses = useFallback ? await fallback(sound, signal) : undefined;
    const bodies =
      responses ??
      requests
        .filter((request) => 'error' in request || request.id !== undefined)
        .map((request) => ('error' in request ? request : failure(request.id!, toRpcError(error))));
    return {
      body: isBatch ? bodies : bodies[0],
      marks: bodies.map(() => (responses === undefined ? ERROR : FORWARDED)),
    };
  }
}

function listOf(reply: Reply): readonly RpcResponse[] {
  const { body } = reply;
  return body === undefined ? [] : Array.isArray(body) ? (body as readonly RpcResponse[]) : [body as RpcResponse];
}

function marksOf(reply: Reply): SplitReply['marks'] {
  const reports = [...(reply.reports ?? [])];
  const responses = listOf(reply);
  const answers = responses.filter((response) => !('error' in response));
  // Each result has a report. An error has one only if its method began.
  const ofResults = reports.filter(({ errorCode }) => errorCode === undefined);
  if (ofResults.length !== answers.length)
    return responses.map((response) => ('error' in response ? ERROR : { class: 'unreported' }));
  return responses.map((response) => ('error' in response ? ERROR : ofResults.shift()!));
}

function answersOf(reply: SplitReply): Answer[] {
  return listOf(reply).map((response, i) => ({ response, mark: reply.marks[i]! }));
}
