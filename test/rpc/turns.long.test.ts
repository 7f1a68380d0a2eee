import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { serve } from '../../src/hosts/cli/server.js';
import type { InlineOptions } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { accountAt, devNode } from '../support/dev-node.js';
import { endlessAccounts, roundsOf, SLOW } from '../support/endless.js';
import { eventually } from '../support/eventually.js';

/*
 * What one request does holds neither timers nor other requests. Events are compared by their order: which came first.
 */

const { alloc, calls } = endlessAccounts({ slow: SLOW, short: { code: roundsOf(0x3000) } });
const [slow, short] = calls.map(([, call]) => call) as [object, object];
const request = (id: number, method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id, method, params });
/** About half a million gas each: a millisecond, or a few. */
const batch = (count: number) => Array.from({ length: count }, (_, id) => request(id, 'eth_call', short, 'latest'));
const timer = () => new Promise<void>((resolve) => setTimeout(resolve));

async function scene(options: InlineOptions = {}) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const chain = { kind: 'devnet', alloc, ...options.chain } as InlineOptions['chain'];
  const dev = await devNode({ onError, ...options, chain: chain! });
  await dev.ask('eth_call', { ...short, gas: '0x10000' }, 'latest').catch(() => {});
  errors.length = 0;
  return { ...dev, errors };
}

async function served(options: InlineOptions = {}) {
  const opened = await scene(options);
  const server = await serve(opened.node, { port: 0 });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return { ...opened, port: server.port };
}

const post = async (port: number, body: unknown, signal?: AbortSignal) => {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) };
  return (await fetch(`http://127.0.0.1:${port}/`, init)).json();
};

describe('while a request executes for long', () => {
  test.each([
    ['a call', () => request(1, 'eth_call', slow, 'latest')],
    ['an estimate', () => request(1, 'eth_estimateGas', slow)],
    ['a simulation', () => request(1, 'eth_simulateV1', { blockStateCalls: [{ calls: [slow] }] }, 'latest')],
    ['a batch of short calls', () => batch(1024)],
  ])('others are answered over HTTP: %s', async (_, body) => {
    const { port, errors } = await served();
    const hangUp = new AbortController();
    const seen: string[] = [];
    const long = post(port, body(), hangUp.signal).then(
      () => seen.push('long'),
      () => seen.push('hung up'),
    );
    // Sent later, on another connection, and with a turn of the server for each of them.
    for (let i = 0; i < 5; i++) {
      await post(port, request(2, 'eth_blockNumber'));
      seen.push('other');
    }
    hangUp.abort();
    await long;
    expect(seen).toEqual([...Array(5).fill('other'), 'hung up']);
    // The work ends with the connection.
    await eventually(() => expect(errors.at(-1)).toMatchObject({ code: 'ABORTED' }));
  });

  test('others are answered over WebSocket, also on the same socket', async () => {
    const { port } = await served();
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    onTestFinished(() => socket.terminate());
    await new Promise((resolve) => socket.once('open', resolve));
    const answered: unknown[] = [];
    socket.on('message', (data) => answered.push((JSON.parse(String(data)) as { id: unknown }).id));
    socket.send(JSON.stringify(request(7, 'eth_call', slow, 'latest')));
    socket.send(JSON.stringify(request(8, 'eth_blockNumber')));
    expect(await post(port, request(9, 'eth_blockNumber'))).toMatchObject({ result: '0x0' });
    await eventually(() => expect(answered).toEqual([8]));
  });
});

describe('a batch', () => {
  const keys = Array.from({ length: 100 }, (_, key) => `0x${key.toString(16)}`);
  test.each([
    ['calls', batch(256)],
    ['proofs', Array.from({ length: 256 }, (_, id) => request(id, 'eth_getProof', accountAt(0), keys, 'latest'))],
  ])('has timers fire between its members: %s', async (_, members) => {
    const { node } = await scene();
    let fired = 0;
    const counting = setInterval(() => fired++);
    const reply = await node.openSession(() => {}).dispatch(members);
    clearInterval(counting);
    expect(reply.body).toHaveLength(256);
    expect(fired).toBeGreaterThan(1);
  });

  test('has one deadline: what comes after it is not begun', async () => {
    const { node } = await scene({ requestTimeoutMs: 100 });
    const body = JSON.stringify([...batch(3), ...batch(1021).map((one) => ({ ...one, params: [slow, 'latest'] }))]);
    const response = await node.handle(new Request('http://127.0.0.1/', { method: 'POST', body }));
    const answers = (await response.json()) as { error?: { message: string } }[];
    expect(answers).toHaveLength(1024);
    expect(answers.at(-1)).toMatchObject({ error: { code: -32603, message: 'Timeout expired' } });
  });
});

describe('many cheap requests', () => {
  const MANY = 20_000;

  test('one after another leave timers their turns', async () => {
    const { ask } = await scene();
    let fired = false;
    setTimeout(() => {
      fired = true;
    });
    let asked = 0;
    while (!fired && asked < MANY) {
      await ask('eth_blockNumber');
      asked++;
    }
    expect(fired).toBe(true);
  });

  test('at once leave timers their turns, and begin in their order', async () => {
    const { ask } = await scene();
    let done = 0;
    let doneAtTimer = 0;
    const order: number[] = [];
    setTimeout(() => {
      doneAtTimer = done;
    });
    const asked = Array.from({ length: 5_000 }, async (_, i) => {
      await ask('eth_blockNumber');
      order.push(i);
      done++;
    });
    await Promise.all(asked);
    expect(doneAtTimer).toBeLessThan(5_000);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });
});

describe('mining', () => {
  test.each(['anvil_mine', 'hardhat_mine'])(
    '%s of many blocks can be aborted; the blocks until then stay',
    async (method) => {
      const { node, ask } = await scene({ chain: { kind: 'devnet', mining: 'manual' } });
      const stop = new AbortController();
      node.on('message', ({ data }) => {
        if ((data.result as { number: string }).number === '0x5') stop.abort(new Error('enough'));
      });
      await ask('eth_subscribe', 'newHeads');
      const mining = node.request<UntypedMethod>({ method, params: ['0x2710'] }, { signal: stop.signal });
      await expect(mining).rejects.toThrow('enough');
      // Waits in the same queue, so that what was begun has ended.
      await ask('evm_mine');
      const mined = Number(await ask('eth_blockNumber'));
      expect(mined).toBeGreaterThanOrEqual(6);
      expect(mined).toBeLessThan(10_000);
      expect(await ask('eth_getBlockByNumber', '0x5', false)).toMatchObject({ number: '0x5' });
    },
  );

  test('evm_mine of many blocks lets others read meanwhile', async () => {
    const { ask } = await scene({ chain: { kind: 'devnet', mining: 'manual' } });
    let ended = false;
    const mining = ask('evm_mine', { blocks: 2_000 }).then(() => {
      ended = true;
    });
    await timer();
    const between = Number(await ask('eth_blockNumber'));
    expect(ended).toBe(false);
    expect(between).toBeLessThan(2_000);
    await mining;
    expect(await ask('eth_blockNumber')).toBe('0x7d0');
  });

  test('a transaction that is aborted while it is executed leaves no block and is not kept', async () => {
    const { node, ask } = await scene();
    const [from] = await ask<string[]>('eth_accounts');
    const stop = new AbortController();
    const sending = node.request<UntypedMethod>(
      { method: 'eth_sendTransaction', params: [{ from, ...slow, gas: '0x1000000' }] },
      { signal: stop.signal },
    );
    await timer();
    expect(await ask('eth_blockNumber')).toBe('0x0');
    stop.abort(new Error('enough'));
    await expect(sending).rejects.toThrow('enough');
    await ask('eth_sendTransaction', { from, to: from, value: '0x1' });
    expect(await ask('eth_blockNumber')).toBe('0x1');
    expect(await ask('eth_getTransactionCount', from, 'latest')).toBe('0x1');
    expect(await ask('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' });
  });

  test('what is aborted while it waits for its turn does not begin', async () => {
    const { node, ask } = await scene({ chain: { kind: 'devnet', mining: 'manual' } });
    const stop = new AbortController();
    const first = ask('evm_mine', { blocks: 500 });
    const second = node.request({ method: 'evm_mine', params: [] }, { signal: stop.signal });
    await timer();
    stop.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await first;
    await ask('evm_snapshot');
    expect(await ask('eth_blockNumber')).toBe('0x1f4');
  });
});

test('closing the node ends what it executes', async () => {
  const { node, errors } = await scene();
  const calling = node.request({ method: 'eth_call', params: [slow, 'latest'] });
  const mining = node.request({ method: 'anvil_mine', params: ['0x186a0'] });
  const ended = Promise.allSettled([calling, mining]);
  await timer();
  await node.close();
  expect(await ended).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(errors).toMatchObject([{ code: 'NODE_CLOSED' }, { code: 'NODE_CLOSED' }]);
});
