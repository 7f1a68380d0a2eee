import type { AnswerClass } from '../../rpc/protocol/answer-report.js';
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

/** A reply with the class of each response: `forwarded` when it is not verified, `error` for an error of the node. */
export interface SplitReply extends Reply {
  readonly classes: readonly (AnswerClass | 'error' | 'unreported')[];
}

type Answer = { readonly response: RpcResponse; readonly class: SplitReply['classes'][number] };

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
  return { body: isBatch ? bodies : bodies[0], classes: answers.map((answer) => answer.class) };
}

/** Forwards requests. If the URL does not answer JSON-RPC, the node answers with its errors. */
async function forwardAll(requests: readonly unknown[], parts: Parts, forward: Forward): Promise<Answer[]> {
  const responses = await forward(
    requests.map((request) => readRequest(request) as RpcRequest),
    parts.signal,
  );
  if (responses === undefined) return answersOf(await own(requests, parts));
  return responses.map((response) => ({ response, class: 'forwarded' }));
}

/** Answers by the node. If it cannot be opened, the fallback answers; without a fallback, each request gets the error. */
async function own(payload: unknown, parts: Parts): Promise<SplitReply> {
  const { local, fallback, signal } = parts;
  try {
    const reply = await local(payload);
    return { ...reply, classes: classesOf(reply) };
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
      classes: bodies.map(() => (responses === undefined ? 'error' : 'forwarded')),
    };
  }
}

function listOf(reply: Reply): readonly RpcResponse[] {
  const { body } = reply;
  return body === undefined ? [] : Array.isArray(body) ? (body as readonly RpcResponse[]) : [body as RpcResponse];
}

function classesOf(reply: Reply): SplitReply['classes'] {
  const reports = [...(reply.reports ?? [])];
  const responses = listOf(reply);
  const answers = responses.filter((response) => !('error' in response));
  // Each result has a report. An error has one only if its method began.
  const ofResults = reports.filter(({ errorCode }) => errorCode === undefined);
  if (ofResults.length !== answers.length)
    return responses.map((response) => ('error' in response ? 'error' : 'unreported'));
  return responses.map((response) => ('error' in response ? 'error' : ofResults.shift()!.class));
}

function answersOf(reply: SplitReply): Answer[] {
  return listOf(reply).map((response, i) => ({ response, class: reply.classes[i]! }));
}
