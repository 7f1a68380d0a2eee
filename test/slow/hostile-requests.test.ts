import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { type RunningServer, serve } from '../../src/hosts/server/serve.js';
import { devnet } from '../../src/networks/devnet.js';
import { accountAt } from '../support/dev-node.js';
import { ENDLESS, endlessAccounts, roundsOf } from '../support/endless.js';

/*
 * Slow because each request runs until its time limit. Prints how long others waited meanwhile and how late the limit was, in
 * milliseconds; the limits that are asserted leave room for a busy machine.
 */

const TIMEOUT_MS = 2_000;
const GENEROUS_MS = 5_000;
/** So much gas that a call takes minutes. */
const GAS = 9_000_000_000n;

const { alloc, calls } = endlessAccounts({ ...ENDLESS, short: { code: roundsOf(0x4500) } });
const short = calls.at(-1)![1];
const keys = Array.from({ length: 1024 }, (_, key) => `0x${key.toString(16)}`);

const request = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
const many = (count: number, one: object) => Array.from({ length: count }, (_, id) => ({ ...one, id }));
const block = (count: number) => ({ calls: Array.from({ length: count }, () => ({ to: short.to, gas: '0x10000' })) });

let node: PlumblineNode;
let server: RunningServer;
/** A snapshot at genesis. */
let snapshot: string;

beforeAll(async () => {
  const network = { ...devnet(), rpcGasCap: GAS };
  const chain = { kind: 'devnet', network, alloc, mining: 'manual' } as const;
  node = await createInlineNode({ chain, requestTimeoutMs: TIMEOUT_MS, connectionGasBudget: 1e15 });
  server = await serve(node, { port: 0 });
  // Loads what requests load at first.
  await node.request({ method: 'eth_call', params: [{ ...short, gas: '0x10000' }, 'latest'] }).catch(() => {});
  snapshot = (await node.request({ method: 'evm_snapshot' })) as string;
});

afterAll(async () => {
  await server.close({ graceMs: 0 });
  await node.close();
});

async function post(body: unknown, signal?: AbortSignal): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) };
  return (await fetch(`http://127.0.0.1:${server.port}/`, init)).json();
}

/** Sends the payload over a WebSocket of its own. */
async function overSocket(body: unknown): Promise<unknown> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`, { maxPayload: 2 ** 30 });
  await new Promise((resolve) => socket.once('open', resolve));
  const answer = new Promise((resolve) => socket.once('message', (data) => resolve(JSON.parse(String(data)))));
  socket.send(JSON.stringify(body));
  return answer.finally(() => socket.terminate());
}

/** Sends a request, and others until it is answered. */
async function beside(name: string, send: () => Promise<unknown>): Promise<unknown> {
  let answered = false;
  let worst = 0;
  let others = 0;
  const began = performance.now();
  const long = send().finally(() => {
    answered = true;
  });
  long.catch(() => {});
  do {
    const asked = performance.now();
    expect(await post(request('eth_chainId'))).toMatchObject({ result: '0xe703' });
    worst = Math.max(worst, performance.now() - asked);
    others++;
    await new Promise((resolve) => setTimeout(resolve, 5));
  } while (!answered);
  const took = performance.now() - began;
  console.log(`${name}: ${took.toFixed(0)} ms; ${others} others, the slowest answered in ${worst.toFixed(0)} ms`);
  expect(worst).toBeLessThan(GENEROUS_MS);
  expect(took).toBeLessThan(TIMEOUT_MS + GENEROUS_MS);
  return long;
}

const TIMED_OUT = { error: { code: -32603, message: 'Timeout expired' } };

describe.each([
  ['HTTP', post],
  ['WebSocket', overSocket],
] as const)('over %s, others are answered beside', (transport, send) => {
  test.each(calls.slice(0, -1))('%s, called and estimated', async (name, call) => {
    for (const method of ['eth_call', 'eth_estimateGas']) {
      const asked = request(method, { ...call, gas: `0x${GAS.toString(16)}` }, 'latest');
      const answer = await beside(`${transport}, ${method}, ${name}`, () => send(asked));
      // A program may fail for want of memory or depth before its time is over.
      if ('result' in (answer as object)) continue;
      expect([-32603, -32000]).toContain((answer as typeof TIMED_OUT).error.code);
    }
  });

  test.each([
    ['1 024 calls of half a million gas', many(1024, request('eth_call', short, 'latest'))],
    ['1 024 blocks', many(1024, request('eth_getBlockByNumber', 'latest', true))],
    [
      '1 024 transactions',
      many(1024, request('eth_sendTransaction', { from: accountAt(0), to: accountAt(1), value: '0x1' })),
    ],
    ['one proof of 1 024 slots', request('eth_getProof', short.to, keys, 'latest')],
    ['one zk proof of 1 024 slots', request('linea_getProof', short.to, keys, 'latest')],
    ['a simulation of 256 blocks', request('eth_simulateV1', { blockStateCalls: Array(256).fill(block(8)) }, 'latest')],
  ])('%s', async (name, body) => {
    await beside(`${transport}, ${name}`, () => send(body));
  });

  test('a batch of endless calls: all members end with the time limit', async () => {
    const call = { ...calls[0]![1], gas: `0x${GAS.toString(16)}` };
    const answers = await beside(`${transport}, 1 024 endless calls`, () =>
      send(many(1024, request('eth_call', call))),
    );
    expect(answers).toHaveLength(1024);
    expect((answers as unknown[]).at(-1)).toMatchObject(TIMED_OUT);
  });

  test.each(['anvil_mine', 'hardhat_mine'])(
    '%s of 100 000 blocks, and the revert of what was mined',
    async (method) => {
      expect(await beside(`${transport}, ${method}`, () => send(request(method, '0x186a0')))).toMatchObject(TIMED_OUT);
      const head = Number(await node.request({ method: 'eth_blockNumber' }));
      console.log(`${head} blocks were mined`);
      expect(head).toBeLessThan(100_000);
      const logs = { fromBlock: `0x${Math.max(0, head - 5000).toString(16)}`, toBlock: 'latest' };
      await beside(`${transport}, logs of 5 000 blocks`, () => send(request('eth_getLogs', logs)));
      await beside(`${transport}, fees of 1 024 blocks`, () =>
        send(request('eth_feeHistory', '0x400', 'latest', [10, 90])),
      );
      await beside(`${transport}, revert of ${head} blocks`, () => send(request('evm_revert', snapshot)));
      await eventuallyAtGenesis();
      snapshot = (await node.request({ method: 'evm_snapshot' })) as string;
    },
  );
});

/** A revert is not ended by the time limit, and what comes after it waits for it. */
async function eventuallyAtGenesis(): Promise<void> {
  let head: unknown;
  do {
    head = await node.request({ method: 'eth_blockNumber' });
    await new Promise((resolve) => setTimeout(resolve, 10));
  } while (head !== '0x0');
}

test('a client that hangs up ends its work', async () => {
  const hangUp = new AbortController();
  const call = { ...calls[0]![1], gas: `0x${GAS.toString(16)}` };
  const sent = post(many(1024, request('eth_call', call)), hangUp.signal).catch(() => 'hung up');
  await post(request('eth_chainId'));
  hangUp.abort();
  expect(await sent).toBe('hung up');
  await post(request('eth_chainId'));
  const { user } = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const used = (process.cpuUsage().user - user) / 1_000;
  console.log(`${used.toFixed(0)} ms of processor time in the second after it`);
  expect(used).toBeLessThan(900);
});
