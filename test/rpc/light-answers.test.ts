import { describe, expect, test } from 'vitest';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
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
      [
        'eth_simulateV1',
        [{ blockStateCalls: [{ calls: [call] }] }],
        { class: 'computed', level: 'linked', blocks: head },
      ],
      ['infura_simulateTransactions', [{ transactions: [call] }], { class: 'computed', level: 'linked', blocks: head }],
      ['eth_getHeaderByNumber', ['latest'], { class: 'proved', level: 'linked', blocks: head }],
      ['debug_getRawReceipts', ['latest'], { class: 'proved', level: 'linked', blocks: head }],
      ['linea_getProof', [accountAt(0), [], 'latest'], { class: 'proved', level: 'finalized', blocks: [], zkBlock: 2 }],
      [
        'plumbline_previewSignature',
        [{ message: '0x6869' }, { account: accountAt(0) }],
        { class: 'computed', level: 'linked', blocks: head },
      ],
      ['eth_gasPrice', [], { class: 'computed', level: 'linked', blocks: head }],
      ['eth_maxPriorityFeePerGas', [], { class: 'computed', level: 'linked', blocks: head }],
      ['eth_baseFee', [], { class: 'computed', level: 'linked', blocks: head }],
      ['eth_blobBaseFee', [], { class: 'computed', level: 'linked', blocks: head }],
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

  test('nothing by a hash is forwarded; above the head and without logs it rests on blocks', async () => {
    const { light, ask, dev } = await lightScene();
    for (let nonce = 0; nonce < 4; nonce++) await dev.transfer(0, { nonce });
    const heard: AnswerReport[] = [];
    light.on('answer', (report) => heard.push(report));
    const unknown = `0x${'12'.repeat(32)}`;
    for (const [method, ...params] of [
      ['eth_getTransactionByHash', unknown],
      ['eth_getTransactionReceipt', unknown],
      ['eth_getBlockByHash', unknown, false],
      ['eth_getBlockTransactionCountByHash', unknown],
      ['eth_getTransactionByBlockHashAndIndex', unknown, '0x0'],
    ] as const) {
      heard.length = 0;
      expect(await ask(method, ...params)).toBeNull();
      expect(heard, method).toEqual([{ method, class: 'forwarded', blocks: [] }]);
    }
    const block = async (number: Hex) => {
      const { hash } = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', number, false);
      return { number: Number(number), hash };
    };
    heard.length = 0;
    expect(await ask('eth_getBlockByNumber', '0x9', false)).toBeNull();
    expect(heard[0]).toMatchObject({ class: 'proved', level: 'linked', blocks: [await block('0x4')] });
    const nothing = { fromBlock: '0x1', toBlock: '0x3', address: accountAt(5) };
    heard.length = 0;
    expect(await ask('eth_getLogs', nothing)).toEqual([]);
    const ends = [await block('0x1'), await block('0x3')];
    expect(heard[0]).toMatchObject({ class: 'proved', level: 'linked', blocks: expect.arrayContaining(ends) });
    const id = await ask('eth_newFilter', nothing);
    for (const method of ['eth_getFilterLogs', 'eth_getFilterChanges']) {
      heard.length = 0;
      expect(await ask(method, id)).toEqual([]);
      expect(heard[0], method).toMatchObject({ method, class: 'proved', level: 'linked' });
    }
    const pending = await ask('eth_newPendingTransactionFilter');
    heard.length = 0;
    expect(await ask('eth_getFilterChanges', pending)).toEqual([]);
    expect(heard).toEqual([{ method: 'eth_getFilterChanges', class: 'held', blocks: [] }]);
    const found = await dev.ask('eth_getTransactionByBlockNumberAndIndex', '0x2', '0x0');
    heard.length = 0;
    expect(await ask('eth_getTransactionByHash', (found as { hash: Hex }).hash)).toEqual(found);
    expect(heard[0]).toMatchObject({ class: 'proved', level: 'linked', blocks: [await block('0x2')] });
  });

  test('an empty range far below the head keeps the level of its end', async () => {
    const { light, ask, dev } = await lightScene();
    for (let nonce = 0; nonce < 30; nonce++) await dev.transfer(0, { nonce });
    const heard: AnswerReport[] = [];
    light.on('answer', (report) => heard.push(report));
    expect(await ask('eth_getLogs', { fromBlock: '0x2', toBlock: '0x5', address: accountAt(5) })).toEqual([]);
    expect(heard[0]).toMatchObject({ class: 'proved', level: 'linked' });
    expect(heard[0]!.blocks.map(({ number }) => number)).toEqual([30, 2, 5]);
  });

  test('that nothing has a hash is not believed of too few', async () => {
    const scene = await lightScene({ endpoints: [{}, {}, {}] });
    const { ask, endpoints, open } = scene;
    await scene.dev.transfer(0, { nonce: 0 });
    const unknown = `0x${'12'.repeat(32)}`;
    const questions = [
      ['eth_getTransactionByHash', unknown],
      ['eth_getTransactionReceipt', unknown],
      ['eth_getBlockByHash', unknown, false],
    ] as const;
    const down = (indices: readonly number[]) => {
      for (const [i, { options }] of endpoints.entries()) {
        if (!indices.includes(i)) delete options.tamper;
        else
          options.tamper = ({ method }, result) => {
            if (/ByHash$/.test(method)) throw new Error('out of order');
            return result;
          };
      }
    };
    const three = await open({ agreeing: 3 });
    for (const [method, ...params] of questions) {
      down([0]);
      expect(await ask(method, ...params), method).toBeNull();
      await expect(three.request<UntypedMethod>({ method, params }), method).rejects.toMatchObject({ code: -32000 });
      down([0, 2]);
      await expect(ask(method, ...params), method).rejects.toMatchObject({ code: -32000 });
      down([]);
      expect(await three.request<UntypedMethod>({ method, params }), method).toBeNull();
    }
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
