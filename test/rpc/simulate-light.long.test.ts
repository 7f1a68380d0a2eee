import { createPublicClient, custom, defineChain, encodeFunctionData, keccak256, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { endlessAccounts, roundsOf } from '../support/endless.js';
import { type LightScene, type LightSceneOptions, lightScene } from '../support/light-node.js';
import { ROUND_TRIPS } from '../support/round-trips.js';
import { settledScene } from '../support/settled-scene.js';

const abi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
]);
const receiver = stranger('77');
const transfer = (to: Hex, value: bigint) => encodeFunctionData({ abi, functionName: 'transfer', args: [to, value] });
const sendTokens = (value: bigint, from = accountAt(0)) => ({ from, to: TEST_TOKEN, data: transfer(receiver, value) });
interface Simulated {
  readonly stateRoot: Hex;
  readonly parentHash: Hex;
  readonly calls: readonly { readonly returnData: Hex; readonly gasUsed: Hex; readonly status: Hex }[];
}

const hex = (value: number): Hex => `0x${value.toString(16)}`;

/** A chain of four blocks, of which the last two have transactions, as a devnet and as a light node sees it. */
async function scene(options: LightSceneOptions = {}): Promise<LightScene> {
  const made = await lightScene({ dev: { chain: { kind: 'devnet', mining: 'manual' } }, endpoints: [{}], ...options });
  const { dev } = made;
  await dev.ask('anvil_mine', '0x2');
  await dev.transfer(0, { nonce: 0, to: TEST_TOKEN, data: transfer(stranger('31'), 5n), gasLimit: 100_000n });
  await dev.ask('evm_mine');
  await dev.transfer(0, { nonce: 1 });
  await dev.ask('evm_mine');
  return made;
}

/** The answers of a light node and of the devnet, which have to be equal. */
async function bothOf({ ask, dev }: LightScene, simulation: object, block: unknown = 'latest') {
  const light = await ask<Record<string, unknown>[]>('eth_simulateV1', simulation, block);
  expect(light).toEqual(await dev.ask('eth_simulateV1', simulation, block));
  return light;
}

const reader = (node: PlumblineNode) => {
  const chain = defineChain({
    id: node.info.chainId,
    name: 'plumbline devnet',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });
  return createPublicClient({ chain, transport: custom(node as unknown as Parameters<typeof custom>[0]) });
};

describe('eth_simulateV1 on a light node', () => {
  test('answers as the devnet, state roots and hashes included', async () => {
    const made = await scene();
    const fees = { maxFeePerGas: hex(10 ** 9), maxPriorityFeePerGas: hex(10 ** 8) };
    const paid = { from: accountAt(1), to: stranger('12'), value: '0x5', gas: '0x5208', ...fees };
    const creation = { from: accountAt(2), data: '0x602a60005260206000f3' };
    const simulations: object[] = [
      { blockStateCalls: [{ calls: [sendTokens(7n)] }] },
      { blockStateCalls: [{ calls: [sendTokens(7n), sendTokens(1n)] }, {}, { calls: [sendTokens(2n), creation] }] },
      { blockStateCalls: [{ calls: [paid, paid] }], validation: false, returnFullTransactions: true },
      { blockStateCalls: [{ calls: [paid] }], validation: true, traceTransfers: true },
      // A sender with no tokens: reverts.
      { blockStateCalls: [{ calls: [sendTokens(7n, accountAt(3))] }] },
      {
        blockStateCalls: [
          {
            blockOverrides: { number: '0x8', time: hex(2 ** 32), feeRecipient: stranger('99'), prevRandao: word(5n) },
            stateOverrides: { [stranger('51')]: { balance: '0x64', code: '0x43604544600052602060005fa0' } },
            calls: [{ from: accountAt(1), to: stranger('51'), value: '0x1' }],
          },
          { stateOverrides: { [TEST_TOKEN]: { stateDiff: { [word(9n)]: word(3n) } } } },
          { stateOverrides: { [TEST_TOKEN]: { state: { [word(9n)]: word(3n) } } }, calls: [sendTokens(0n)] },
        ],
        traceTransfers: true,
      },
    ];
    for (const simulation of simulations) await bothOf(made, simulation);
    for (const block of ['0x4', '0x3', '0x1', 'earliest']) await bothOf(made, simulations[1]!, block);
  });

  test('refuses what the devnet refuses', async () => {
    const { ask, dev, endpoints } = await scene();
    const failure = (asked: typeof ask, ...params: unknown[]) =>
      asked('eth_simulateV1', ...params).then(
        () => 'went on',
        ({ code, message }: { code: number; message: string }) => ({ code, message }),
      );
    const call = { from: accountAt(0), to: receiver };
    for (const params of [
      [{ blockStateCalls: [{ calls: [{ from: stranger('50'), to: receiver, value: '0x1' }] }] }],
      [{ blockStateCalls: [{ calls: [{ ...call, nonce: '0x0' }] }], validation: true }],
      [{ blockStateCalls: [{ blockOverrides: { number: '0x1' } }] }],
      [{ blockStateCalls: [{ blockOverrides: { number: '0xffff' } }] }],
      [{ blockStateCalls: [] }],
      [{ blockStateCalls: [{}] }, '0x99'],
      [{ blockStateCalls: [{ calls: Array(5_001).fill(call) }] }],
      [{ blockStateCalls: Array(3).fill({ calls: Array(4_000).fill(call) }) }],
    ]) {
      const expected = await failure(dev.ask, ...params);
      expect(expected).not.toBe('went on');
      expect(await failure(ask, ...params)).toEqual(expected);
    }
    endpoints[0]!.seen.length = 0;
    const many = { blockStateCalls: [{ calls: Array(5_001).fill({ from: stranger('41'), to: receiver }) }] };
    expect(await failure(ask, many, '0x4')).toMatchObject({ code: -38026 });
    expect(endpoints[0]!.seen.flat().map(({ method }) => method)).not.toContain('eth_getProof');
  });

  test('viem simulates calls with their asset changes, its six blocks in three round trips', ROUND_TRIPS, async () => {
    const { light, dev, endpoints, open } = await scene();
    const sent: unknown[] = [];
    const heard = {
      request(request: { method: string; params?: readonly unknown[] }) {
        if (request.method === 'eth_simulateV1') sent.push(request.params);
        return light.request<UntypedMethod>(request);
      },
      info: light.info,
    } as unknown as PlumblineNode;
    const simulation = {
      account: accountAt(0),
      calls: [
        { to: TEST_TOKEN, abi, functionName: 'transfer', args: [receiver, 25n] },
        { to: receiver, value: 3n },
      ],
      traceAssetChanges: true,
    } as const;
    const expected = await reader(dev.node).simulateCalls(simulation);
    expect(await reader(heard).simulateCalls(simulation)).toEqual(expected);
    expect(expected.assetChanges.map(({ token, value }) => [token.address, value.diff])).toEqual(
      expect.arrayContaining([
        [TEST_TOKEN, -25n],
        ['0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', -3n],
      ]),
    );
    // The second is that of six blocks: on a node that knows nothing but the head.
    expect(sent).toHaveLength(2);
    const [{ blockStateCalls }] = sent[1] as [{ blockStateCalls: unknown[] }];
    expect(blockStateCalls).toHaveLength(6);
    const fresh = await open();
    await fresh.request({ method: 'eth_blockNumber' });
    endpoints[0]!.seen.length = 0;
    const params = sent[1] as unknown[];
    const answer = await fresh.request<UntypedMethod>({ method: 'eth_simulateV1', params });
    expect(endpoints[0]!.seen.length).toBeLessThanOrEqual(3);
    expect(answer).toEqual(await dev.ask('eth_simulateV1', ...params));
  });

  test('viem simulates blocks, in three round trips', ROUND_TRIPS, async () => {
    const { light, dev, endpoints } = await scene();
    const probe = stranger('d0');
    const blocks = [
      { calls: [{ account: accountAt(0), to: TEST_TOKEN, data: transfer(receiver, 5n) }, { to: receiver }] },
      { calls: [{ account: accountAt(0), data: '0x3060005260206000f3' as Hex }] },
      ...[receiver, accountAt(0), accountAt(1), stranger('31')].map((owner) => ({
        calls: [{ to: TEST_TOKEN, abi, functionName: 'balanceOf', args: [owner] }],
        stateOverrides: [{ address: probe, code: '0x00' as Hex }],
      })),
    ];
    const simulation = { blocks } as unknown as Parameters<ReturnType<typeof reader>['simulateBlocks']>[0];
    const expected = await reader(dev.node).simulateBlocks(simulation);
    await light.request({ method: 'eth_blockNumber' });
    endpoints[0]!.seen.length = 0;
    expect(await reader(light).simulateBlocks(simulation)).toEqual(expected);
    expect(endpoints[0]!.seen.length).toBeLessThanOrEqual(3);
  });

  test('reports the block and its level, and sends no call to an endpoint', async () => {
    const { light, ask, dev, endpoints } = await scene();
    const heard: AnswerReport[] = [];
    light.on('answer', (report) => heard.push(report));
    await ask('eth_simulateV1', { blockStateCalls: [{ calls: [sendTokens(1n)] }] }, '0x4');
    const { hash } = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', '0x4', false);
    expect(heard).toEqual([
      { method: 'eth_simulateV1', class: 'computed', level: 'plain', blocks: [{ number: 4, hash }] },
    ]);
    const asked = new Set(endpoints.flatMap(({ seen }) => seen.flat().map(({ method }) => method)));
    expect([...asked].filter((method) => /simulate|AccessList|eth_call|estimate|debug/.test(method))).toEqual([]);
  });

  test('a value that is deleted leaves a root, where the node beside it can be found', async () => {
    const holder = stranger('a1');
    const slots = Array.from({ length: 40 }, (_, i) => word(BigInt(10_000 + i)));
    const storage = Object.fromEntries(slots.map((slot) => [slot, word(7n)]));
    const alloc = { [holder]: { nonce: 1n, storage } };
    const made = await scene({ dev: { chain: { kind: 'devnet', mining: 'manual', alloc } } });
    const heard: AnswerReport[] = [];
    made.light.on('answer', (report) => heard.push(report));
    const cleared = (slot: Hex) => ({ stateOverrides: { [holder]: { stateDiff: { [slot]: word(0n) } } } });
    for (const slot of slots.slice(0, 12)) await bothOf(made, { blockStateCalls: [cleared(slot)] });
    await bothOf(made, { blockStateCalls: slots.map(cleared) });
    // Some of them were the last but one of their branch: the key that shows the other one is not a slot of the contract.
    const asked = made.endpoints[0]!.seen.flat().flatMap(({ method, params }) => {
      return method === 'eth_getProof' && params[0] === holder ? (params[1] as Hex[]) : [];
    });
    expect(asked.filter((slot) => !slots.includes(slot)).length).toBeGreaterThan(0);
    for (const report of heard) expect(report).not.toHaveProperty('stateRoot');
  });

  test('a root that cannot be known is zero, and the report says so', async () => {
    // Two slots whose hashes are the same for five half-bytes, by viem.
    const byPath = new Map<string, Hex>();
    let pair: [Hex, Hex] | undefined;
    for (let i = 1n; pair === undefined; i++) {
      const path = keccak256(word(i)).slice(0, 7);
      const other = byPath.get(path);
      if (other !== undefined) pair = [other, word(i)];
      byPath.set(path, word(i));
    }
    const holder = stranger('a1');
    const storage = { [pair[0]]: word(1n), [pair[1]]: word(2n), [word(0n)]: word(3n) };
    const alloc = { [holder]: { nonce: 1n, storage } };
    const made = await scene({ dev: { chain: { kind: 'devnet', mining: 'manual', alloc } } });
    const heard: AnswerReport[] = [];
    made.light.on('answer', (report) => heard.push(report));
    const blockStateCalls = [
      { calls: [sendTokens(1n)] },
      { stateOverrides: { [holder]: { stateDiff: { [pair[0]]: word(0n) } } }, calls: [sendTokens(2n)] },
      { calls: [sendTokens(3n)] },
    ];
    const light = await made.ask<Simulated[]>('eth_simulateV1', { blockStateCalls });
    const held = await made.dev.ask<Simulated[]>('eth_simulateV1', { blockStateCalls });
    expect(light[0]).toEqual(held[0]);
    expect(light.map(({ stateRoot }) => stateRoot)).toEqual([held[0]!.stateRoot, word(0n), word(0n)]);
    expect(
      light.map(({ calls }) => calls.map(({ returnData, gasUsed, status }) => [returnData, gasUsed, status])),
    ).toEqual(held.map(({ calls }) => calls.map(({ returnData, gasUsed, status }) => [returnData, gasUsed, status])));
    expect(heard).toMatchObject([{ class: 'computed', stateRoot: 'unknown' }]);
  });

  test('at a settled block, on its state, and on the zk state of the block above where that is not held', async () => {
    const { dev, open, checkpoint, endpoint } = await settledScene();
    const { ask, reports } = await open({ checkpoint: { root: await checkpoint() } });
    const simulation = { blockStateCalls: [{ calls: [sendTokens(3n)] }] };
    // Block 6 is the newest finalized one.
    const at = (block: Hex) => dev.ask<Simulated[]>('eth_simulateV1', simulation, block);
    for (const block of ['finalized', '0x5'] as const) {
      expect(await ask('eth_simulateV1', simulation, block)).toEqual(await at('0x5'));
      expect(reports.at(-1)).toMatchObject({ class: 'computed', level: 'settled', blocks: [{ number: 5 }] });
      expect(reports.at(-1)).not.toHaveProperty('stateRoot');
    }
    expect(await ask('eth_simulateV1', simulation, '0x2')).toEqual(await at('0x2'));
    expect(reports.at(-1)).toMatchObject({ level: 'settled' });

    endpoint.options.tamper = ({ method, params }, result) => {
      if (method !== 'eth_getProof' || params[2] === 'latest') return result;
      throw Object.assign(new Error('missing trie node 11 (path ) state 0x22 is not available'), { code: -32000 });
    };
    const other = await open({ checkpoint: { root: await checkpoint() } });
    const [light] = await other.ask<Simulated[]>('eth_simulateV1', simulation, 'finalized');
    const [held] = await at('0x6');
    expect(light!.stateRoot).toBe(word(0n));
    expect(light).toMatchObject({ number: '0x7', parentHash: held!.parentHash });
    const [call] = light!.calls;
    expect(call).toMatchObject({ status: '0x1', returnData: held!.calls[0]!.returnData });
    expect(other.reports.at(-1)).toMatchObject({ class: 'computed', zkBlock: 6, stateRoot: 'unknown' });
    await expect(other.ask('eth_simulateV1', simulation, '0x5')).rejects.toMatchObject({
      message: expect.stringContaining('settled'),
    });
  });

  test('runs within the gas of the request, the prefetch runs included', async () => {
    const { alloc, calls } = endlessAccounts({ rounds: { code: roundsOf(0x3000) } });
    const { open, dev } = await scene({ dev: { chain: { kind: 'devnet', mining: 'manual', alloc } } });
    const simulation = { blockStateCalls: [{ calls: [calls[0]![1]] }] };
    const [block] = await dev.ask<Simulated[]>('eth_simulateV1', simulation);
    const gas = Number(block!.calls[0]!.gasUsed);
    const simulate = async (gasBudget: number) => {
      const node = await open({}, { gasBudget });
      return node.request({ method: 'eth_simulateV1', params: [simulation] });
    };
    expect(await simulate(4 * gas)).toEqual([block]);
    await expect(simulate(gas)).rejects.toMatchObject({ message: expect.stringContaining(`more than ${gas} gas`) });
  });

  test.each([
    ['a balance', 'eth_getProof', (proof: object) => ({ ...proof, balance: '0x1' })],
    [
      'a slot',
      'eth_getProof',
      (proof: { storageProof: object[] }) => ({
        ...proof,
        storageProof: proof.storageProof.map((slot) => ({ ...slot, value: '0x7' })),
      }),
    ],
    ['code', 'eth_getCode', () => '0x600160005260206000f3'],
  ])('a forged state is refused: %s', async (_, forged, forge) => {
    const tamper = ({ method }: { method: string }, result: unknown) =>
      method === forged ? forge(result as never) : result;
    const { ask } = await scene({ endpoints: [{ tamper }] });
    await expect(ask('eth_simulateV1', { blockStateCalls: [{ calls: [sendTokens(1n)] }] })).rejects.toThrow();
  });
});
