import type { AnswerClass } from '../../rpc/protocol/answer-report.js';
import { failure, type Reply, type RpcRequest, type RpcResponse, readRequest } from '../../rpc/protocol/envelope.js';
import { toRpcError } from '../../rpc/protocol/rpc-errors.js';
import type { Forward } from './forward.js';

/** Who answers what. */
export interface Parts {
  /** @throws when there is no node to ask */
  readonly local: (payload: unknown) => Promise<Reply>;
  readonly serves: (method: string) => boolean;
  /** For methods that the node does not have; errors of the node's own when left out. */
  readonly forward: Forward | undefined;
  /** For methods that it has, while it cannot be opened. */
  readonly fallback: Forward | undefined;
  readonly maxBatch: number;
  readonly signal?: AbortSignal | undefined;
}

/** What each response rests on: `forwarded` when it is unchecked, `error` for an error of the node's own. */
export interface SplitReply extends Reply {
  readonly classes: readonly (AnswerClass | 'error' | 'unreported')[];
}

type Answer = { readonly response: RpcResponse; readonly class: SplitReply['classes'][number] };

/**
 * Answers a payload by the node as far as that has the methods, and by forwarding for the rest, both at the same time.
 * The responses stand in the order of the requests, whoever they come from.
 */
export async function answerSplit(payload: unknown, parts: Parts): Promise<SplitReply> {
  const isBatch = Array.isArray(payload);
  const members: unknown[] = isBatch ? payload : [payload];
  const requests = members.map(readRequest);
  const { forward, serves } = parts;
  const isAway = (i: number) => {
    const request = requests[i]!;
    return forward !== undefined && !('error' in request) && !serves(request.method);
  };
  const away = members.length > parts.maxBatch ? [] : members.map((_, i) => i).filter(isAway);
  if (away.length === 0) return own(payload, parts);

  const here = members.map((_, i) => i).filter((i) => !isAway(i));
  const [ours, theirs] = await Promise.all([
    here.length === 0
      ? []
      : own(
          here.map((i) => members[i]),
          parts,
        ).then(answersOf),
    handOn(
      away.map((i) => members[i]),
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

/** Hands on; where nobody answers JSON-RPC, the node says what it says of methods that it does not have. */
async function handOn(members: readonly unknown[], parts: Parts, forward: Forward): Promise<Answer[]> {
  const said = await forward(
    members.map((member) => readRequest(member) as RpcRequest),
    parts.signal,
  );
  if (said === undefined) return answersOf(await own(members, parts));
  return said.map((response) => ({ response, class: 'forwarded' }));
}

/** By the node; when that cannot be had by the fallback, and without one every request gets the error. */
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
    const said = useFallback ? await fallback(sound, signal) : undefined;
    const bodies =
      said ??
      requests
        .filter((request) => 'error' in request || request.id !== undefined)
        .map((request) => ('error' in request ? request : failure(request.id!, toRpcError(error))));
    return {
      body: isBatch ? bodies : bodies[0],
      classes: bodies.map(() => (said === undefined ? 'error' : 'forwarded')),
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
  // Each answer has its report; an error has one only if its method began.
  const told = reports.filter(({ errorCode }) => errorCode === undefined);
  if (told.length !== answers.length)
    return responses.map((response) => ('error' in response ? 'error' : 'unreported'));
  return responses.map((response) => ('error' in response ? 'error' : told.shift()!.class));
}

function answersOf(reply: SplitReply): Answer[] {
  return listOf(reply).map((response, i) => ({ response, class: reply.classes[i]! }));
}
