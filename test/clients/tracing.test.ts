import { JsonRpcProvider } from 'ethers';
import { createPublicClient, http } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Web3 } from 'web3';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { Anvil, anvilPath, castPath } from '../support/anvil.js';
import { contracts } from '../support/contracts.js';
import { type SwapScene, swapScene } from '../support/swap-scene.js';
import { type Endpoint, openEndpoint } from './endpoint.js';
import { runFoundry } from './foundry.js';

if (anvilPath() === undefined || castPath() === undefined)
  console.log('traces are not compared with Foundry: there is no anvil or no cast for this system');

const trader = DEV_ACCOUNTS[0]!.address;
const TRACER = { tracer: 'callTracer', tracerConfig: { withLog: true } } as const;

interface Frame {
  readonly gas?: Hex;
  readonly calls?: readonly Frame[];
  readonly [member: string]: unknown;
}
type Ask = <T>(method: string, ...params: unknown[]) => Promise<T>;

let scene: SwapScene;
let endpoint: Endpoint;
let ask: Ask;
let hash: Hex;
const sent = () => ({ ...scene.swap, gas: '0x7a120', gasPrice: '0x3b9aca00' });
beforeAll(async () => {
  scene = swapScene(await contracts(), trader);
  endpoint = await openEndpoint({ chain: { kind: 'devnet', alloc: scene.alloc } });
  ask = <T>(method: string, ...params: unknown[]) =>
    endpoint.node.request<UntypedMethod>({ method, params }) as Promise<T>;
  hash = await ask<Hex>('eth_sendTransaction', sent());
});
afterAll(() => endpoint.close());

/** The three methods, by a client's own way to ask for a method that it has no name for. */
async function traced(request: (method: string, params: unknown[]) => Promise<unknown>) {
  const trace = (await request('debug_traceTransaction', [hash, TRACER])) as Frame;
  const { from, to, data } = scene.swap;
  const call = (await request('debug_traceCall', [{ from, to, data }, '0x0', TRACER])) as Frame;
  const block = await request('debug_traceBlockByNumber', ['0x1', TRACER]);
  return { trace, call, block };
}

describe('traces of a swap', () => {
  const ways: Record<string, () => (method: string, params: unknown[]) => Promise<unknown>> = {
    viem: () => {
      const client = createPublicClient({ transport: http(endpoint.http) });
      return (method, params) => client.request({ method, params } as never);
    },
    ethers: () => {
      const provider = new JsonRpcProvider(endpoint.http, undefined, { staticNetwork: true });
      return (method, params) => provider.send(method, params);
    },
    'web3.js': () => {
      const { provider } = new Web3(endpoint.http);
      return async (method, params) => {
        const answer = await provider!.request({ jsonrpc: '2.0', id: 1, method, params } as never);
        return (answer as { result: unknown }).result;
      };
    },
  };

  test.each(Object.keys(ways))('are read by %s', async (name) => {
    const { trace, call, block } = await traced(ways[name]!());
    const { gasUsed, logs } = await ask<{ gasUsed: Hex; logs: { data: Hex }[] }>('eth_getTransactionReceipt', hash);
    expect(trace).toMatchObject({ type: 'CALL', from: trader, to: scene.router, input: scene.swap.data, gasUsed });
    expect(call).toMatchObject({ type: 'CALL', from: trader, to: scene.router, output: trace.output });
    expect(block).toEqual([{ txHash: hash, result: trace }]);
    const of = ({ logs: own = [], calls = [] }: Frame): { data: Hex }[] => [...(own as never[]), ...calls.flatMap(of)];
    expect(
      of(trace)
        .map(({ data }) => data)
        .sort(),
    ).toEqual(logs.map(({ data }) => data).sort());
  });

  test.skipIf(anvilPath() === undefined)('are those of anvil, but for the gas at the top', async () => {
    const anvil = await Anvil.start('osaka');
    try {
      const accounts: SwapScene['alloc'] = { ...scene.alloc, [trader]: { balance: 10n ** 20n } };
      for (const [address, { balance = 0n, code, storage = {} }] of Object.entries(accounts)) {
        await anvil.ask('anvil_setBalance', address, `0x${balance.toString(16)}`);
        if (code !== undefined) await anvil.ask('anvil_setCode', address, code);
        for (const [slot, value] of Object.entries(storage))
          await anvil.ask('anvil_setStorageAt', address, slot, value);
      }
      await anvil.ask('anvil_impersonateAccount', trader);
      const theirs = await anvil.ask<Hex>('eth_sendTransaction', sent());
      // It mines after it has answered.
      await expect.poll(() => anvil.ask('eth_getTransactionReceipt', theirs)).not.toBeNull();
      // Where anvil differs: the top frame's gas is less the intrinsic gas (docs/spec/preview.md 2.2).
      const { gas: _, ...expected } = await anvil.ask<Frame>('debug_traceTransaction', theirs, TRACER);
      const { gas: __, ...found } = await ask<Frame>('debug_traceTransaction', hash, TRACER);
      expect(found).toEqual(expected);
      expect(found.calls!.length).toBeGreaterThan(3);
    } finally {
      await anvil.close();
    }
  });

  /** Runs cast. @returns gas and callee of each inner call that it prints, in order, and the gas of the whole */
  async function cast(...args: string[]) {
    const stdout = await runFoundry('cast', [...args, '--rpc-url', endpoint.http]);
    const calls = [...stdout.matchAll(/\[(\d+)\] (0x[0-9a-fA-F]{40})::/g)].map(([, gas, to]) => [
      gas,
      to!.toLowerCase(),
    ]);
    return { calls: calls.slice(1), gas: Number(/Gas used: (\d+)/.exec(stdout)?.[1]) };
  }

  const innerCalls = ({ calls = [] }: Frame): unknown[] =>
    calls.flatMap((one) => [[String(Number(one.gasUsed)), one.to], ...innerCalls(one)]);

  test.skipIf(castPath() === undefined)(
    'are those of Foundry’s cast run, which executes the transaction itself',
    async () => {
      const { calls, gas } = await cast('run', hash);
      const trace = await ask<Frame>('debug_traceTransaction', hash, TRACER);
      expect(calls.length).toBeGreaterThan(10);
      expect(innerCalls(trace)).toEqual(calls);
      expect(Number(trace.gasUsed)).toBe(gas);
    },
  );

  test.skipIf(castPath() === undefined)('are those of cast call --trace', async () => {
    const { from, to, data } = scene.swap;
    const { calls } = await cast('call', '--trace', '--from', from, to, '--data', data);
    const trace = await ask<Frame>('debug_traceCall', { from, to, data }, 'latest', TRACER);
    expect(calls.length).toBeGreaterThan(10);
    expect(innerCalls(trace)).toEqual(calls);
  });
});
