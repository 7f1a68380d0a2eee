import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Network } from '../../src/networks/network.js';
import { ENDLESS, endlessAccounts } from '../../test/support/endless.js';

/** Milliseconds: of the slowest other request, and from the time limit and from an abort until the node was free again. */
export interface TurnsResult {
  readonly name: string;
  readonly otherMs: number;
  readonly lateMs: number;
  readonly abortMs: number;
}

/** So much gas that a call takes minutes. */
const GAS = 9_000_000_000n;
const TIMEOUT_MS = 1000;
const ABORT_AFTER_MS = 300;
const PAUSE_MS = 5;

const { alloc, calls } = endlessAccounts(ENDLESS);

/** Options of the node that is measured. */
export function turnsOptions(network: Network) {
  const chain = { kind: 'devnet', network: { ...network, rpcGasCap: GAS }, alloc } as const;
  return { chain, requestTimeoutMs: TIMEOUT_MS, connectionGasBudget: 1e15 };
}

/** Sends requests that would run for minutes, and others beside each until its time limit; then once more, until it is aborted. */
export async function measureTurns(node: Pick<PlumblineNode, 'request' | 'handle'>): Promise<TurnsResult[]> {
  const results: TurnsResult[] = [];
  const other = () => node.request({ method: 'eth_chainId' });
  await other();
  for (const [name, call] of calls) {
    const params = [{ ...call, gas: `0x${GAS.toString(16)}` }, 'latest'];
    results.push(
      await measure(name, (signal) => node.request<UntypedMethod>({ method: 'eth_call', params }, { signal }), other),
    );
  }
  const [, call] = calls[0]!;
  const member = { jsonrpc: '2.0', method: 'eth_call', params: [{ ...call, gas: '0x7a120' }, 'latest'] };
  const body = JSON.stringify(Array.from({ length: 1024 }, (_, id) => ({ ...member, id })));
  const batch = (signal: AbortSignal) => {
    const headers = { 'content-type': 'application/json' };
    return node.handle(new Request('http://127.0.0.1/', { method: 'POST', headers, body, signal }));
  };
  results.push(await measure('a batch of 1 024 calls', batch, other));
  return results;
}

async function measure(
  name: string,
  send: (signal: AbortSignal) => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<TurnsResult> {
  let ended = false;
  let otherMs = 0;
  const began = performance.now();
  const long = settled(send(new AbortController().signal)).then(() => {
    ended = true;
    return performance.now() - began;
  });
  while (!ended) {
    const asked = performance.now();
    await other();
    otherMs = Math.max(otherMs, performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const lateMs = Math.max(0, (await long) - TIMEOUT_MS);
  const stop = new AbortController();
  const aborted = settled(send(stop.signal));
  await new Promise((resolve) => setTimeout(resolve, ABORT_AFTER_MS));
  const stoppedAt = performance.now();
  stop.abort();
  await aborted;
  await other();
  return { name, otherMs, lateMs, abortMs: performance.now() - stoppedAt };
}

const settled = (answer: Promise<unknown>) =>
  answer.then(
    () => {},
    () => {},
  );
