import { createDispatcher } from '../src/rpc/handle.js';
import { createFetchHandler } from '../src/rpc/http.js';
import { createMethodTable } from '../src/rpc/method.js';
import { METHOD_INFO } from '../src/rpc/method-info.js';
import type { Area } from './area.js';
import { differs } from './area.js';
import { withoutReason } from './io-file.js';

const FILE = 'json-rpc/envelope.json';

/** One raw body and its answer. `body` null is an empty one. */
interface EnvelopeCase {
  readonly name: string;
  readonly request: string;
  readonly status: number;
  readonly body: unknown;
  /** The id of the answer is free. */
  readonly anyId?: boolean;
  /** A client may answer with an error instead. */
  readonly clientMayReject?: boolean;
  /** Another answer a client may give, in words. */
  readonly clientMay?: string;
}

/** The endpoint the fixture speaks of: one method, chain id 0xe708. */
export function fixtureEndpoint(): (request: Request) => Promise<Response> {
  const table = createMethodTable([{ name: 'eth_chainId', info: METHOD_INFO.l2.eth_chainId, handle: () => '0xe708' }]);
  return createFetchHandler(createDispatcher(table, undefined));
}

/** JSON-RPC over HTTP: statuses and bodies (docs/spec/json-rpc.md 3). */
export const envelopeArea: Area = {
  name: 'json-rpc/envelope',
  usesKernel: false,
  files: (material) => (material.has(FILE) ? [FILE] : []),
  async run(material, report) {
    const endpoint = fixtureEndpoint();
    for (const entry of material.json<{ cases: EnvelopeCase[] }>(FILE).cases) {
      await report.check(entry.name, () => checkEnvelopeCase(endpoint, entry));
    }
  },
};

/** A text when the endpoint's answer is not the one of the case. */
export async function checkEnvelopeCase(
  endpoint: (request: Request) => Promise<Response>,
  entry: EnvelopeCase,
): Promise<string | undefined> {
  const init = { method: 'POST', body: entry.request, headers: { 'content-type': 'application/json' } };
  const response = await endpoint(new Request('http://localhost/', init));
  const text = await response.text();
  // Of a message, only the text before a detail in parentheses is fixed (docs/spec/json-rpc.md 4.1).
  const body: unknown =
    text === '' ? null : JSON.parse(text.replace(/("message":"Method not found) \([^"]*\)"/g, '$1"'));
  for (const answer of [body].flat()) {
    const own = answer as { error?: Record<string, unknown> } | null;
    if (own?.error !== undefined) own.error = withoutReason(own.error);
  }
  if (mayAnswer(entry, response.status, body)) return undefined;
  const [wanted, got] = entry.anyId === true ? [withoutId(entry.body), withoutId(body)] : [entry.body, body];
  return differs({ status: entry.status, body: wanted }, { status: response.status, body: got });
}

/** The leniencies the fixture grants: an error instead of an answer, another error code, or an empty body. */
function mayAnswer(entry: EnvelopeCase, status: number, body: unknown): boolean {
  const code = errorCode(body);
  if (entry.clientMayReject === true) return code !== undefined;
  const otherCode = /^answer (-\d+) instead$/.exec(entry.clientMay ?? '')?.[1];
  if (otherCode !== undefined) return code === Number(otherCode);
  return entry.clientMay === 'answer with an empty body instead' && status === entry.status && body === null;
}

function errorCode(body: unknown): number | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  return (body.error as { code?: number }).code;
}

function withoutId(body: unknown): unknown {
  return typeof body === 'object' && body !== null ? { ...body, id: 'any' } : body;
}
