import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/test-token.js';
import type { CallFrame } from '../../src/evm/tracing/call-frame.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, type DevNode, devNode, PRICE, stranger, word } from '../support/dev-node.js';
import { type MockOptions, serveMock } from '../support/mock-chain.js';
import { signTransaction } from '../support/sign.js';

const receiver = stranger('77');
const transferData = (amount: bigint) => `0xa9059cbb${word(BigInt(receiver)).slice(2)}${word(amount).slice(2)}` as Hex;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** A devnet with two token transfers of one sender in block 1. @returns their hashes */
async function scene(): Promise<{ dev: DevNode; hashes: Hex[] }> {
  const dev = await devNode({ chain: { kind: 'devnet', mining: 'manual' } });
  const hashes: Hex[] = [];
  for (let nonce = 0; nonce < 2; nonce++) {
    const fields = { nonce, to: TEST_TOKEN, data: transferData(BigInt(nonce + 5)), gasLimit: 100_000n, ...PRICE };
    hashes.push(await dev.ask('eth_sendRawTransaction', signTransaction(0, fields)));
  }
  await dev.ask('anvil_mine', '0x4');
  return { dev, hashes };
}

async function lightOf(dev: DevNode, tamper?: MockOptions['tamper']) {
  const mock = await serveMock(dev.node, tamper === undefined ? {} : { tamper });
  onTestFinished(() => mock.close());
  const node = await createInlineNode({ chain: { kind: 'light', network: devnet(), endpoints: [mock.url] } });
  onTestFinished(() => node.close());
  return {
    mock,
    ask: <T>(method: string, ...params: unknown[]) => node.request<UntypedMethod>({ method, params }) as Promise<T>,
  };
}

describe('a mined transaction', () => {
  test('has its call tree, with gas and logs as in its receipt', async () => {
    const { dev, hashes } = await scene();
    const options = { tracer: 'callTracer', tracerConfig: { withLog: true } };
    for (const [i, hash] of hashes.entries()) {
      const receipt = await dev.ask<{ gasUsed: Hex }>('eth_getTransactionReceipt', hash);
      const trace = await dev.ask<CallFrame>('debug_traceTransaction', hash, options);
      expect(trace).toEqual({
        type: 'CALL',
        from: accountAt(0),
        to: TEST_TOKEN,
        gas: '0x186a0',
        gasUsed: receipt.gasUsed,
        input: transferData(BigInt(i + 5)),
        output: word(1n),
        value: '0x0',
        logs: [
          {
            address: TEST_TOKEN,
            topics: [TRANSFER, word(BigInt(accountAt(0))), word(BigInt(receiver))],
            data: word(BigInt(i + 5)),
            index: `0x${i}`,
            position: '0x0',
          },
        ],
      });
    }
    const all = await dev.ask<{ txHash: Hex; result: CallFrame }[]>('debug_traceBlockByNumber', '0x1', options);
    expect(all.map(({ txHash }) => txHash)).toEqual(hashes);
    const { hash } = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', '0x1', false);
    expect(await dev.ask('debug_traceBlockByHash', hash, options)).toEqual(all);
  });

  test('has the values before it and after it', async () => {
    const { dev, hashes } = await scene();
    const options = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } };
    type Side = Record<Hex, { nonce?: number; balance?: Hex; storage?: Record<Hex, Hex> }>;
    const { pre, post } = await dev.ask<{ pre: Side; post: Side }>('debug_traceTransaction', hashes[1], options);
    expect(pre[accountAt(0)]).toMatchObject({ nonce: 1 });
    expect(post[accountAt(0)]).toMatchObject({ nonce: 2 });
    const slots = Object.keys(post[TEST_TOKEN]!.storage!) as Hex[];
    expect(slots).toHaveLength(2);
    for (const slot of slots) {
      expect(await dev.ask('eth_getStorageAt', TEST_TOKEN, slot, '0x1')).toBe(post[TEST_TOKEN]!.storage![slot]);
    }
    // The receiver had 5 from the transfer before it.
    expect(Object.values(pre[TEST_TOKEN]!.storage!)).toContain(word(5n));
    expect(Object.values(post[TEST_TOKEN]!.storage!)).toContain(word(11n));
  });

  test('is traced by a light node on proved state, and its receipt decides', async () => {
    const { dev, hashes } = await scene();
    const { ask, mock } = await lightOf(dev);
    for (const options of [
      { tracer: 'callTracer', tracerConfig: { withLog: true } },
      { tracer: 'prestateTracer' },
      { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
      { tracer: '4byteTracer' },
      { tracer: 'noopTracer' },
      { enableMemory: true, enableReturnData: true },
    ]) {
      for (const hash of hashes)
        expect(await ask('debug_traceTransaction', hash, options)).toEqual(
          await dev.ask('debug_traceTransaction', hash, options),
        );
      expect(await ask('debug_traceBlockByNumber', '0x1', options)).toEqual(
        await dev.ask('debug_traceBlockByNumber', '0x1', options),
      );
      const call = { from: accountAt(1), to: TEST_TOKEN, data: transferData(9n) };
      expect(await ask('debug_traceCall', call, 'latest', options)).toEqual(
        await dev.ask('debug_traceCall', call, 'latest', options),
      );
    }
    expect(mock.seen.flat().filter(({ method }) => method.startsWith('debug_'))).toEqual([]);
  });

  test('a state that is forged is refused', async () => {
    const { dev, hashes } = await scene();
    const { ask } = await lightOf(dev, ({ method }, result) => {
      if (method !== 'eth_getProof') return result;
      return { ...(result as object), balance: '0x1' };
    });
    await expect(ask('debug_traceTransaction', hashes[0], { tracer: 'callTracer' })).rejects.toThrow();
  });

  test('that is not there, and genesis, are errors', async () => {
    const { dev } = await scene();
    const options = { tracer: 'callTracer' };
    const missing = `0x${'11'.repeat(32)}`;
    const cases: [string, unknown, string][] = [
      ['debug_traceTransaction', missing, 'transaction not found'],
      ['debug_traceBlockByNumber', '0x0', 'genesis is not traceable'],
      ['debug_traceBlockByNumber', '0x99', 'block #153 not found'],
      ['debug_traceBlockByHash', missing, `block ${missing} not found`],
    ];
    for (const [method, what, message] of cases)
      await expect(dev.ask(method, what, options), method).rejects.toMatchObject({ code: -32000, message });
  });
});

describe('a call', () => {
  test('is traced with overrides, and a revert is a result', async () => {
    const { dev } = await scene();
    const call = { from: stranger('55'), to: TEST_TOKEN, data: transferData(1n) };
    const poor = await dev.ask<CallFrame>('debug_traceCall', call, 'latest', { tracer: 'callTracer' });
    expect(poor).toMatchObject({ type: 'CALL', error: 'execution reverted' });
    const stateOverrides = { [TEST_TOKEN]: { code: '0x60016000526001601ff3' } };
    const rich = await dev.ask<CallFrame>('debug_traceCall', call, 'latest', { tracer: 'callTracer', stateOverrides });
    expect(rich).toMatchObject({ output: '0x01' });
    expect(rich).not.toHaveProperty('error');
    // NUMBER, at a block that is given: 0x4360005260206000f3.
    const number = await dev.ask<CallFrame>('debug_traceCall', call, 'latest', {
      tracer: 'callTracer',
      stateOverrides: { [TEST_TOKEN]: { code: '0x4360005260206000f3' } },
      blockOverrides: { number: '0x99' },
    });
    expect(number.output).toBe(word(0x99n));
  });

  test('runs before any transaction of its block, if wanted', async () => {
    const { dev } = await scene();
    const call = { to: TEST_TOKEN, data: `0x70a08231${word(BigInt(receiver)).slice(2)}` };
    const ask = async (txIndex: Hex) =>
      (await dev.ask<CallFrame>('debug_traceCall', call, '0x1', { tracer: 'callTracer', txIndex })).output;
    expect(await ask('0x0')).toBe(word(0n));
    expect(await ask('0x1')).toBe(word(5n));
    await expect(ask('0x2')).rejects.toMatchObject({ code: -32000, message: /transaction index 2 out of range/ });
    const pending = dev.ask('debug_traceCall', call, 'pending', { tracer: 'callTracer' });
    await expect(pending).rejects.toMatchObject({ code: -32000, message: /on top of pending/ });
  });

  test('without a tracer lists its instructions, as many as are wanted', async () => {
    const { dev } = await scene();
    // PUSH1 1, PUSH1 0, SSTORE, then an instruction that is not defined.
    const stateOverrides = { [TEST_TOKEN]: { code: '0x60016000556000510c' } };
    const ask = (options: object) =>
      dev.ask('debug_traceCall', { to: TEST_TOKEN, gas: '0x186a0' }, 'latest', { ...options, stateOverrides });
    const slot = word(0n);
    const steps = [
      { pc: 0, op: 'PUSH1', gas: 79_000, gasCost: 3, depth: 1, stack: [] },
      { pc: 2, op: 'PUSH1', gas: 78_997, gasCost: 3, depth: 1, stack: ['0x1'] },
      {
        pc: 4,
        op: 'SSTORE',
        gas: 78_994,
        gasCost: 22_100,
        depth: 1,
        stack: ['0x1', '0x0'],
        storage: { [slot]: word(1n) },
      },
      { pc: 5, op: 'PUSH1', gas: 56_894, gasCost: 3, depth: 1, stack: [] },
      { pc: 7, op: 'MLOAD', gas: 56_891, gasCost: 6, depth: 1, stack: ['0x0'] },
      {
        pc: 8,
        op: 'opcode 0xc not defined',
        gas: 56_885,
        gasCost: 0,
        depth: 1,
        error: 'invalid opcode: opcode 0xc not defined',
        stack: ['0x0'],
      },
    ];
    const whole = { gas: 100_000, failed: true, returnValue: '0x' };
    expect(await ask({})).toEqual({ ...whole, structLogs: steps });
    expect(await ask({ limit: 2 })).toEqual({ ...whole, structLogs: steps.slice(0, 2) });
    const bare = steps.map(({ stack: _, storage: __, ...rest }) => rest);
    expect(await ask({ disableStack: true, disableStorage: true })).toEqual({ ...whole, structLogs: bare });
    const { structLogs } = (await ask({ enableMemory: true })) as { structLogs: { memory?: Hex[] }[] };
    expect(structLogs.map(({ memory }) => memory)).toEqual([...Array(5).fill(undefined), [word(0n)]]);
  });

  test('options that cannot be used are named', async () => {
    const { dev } = await scene();
    const call = { to: TEST_TOKEN };
    const cases: [unknown, RegExp][] = [
      [{ limit: -1 }, /limit/],
      [{ tracer: '{step: function(log) {}}' }, /tracer: has no tracer of this name/],
      [{ tracer: 'callTracer', tracerConfig: { withLog: 1 } }, /tracerConfig.withLog/],
      [{ tracer: 'callTracer', timeout: '5 parsecs' }, /timeout/],
      [
        { tracer: 'prestateTracer', tracerConfig: { diffMode: true, includeEmpty: true } },
        /diffMode with includeEmpty/,
      ],
    ];
    for (const [options, reason] of cases) {
      const error = await dev.ask('debug_traceCall', call, 'latest', options).catch((thrown: unknown) => thrown);
      expect(error, JSON.stringify(options)).toMatchObject({ code: -32602 });
      expect(JSON.stringify(error) + String((error as Error).message), JSON.stringify(options)).toMatch(reason);
    }
  });

  test('ends at its timeout', async () => {
    const { dev } = await scene();
    // JUMPDEST PUSH1 0 JUMP, with the gas of some 50 ms.
    const options = { tracer: 'callTracer', timeout: '1ms', stateOverrides: { [TEST_TOKEN]: { code: '0x5b600056' } } };
    const ended = dev.ask('debug_traceCall', { to: TEST_TOKEN, gas: '0x2faf080' }, 'latest', options);
    await expect(ended).rejects.toMatchObject({ code: -32000, message: 'execution timeout' });
  });
});
