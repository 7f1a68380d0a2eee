import { Agent, request as openRequest } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { RunBudget } from '../../src/evm/run-budget.js';
import { serve } from '../../src/hosts/cli/server.js';
import type { InlineOptions } from '../../src/hosts/opening/inline.js';
import { RemoteCalls } from '../../src/hosts/provider/transport.js';
import type { Caller } from '../../src/rpc/http.js';
import { devNode } from '../support/dev-node.js';
import { endlessAccounts, roundsOf } from '../support/endless.js';

/** Gas of the program: 29 for each round (JUMPDEST, PUSH1, ADD, DUP1, PUSH2, GT, PUSH1, JUMPI), and 2 for PUSH0. */
const GAS = 2 + 29 * 0x3000;
const { alloc, calls } = endlessAccounts({ rounds: { code: roundsOf(0x3000) } });
const call = calls[0]![1];
const request = (id: number, method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id, method, params });
const ask = (id = 1) => request(id, 'eth_call', call, 'latest');
const scene = (options: InlineOptions) => devNode({ chain: { kind: 'devnet', alloc }, ...options });

const LIMITED = {
  code: -32005,
  message: expect.stringMatching(/gas within a minute, with others of the connection; try again in \d+ s$/),
};

describe('gasBudget', () => {
  test('is shared by the members of a batch', async () => {
    const { node } = await scene({ gasBudget: 2 * GAS });
    const { body } = await node.openSession(() => {}).dispatch([ask(1), ask(2), ask(3), request(4, 'eth_blockNumber')]);
    expect(body).toMatchObject([
      { id: 1, result: '0x' },
      { id: 2, result: '0x' },
      { id: 3, error: { code: -32000, message: `execution stopped: its runs have used more than ${2 * GAS} gas` } },
      { id: 4, result: '0x0' },
    ]);
  });

  test('counts transactions that are executed for the request; those that exceed it are not kept', async () => {
    const { ask: send } = await scene({ gasBudget: GAS - 1 });
    const [from] = await send<string[]>('eth_accounts');
    const sent = send('eth_sendTransaction', { from, ...call, gas: '0x100000' });
    await expect(sent).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining(`more than ${GAS - 1} gas`),
    });
    expect(await send('eth_blockNumber')).toBe('0x0');
    expect(await send('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' });
  });
});

describe('gasBudget of a simulation', () => {
  test('counts what its blocks call as the system', async () => {
    // EIP-2935: called before each block, with 30 000 000 gas.
    const code = { '0x0000f90827f1c53a10cb7a02335b175320002935': { code: '0x5b5f56' } };
    const simulate = async (gasBudget: number) => {
      const { ask: send } = await scene({ gasBudget });
      return send<unknown[]>('eth_simulateV1', { blockStateCalls: [{ stateOverrides: code }, {}, {}] });
    };
    await expect(simulate(80_000_000)).rejects.toMatchObject({
      message: expect.stringContaining('more than 80000000 gas'),
    });
    expect(await simulate(100_000_000)).toHaveLength(3);
  });
});

describe('connectionGasBudget', () => {
  const options = { connectionGasBudget: 2 * GAS };

  test('is that of all requests with the same connection; without one there is no limit', async () => {
    const { node, ask: own } = await scene(options);
    const post = async (body: unknown, connection?: object) => {
      const posted = new Request('http://127.0.0.1/', { method: 'POST', body: JSON.stringify(body) });
      return (await node.handle(posted, { connection })).json();
    };
    const [one, other] = [{}, {}];
    for (let i = 0; i < 2; i++) expect(await post(ask(), one)).toMatchObject({ result: '0x' });
    expect(await post(ask(), one)).toMatchObject({ error: LIMITED });
    // What executes nothing is answered.
    expect(await post(request(1, 'eth_blockNumber'), one)).toMatchObject({ result: '0x0' });
    expect(await post(ask(), other)).toMatchObject({ result: '0x' });
    for (let i = 0; i < 3; i++) expect(await post(ask())).toMatchObject({ result: '0x' });
    for (let i = 0; i < 3; i++) expect(await own('eth_call', call, 'latest')).toBe('0x');
  });

  test('is that of one connection over HTTP', async () => {
    const { node } = await scene(options);
    const server = await serve(node, { port: 0 });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const post = (agent: Agent) =>
      new Promise<unknown>((resolve, reject) => {
        const sent = openRequest({ port: server.port, host: '127.0.0.1', method: 'POST', agent }, (response) => {
          let text = '';
          response.on('data', (chunk) => {
            text += chunk;
          });
          response.on('end', () => resolve(JSON.parse(text)));
        });
        sent.on('error', reject);
        sent.end(JSON.stringify(ask()));
      });
    const [one, other] = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1 })) as [Agent, Agent];
    onTestFinished(() => {
      one.destroy();
      other.destroy();
    });
    for (let i = 0; i < 2; i++) expect(await post(one)).toMatchObject({ result: '0x' });
    expect(await post(one)).toMatchObject({ error: LIMITED });
    expect(await post(other)).toMatchObject({ result: '0x' });
  });

  test('is that of one WebSocket', async () => {
    const { node } = await scene(options);
    const server = await serve(node, { port: 0 });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const answers = async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}`);
      onTestFinished(() => socket.terminate());
      await new Promise((resolve) => socket.once('open', resolve));
      const read: unknown[] = [];
      for (let i = 0; i < 3; i++) {
        const answer = new Promise((resolve) => socket.once('message', (data) => resolve(JSON.parse(String(data)))));
        socket.send(JSON.stringify(ask()));
        read.push(await answer);
      }
      return read;
    };
    const expected = [{ result: '0x' }, { result: '0x' }, { error: LIMITED }];
    expect(await answers()).toMatchObject(expected);
    expect(await answers()).toMatchObject(expected);
  });

  test('is that of one page at a worker, with all of its sessions', async () => {
    const { node } = await scene(options);
    const transport = {
      dispatch: (_: unknown, payload: unknown, __?: AbortSignal, caller?: Caller) =>
        node.openSession(() => {}, caller?.connection).dispatch(payload),
      openSession: node.openSession.bind(node),
    };
    const page = new RemoteCalls(() => {});
    const send = async (of: RemoteCalls, session?: number) =>
      (await of.dispatch(transport, 1, { layer: 'l2', payload: ask(), session })).body;
    expect(await send(page)).toMatchObject({ result: '0x' });
    expect(await send(page, 1)).toMatchObject({ result: '0x' });
    expect(await send(page, 2)).toMatchObject({ error: LIMITED });
    expect(await send(new RemoteCalls(() => {}))).toMatchObject({ result: '0x' });
  });

  test('is whole again after a minute', () => {
    const minuteAgo = () => performance.now() - 60_000;
    const gas = { budget: 100, spent: 0, minuteFrom: Number.NEGATIVE_INFINITY };
    const budget = new RunBudget({ gas });
    budget.spend(100);
    expect(() => budget.spend(1)).toThrow(
      expect.objectContaining({
        code: 'GAS_BUDGET_EXCEEDED',
        message: expect.stringMatching(
          /^more than 100 gas in a minute in all requests of the connection; try again in \d+ ms/,
        ),
      }),
    );
    gas.minuteFrom = minuteAgo();
    budget.spend(100);
    expect(gas.spent).toBe(100);
  });
});
