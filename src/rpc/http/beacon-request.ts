import type { Reply, RpcResponse } from '../protocol/envelope.js';

/** Where paths of the beacon API begin, wherever the handler is mounted. */
const BEACON_PATH = '/eth/v';

/** The JSON-RPC request for a GET of the beacon API; undefined for another address. */
export function beaconRequest(address: string): unknown {
  const { pathname, search } = new URL(address);
  const at = pathname.indexOf(BEACON_PATH);
  if (at < 0) return undefined;
  return { jsonrpc: '2.0', id: 1, method: 'beacon_get', params: [pathname.slice(at) + search] };
}

/** The answer to a GET of the beacon API. A node without a beacon chain answers 501. */
export function beaconResponse({ body, fault }: Reply, headers: Record<string, string>): Response {
  const reply = body as RpcResponse;
  if ('result' in reply) {
    const { status, body: answer } = reply.result as { status: number; body: unknown };
    return Response.json(answer, { status, headers });
  }
  const { code, message } = reply.error;
  const isAbsent = code === -32601 || code === -32604;
  const status = isAbsent ? 501 : fault === 'timeout' ? 503 : 500;
  return Response.json({ code: status, message }, { status, headers });
}
