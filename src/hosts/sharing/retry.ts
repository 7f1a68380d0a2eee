import { PlumblineError } from '../../errors.js';
import { keccak256 } from '../../kernel/keccak.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import {
  answersOf,
  isAnswered,
  methodOf,
  payloadItems,
  type Reply,
  type RpcResponse,
  readRequest,
  responsesOf,
} from '../../rpc/envelope.js';
import { createDispatcher } from '../../rpc/handle.js';
import { isIdempotent, mayChange } from '../../rpc/method-info.js';
import type { Layer } from '../provider/transport.js';

type Ask = (payload: unknown) => Promise<Reply>;

/** @param item - a request object; a malformed one has no effect, so it can be retried */
function canRetry(layer: Layer, item: unknown): boolean {
  const request = readRequest(item);
  return 'error' in request || isIdempotent(layer, request.method);
}

/** Whether a payload has a request that must not be carried out twice. */
export function isNonIdempotent(layer: Layer, payload: unknown): boolean {
  return payloadItems(payload).some((item) => !canRetry(layer, item));
}

/** Whether a payload has a request that may change what the node stores. */
export function changesState(layer: Layer, payload: unknown): boolean {
  return payloadItems(payload).some((item) => {
    const request = readRequest(item);
    return !('error' in request) && mayChange(layer, request.method);
  });
}

/**
 * Retries a payload that an earlier writer may have carried out. Idempotent requests are sent again; the others are answered with
 * `OUTCOME_UNKNOWN`.
 */
export async function retry(layer: Layer, payload: unknown, ask: Ask): Promise<Reply> {
  if (!Array.isArray(payload)) {
    if (!canRetry(layer, payload)) return refuse(payload, unknownOutcome(payload));
    return withKnownTransactions(await ask(payload), [payload], ask);
  }
  const retried = payload.filter((item) => canRetry(layer, item));
  const reply = retried.length === 0 ? { body: [] } : await withKnownTransactions(await ask(retried), retried, ask);
  // One error for the whole payload, such as a batch that is too long or a timeout.
  if (!Array.isArray(reply.body)) return reply;
  const answers = [...(reply.body as readonly RpcResponse[])];
  const body: RpcResponse[] = [];
  for (const item of payload) {
    if (!canRetry(layer, item)) body.push(...responsesOf(await refuse(item, unknownOutcome(item))));
    else if (isAnswered(item)) body.push(...answers.splice(0, 1));
  }
  return { ...reply, body };
}

/** Answers each request of a payload with the same error. */
export function refuse(payload: unknown, error: Error): Promise<Reply> {
  const refusing = {
    names: [],
    find() {
      throw error;
    },
  };
  return createDispatcher(refusing, {})(payload);
}

/**
 * A retried transaction that was included the first time is refused as known. Replaces that error by the hash of the transaction.
 */
async function withKnownTransactions(reply: Reply, items: readonly unknown[], ask: Ask): Promise<Reply> {
  const found = new Map<RpcResponse, RpcResponse>();
  for (const { item, answer } of answersOf(items, reply)) {
    if (!('error' in answer) || methodOf(item) !== 'eth_sendRawTransaction') continue;
    const hash = hashOf(item);
    if (hash === undefined || !(await isOnChain(hash, ask))) continue;
    found.set(answer, { jsonrpc: '2.0', id: answer.id, result: hash });
  }
  if (found.size === 0) return reply;
  const put = (answer: RpcResponse) => found.get(answer) ?? answer;
  const { body } = reply;
  return { ...reply, body: Array.isArray(body) ? body.map(put) : put(body as RpcResponse) };
}

async function isOnChain(hash: string, ask: Ask): Promise<boolean> {
  const { body } = await ask({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionByHash', params: [hash] });
  return (body as { result?: unknown } | undefined)?.result instanceof Object;
}

/** @returns undefined when the parameters hold no transaction */
function hashOf(item: unknown): string | undefined {
  try {
    return bytesToHex(keccak256(hexToBytes((item as { params: [string] }).params[0])));
  } catch {
    return undefined;
  }
}

function unknownOutcome(item: unknown): PlumblineError<'OUTCOME_UNKNOWN'> {
  const method = String(methodOf(item));
  const advice = 'read the chain before you send it again';
  const message = `the node that carried out ${method} ended before it answered; ${advice}`;
  return new PlumblineError('OUTCOME_UNKNOWN', message, { method });
}
