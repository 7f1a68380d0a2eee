import { registerRpcProxy } from 'plumbline';
import { element, facts, make } from './dom.js';
import { readTransfer } from './transfer.js';

/** Starts the service worker and asks it with `fetch`, as a page does that only knows an RPC URL. */
export async function askThroughProxy(): Promise<void> {
  await registerRpcProxy({ scriptUrl: './service-worker.js' });
  const body = { jsonrpc: '2.0', id: 1, method: 'linea_estimateGas', params: [readTransfer().call] };
  const response = await fetch('/rpc', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as {
    result?: Record<string, string>;
    error?: { code: number; message: string };
  };
  if (answer.result === undefined) throw Object.assign(new Error(answer.error?.message), { code: answer.error?.code });
  element('proxy-result').replaceChildren(
    make('p', 'Answered by the service worker.', 'verdict good'),
    facts(Object.entries(answer.result)),
  );
}
