import { keccak_256 } from '@noble/hashes/sha3.js';
import { PlumblineError } from '../../errors.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { type Reply, type RpcResponse, readRequest } from '../../rpc/protocol/envelope.js';
import { handlePayload } from '../../rpc/protocol/handle.js';
import { isIdempotent, mayChange } from '../../rpc/protocol/method-info.js';
import type { Layer } from '../provider/transport.js';

type Ask = (payload: unknown) => Promise<Reply>;

/**
 * Whether asking a second time does what asking once does. A signed transaction happens once, whoever sends it how often.
 *
 * @param payload - a request object; what is none does nothing
 */
function isRepeatable(layer: Layer, payload: unknown): boolean {
  const request = readRequest(payload);
  if ('error' in request) return true;
  return isIdempotent(layer, request.method);
}

/** Whether carrying a payload out a second time would do something twice. */
export function happensTwice(layer: Layer, payload: unknown): boolean {
  return listOf(payload).some((item) => !isRepeatable(layer, item));
}

/** Whether a payload may change what the node keeps. A filter or a subscription is not meant: those end with the writer. */
export function writes(layer: Layer, payload: unknown): boolean {
  return listOf(payload).some((item) => {
    const request = readRequest(item);
    return !('error' in request) && mayChange(layer, request.method);
  });
}

/**
 * Asks for a payload that an earlier writer may have carried out: again for what may be repeated; the rest is answered
 * with `OUTCOME_UNKNOWN`.
 */
export async function repeat(layer: Layer, payload: unknown, ask: Ask): Promise<Reply> {
  if (!Array.isArray(payload)) {
    if (!isRepeatable(layer, payload)) return refuse(payload, unknownOutcome(payload));
    return replace(await ask(payload), [payload], ask);
  }
  const again = payload.filter((item) => isRepeatable(layer, item));
  const reply = again.length === 0 ? { body: [] } : await replace(await ask(again), again, ask);
  // The whole payload was refused: too long a batch, too long a wait.
  if (!Array.isArray(reply.body)) return reply;
  const answers = [...(reply.body as readonly RpcResponse[])];
  const body: RpcResponse[] = [];
  for (const item of payload) {
    if (!isRepeatable(layer, item)) body.push(...bodyOf(await refuse(item, unknownOutcome(item))));
    else if (isAnswered(item)) body.push(...answers.splice(0, 1));
  }
  return { ...reply, body };
}

/** What a payload is answered when nothing of it can be carried out: each request with this error. */
export function refuse(payload: unknown, error: Error): Promise<Reply> {
  const refusing = {
    names: [],
    find() {
      throw error;
    },
  };
  return handlePayload(refusing, {}, payload);
}

/**
 * The requests of a payload that have an answer, with the answers.
 *
 * @returns nothing for a payload that was refused as a whole
 */
export function answersOf(payload: unknown, { body }: Reply): { item: unknown; answer: RpcResponse }[] {
  const answers = listOf(body) as RpcResponse[];
  const asked = listOf(payload).filter(isAnswered);
  return asked.length === answers.length ? asked.map((item, i) => ({ item, answer: answers[i]! })) : [];
}

/** The method a request object names. */
export function methodOf(item: unknown): unknown {
  return (item as { method?: unknown } | null | undefined)?.method;
}

/** A transaction that the chain has already was sent by the first asking: its hash is the answer. */
async function replace(reply: Reply, items: readonly unknown[], ask: Ask): Promise<Reply> {
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

/** @returns undefined for parameters that hold no transaction */
function hashOf(item: unknown): string | undefined {
  try {
    return bytesToHex(keccak_256(hexToBytes((item as { params: [string] }).params[0])));
  } catch {
    return undefined;
  }
}

function unknownOutcome(item: unknown): PlumblineError<'OUTCOME_UNKNOWN'> {
  const method = String(methodOf(item));
  return new PlumblineError('OUTCOME_UNKNOWN', `the node that had ${method} ended before it answered`, { method });
}

/** Everything but a notification is answered, malformed requests included. */
function isAnswered(item: unknown): boolean {
  const request = readRequest(item);
  return 'error' in request || request.id !== undefined;
}

function bodyOf({ body }: Reply): RpcResponse[] {
  return listOf(body) as RpcResponse[];
}

function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
