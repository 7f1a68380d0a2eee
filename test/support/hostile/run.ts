import fc from 'fast-check';
import { isPlumblineError } from '../../../src/errors.js';
import type { PlumblineNode } from '../../../src/hosts/provider/node-handle.js';
import { mayChange } from '../../../src/rpc/method-info.js';
import { DEFAULT_WAIT_MS } from '../../../src/rpc/methods/send-sync.js';
import { RpcError } from '../../../src/rpc/rpc-errors.js';
import { FIRST_SEED } from '../programs/seed.js';

/** Inputs of one seed: a fresh scene takes so many. */
const PER_SEED = 250;
const PRINTED_EACH = 20_000;

/** An open scene: what is done with one input, and how it ends. `check` throws where an input shows a fault. */
export interface HostileScene<Input> {
  readonly inputs: fc.Arbitrary<Input>;
  check(input: Input): Promise<void> | void;
  close?(): Promise<void>;
}

/**
 * Runs `count` inputs, 250 of each seed on a scene of its own. A failure names the seed, the input as it was shrunk and the
 * reason; `PLUMBLINE_SEED=N PLUMBLINE_COUNT=1` with the name of the test repeats that seed alone. A promise that is rejected
 * without a handler is a failure too. Long runs print how far they are.
 *
 * @param open - makes the scene of a seed
 */
export async function runHostile<Input>(
  count: number,
  open: (seed: number) => Promise<HostileScene<Input>>,
): Promise<void> {
  const seeds = Number(process.env.PLUMBLINE_COUNT ?? Math.ceil(count / PER_SEED));
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const restoreWaits = shortenWaits();
  try {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
      const done = (seed - FIRST_SEED) * PER_SEED;
      if (done > 0 && done % PRINTED_EACH === 0) console.log(`${done} of ${count} inputs`);
      const scene = await open(seed);
      try {
        const property = fc.asyncProperty(scene.inputs, async (input) => {
          await scene.check(input);
          if (unhandled.length > 0) throw new Error(`rejected without a handler: ${unhandled.splice(0).map(describe)}`);
        });
        const found = await fc.check(property, { seed, numRuns: Math.min(count, PER_SEED) });
        if (found.failed) {
          const input = found.counterexample?.[0];
          throw new Error(
            `PLUMBLINE_SEED=${seed} PLUMBLINE_COUNT=1, input ${found.numRuns} of the seed: ${describe(found.errorInstance)}\n` +
              `input: ${typeof input === 'string' ? input : fc.stringify(input)}`,
            { cause: found.errorInstance },
          );
        }
      } finally {
        await scene.close?.();
      }
    }
    // Handlers of rejections run a turn later.
    await new Promise((resolve) => setImmediate(resolve));
    if (unhandled.length > 0) throw new Error(`rejected without a handler: ${unhandled.map(describe)}`);
  } finally {
    restoreWaits();
    process.off('unhandledRejection', note);
  }
}

/**
 * A node waits 20 s for the block that includes a transaction. No block comes here but for a request before, so 20 ms show the
 * same. No other time limit has this length.
 *
 * @returns puts the clock back
 */
function shortenWaits(): () => void {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((work: () => void, delayMs?: number, ...rest: []) =>
    setTimeout(work, delayMs === DEFAULT_WAIT_MS ? 20 : delayMs, ...rest)) as typeof setTimeout;
  return () => {
    globalThis.setTimeout = setTimeout;
  };
}

function describe(error: unknown): string {
  return error instanceof Error
    ? isPlumblineError(error)
      ? `${error.code} ${error.message}`
      : `${error.stack}`
    : String(error);
}

/** A member of an answer that is not as JSON-RPC and docs/spec/json-rpc.md 4 have it; undefined where all are. */
function faultOfAnswer(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return 'is no object';
  const { jsonrpc, id, result, error, ...rest } = answer as Record<string, unknown>;
  if (jsonrpc !== '2.0') return 'has no jsonrpc 2.0';
  if (id !== null && typeof id !== 'string' && typeof id !== 'number') return 'has no id';
  if (Object.keys(rest).length > 0) return `has the members ${Object.keys(rest)}`;
  if ((result === undefined) === (error === undefined)) return 'has neither or both of result and error';
  if (error === undefined) return undefined;
  const { code, message, data: _, ...more } = error as Record<string, unknown>;
  if (!Number.isSafeInteger(code) || typeof message !== 'string' || message === '') return 'has an error without code';
  if (Object.keys(more).length > 0) return `has an error with the members ${Object.keys(more)}`;
  return code === -32603 ? 'is an internal error' : undefined;
}

interface Sent {
  readonly id?: unknown;
  readonly method?: unknown;
}

/** The request objects of a body; undefined for one that is not JSON. */
function requestsOf(body: string): { readonly payload: unknown; readonly requests: readonly Sent[] } | undefined {
  let payload: unknown;
  try {
    // The mark at the beginning of a text may be left out of it (RFC 8259, section 8.1).
    payload = JSON.parse(body.replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
  const items = Array.isArray(payload) ? payload : [payload];
  return { payload, requests: items.filter((item): item is Sent => typeof item === 'object' && item !== null) };
}

type Answers = { readonly id: unknown; readonly error?: { readonly code: number } };

/**
 * What is wrong with the answer to a body, by the JSON-RPC specification; undefined where nothing is.
 *
 * @param status - of an answer over HTTP
 */
export function faultOfReply(body: string, status: number | undefined, text: string): string | undefined {
  if (![undefined, 200, 400, 413].includes(status)) return 'has another status';
  const sent = requestsOf(body);
  if (text === '') {
    // A request without id has no answer. A batch has one, empty if all of its requests are without id.
    const isNotification = sent !== undefined && !Array.isArray(sent.payload) && sent.requests[0]?.id === undefined;
    return isNotification && status !== 400 ? undefined : 'is empty';
  }
  const reply = JSON.parse(text) as Answers | Answers[];
  for (const answer of Array.isArray(reply) ? reply : [reply]) {
    const fault = faultOfAnswer(answer);
    if (fault !== undefined) return fault;
  }
  if (sent === undefined) {
    return status !== 200 && !Array.isArray(reply) && reply.error?.code === -32700 ? undefined : 'is not -32700';
  }
  if (!Array.isArray(sent.payload)) {
    if (Array.isArray(reply)) return 'is a batch';
    return reply.id === null || reply.id === sent.requests[0]?.id ? undefined : 'has another id';
  }
  if (!Array.isArray(reply)) return reply.id === null ? undefined : 'is no batch';
  // Ids come back in the order of the requests, null for what cannot be an id.
  const ids = reply.flatMap(({ id }) => (id === null ? [] : [id]));
  let at = 0;
  for (const { id } of sent.requests) if (id === ids[at]) at++;
  return reply.length > sent.payload.length || at < ids.length ? 'has other ids, or in another order' : undefined;
}

/** Errors of methods that have no code: what a caller sees as an internal error without reason. */
export function isUntyped(error: unknown): boolean {
  return !(error instanceof RpcError) && (!isPlumblineError(error) || error.code === 'INTERNAL');
}

/** Whether no request of the body may change anything, from the table of methods. */
export function onlyReads(body: string): boolean {
  const sent = requestsOf(body);
  return (sent?.requests ?? []).every(
    ({ method }) => typeof method !== 'string' || !isKnown(method) || !mayChange('l2', method),
  );
}

const isKnown = (method: string) =>
  /^(eth|linea|l2|net|web3|wallet|personal|debug|admin|rpc|evm|anvil|hardhat|tenderly|txpool)_/.test(method);

/** Sends a body to a node over its HTTP handler. */
export async function post(
  node: PlumblineNode,
  body: string,
  layer: 'l1' | 'l2' = 'l2',
): Promise<{ status: number; text: string }> {
  const request = new Request('http://localhost/', { method: 'POST', body });
  const response = await (layer === 'l2' ? node.handle(request) : node.handleL1(request));
  return { status: response.status, text: await response.text() };
}

/** The result of `work`; undefined where it throws a PlumblineError with one of the codes. @throws any other error */
export function typedOnly<T>(codes: readonly string[], work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isPlumblineError(error) && codes.includes(error.code)) return undefined;
    throw error;
  }
}

/** As `typedOnly`, for work that takes time. */
export async function typedOnlyAsync<T>(codes: readonly string[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isPlumblineError(error) && codes.includes(error.code)) return undefined;
    throw error;
  }
}

/** Any value as text, bigints and bytes included. */
export function shown(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`;
    if (part instanceof Uint8Array) return Buffer.from(part).toString('hex');
    return part instanceof Map ? [...part] : part;
  });
}
