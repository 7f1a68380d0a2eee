import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { accountAt, devNode } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';

const call = { from: accountAt(0), to: accountAt(1), value: '0x1' };

describe("on('answer')", () => {
  test('a light node tells where each answer comes from, at what level, and of which block', async () => {
    const { light, ask, dev } = await lightScene();
    for (let nonce = 0; nonce < 4; nonce++) await dev.transfer(0, { nonce });
    const heard: AnswerReport[] = [];
    light.on('answer', (report) => heard.push(report));
    const { hash } = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', '0x4', false);
    const head = [{ number: 4, hash }];
    const cases: [string, unknown[], Partial<AnswerReport>][] = [
      ['eth_getBalance', [accountAt(0), 'latest'], { class: 'proved', level: 'linked', blocks: head }],
      ['linea_estimateGas', [call], { class: 'computed', level: 'linked', blocks: head }],
      ['eth_call', [call, 'latest'], { class: 'computed', level: 'linked', blocks: head }],
      ['linea_getProof', [accountAt(0), [], 'latest'], { class: 'proved', level: 'finalized', blocks: [] }],
      ['eth_chainId', [], { class: 'held', blocks: [] }],
    ];
    for (const [method, params, expected] of cases) {
      heard.length = 0;
      await ask(method, ...params);
      expect(heard, method).toHaveLength(1);
      expect(heard[0]).toMatchObject({ method, ...expected });
    }
    heard.length = 0;
    await ask('l2_estimateGas', call);
    expect(heard[0]?.method).toBe('linea_estimateGas');
  });

  test('an error is an answer; a plain head says so', async () => {
    const { light, ask } = await lightScene({ endpoints: [{}] });
    const heard: AnswerReport[] = [];
    light.on('answer', (report) => heard.push(report));
    await ask('eth_getBalance', accountAt(0), 'latest');
    await expect(ask('eth_getBalance', '0x12', 'latest')).rejects.toThrow();
    expect(heard.map(({ level, errorCode }) => [level, errorCode])).toEqual([
      ['plain', undefined],
      [undefined, -32602],
    ]);
  });

  test('nothing of it is in a JSON-RPC answer over HTTP, batches in order', async () => {
    const { node } = await devNode();
    const heard: AnswerReport[] = [];
    node.on('answer', (report) => heard.push(report));
    const payload = ['eth_blockNumber', 'eth_call', 'eth_chainId'].map((method, id) => {
      return { jsonrpc: '2.0', id, method, params: method === 'eth_call' ? [call, 'latest'] : [] };
    });
    const request = new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    });
    const answers = (await (await node.handle(request)).json()) as object[];
    for (const answer of answers) expect(Object.keys(answer).sort()).toEqual(['id', 'jsonrpc', 'result']);
    expect(heard.map(({ method, class: from, level }) => [method, from, level])).toEqual([
      ['eth_blockNumber', 'held', 'held'],
      ['eth_call', 'computed', 'held'],
      ['eth_chainId', 'held', undefined],
    ]);
  });
});
