import { describe, expect, onTestFinished, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { ErrorCode } from '../../src/errors.js';
import type { CallFrame } from '../../src/evm/tracing/tracer.js';
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
    const cases: [string, unknown, string, ErrorCode][] = [
      ['debug_traceTransaction', missing, 'transaction not found', 'TRANSACTION_NOT_FOUND'],
      ['debug_traceBlockByNumber', '0x0', 'genesis is not traceable', 'BLOCK_INCOMPLETE'],
      ['debug_traceBlockByNumber', '0x99', 'block #153 not found', 'BLOCK_NOT_FOUND'],
      ['debug_traceBlockByHash', missing, `block ${missing} not found`, 'BLOCK_NOT_FOUND'],
    ];
    for (const [method, what, message, reason] of cases)
      await expect(dev.ask(method, what, options), method).rejects.toMatchObject({ code: -32000, message, reason });
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
        // As geth: an error only of an instruction that does not come to be executed.
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

  test('a list has the costs, errors and refunds of geth 1.17.10', async () => {
    const { dev } = await scene();
    const target = stranger('c0');
    const other = stranger('b0');
    const slotSeven = { [word(7n)]: word(3n) };
    const ask = async (code: string, gas = 300_000, callee = '0x600160005500') => {
      const stateOverrides = { [target]: { code: `0x${code}`, stateDiff: slotSeven }, [other]: { code: callee } };
      const call = { from: accountAt(0), to: target, gas: `0x${gas.toString(16)}` };
      const options = { stateOverrides, disableStack: true, disableStorage: true };
      const { structLogs } = await dev.ask<{ structLogs: object[] }>('debug_traceCall', call, 'latest', options);
      return structLogs.map((step) => ({ ...step, pc: undefined, depth: undefined }) as Record<string, unknown>);
    };
    const BALANCE = `73${other.slice(2)}31`;
    // Code, gas, and the last step as geth 1.17.10 has it (debug_traceCall of geth --dev, Prague): op, gas cost, error, refund.
    const cases: [string, number, string, number, (string | undefined)?, number?][] = [
      ['60015f5f3e', 300_000, 'RETURNDATACOPY', 9],
      ['650100000000005f5f3e', 300_000, 'RETURNDATACOPY', 3, 'out of gas: gas uint64 overflow'],
      ['01', 300_000, 'ADD', 3, 'stack underflow (0 <=> 2)'],
      ['fe', 300_000, 'INVALID', 0],
      ['604d56', 300_000, 'JUMP', 8],
      ['60016405f5e1000052', 300_000, 'MSTORE', 1_250_002_403_125_006, 'out of gas'],
      ['600165010000000000' + '52', 300_000, 'MSTORE', 3, 'out of gas: gas uint64 overflow'],
      ['62989680' + '5f20', 300_000, 'KECCAK256', 193_547_393, 'out of gas'],
      [
        '61c3505f5ff0',
        300_000,
        'CREATE',
        32_000,
        'out of gas: max initcode size exceeded: code size 50000 limit 49152',
      ],
      ['60095460', 21_003, 'SLOAD', 2_100, 'out of gas'],
      [BALANCE, 21_020, 'BALANCE', 100, 'out of gas'],
      [BALANCE, 21_150, 'BALANCE', 2_600, 'out of gas'],
      [`5f5f5f5f73${other.slice(2)}6103e8f4`, 21_375, 'DELEGATECALL', 100, 'out of gas: out of gas'],
      ['5f60075500', 300_000, 'STOP', 0, undefined, 4_800],
      ['6001600755', 2_000 + 21_000, 'SSTORE', 0, 'out of gas: not enough gas for reentrancy sentry'],
    ];
    for (const [code, gas, op, gasCost, error, refund] of cases) {
      const last = (await ask(code, gas)).at(-1)!;
      const { gas: _, ...said } = last;
      const wanted = { op, gasCost, ...(error && { error }), ...(refund && { refund }) };
      expect(JSON.parse(JSON.stringify(said)), code).toEqual(wanted);
    }
    // The refund of a slot that is cleared stands at its SSTORE.
    expect((await ask('5f60075500')).at(2)).toMatchObject({ op: 'SSTORE', gasCost: 5_000, refund: 4_800 });
    // Init code that returns a byte 0xef, and one that returns more than a contract may have.
    for (const [init, cost] of [
      ['60ef60005360016000f3', 0],
      ['6160016000f3', 3_462],
    ] as const) {
      const length = init.length / 2;
      const hex = (value: number) => value.toString(16).padStart(2, '0');
      // PUSH init, PUSH0, MSTORE, PUSH1 length, PUSH1 offset, PUSH0, CREATE.
      const create = `${hex(0x5f + length)}${init}5f5260${hex(length)}60${hex(32 - length)}5ff000`;
      const end = (await ask(create)).find(({ op }) => op === 'RETURN');
      expect(end, init).toMatchObject({ gasCost: cost });
      expect(end, init).not.toHaveProperty('error');
    }
    // A write in a static call.
    const staticCall = `5f5f5f5f73${other.slice(2)}620186a0fa00`;
    const inside = async (callee: string) => (await ask(staticCall, 200_000, callee)).at(-2);
    expect(await inside('0x600160005500')).toMatchObject({
      op: 'SSTORE',
      gasCost: 0,
      error: 'out of gas: write protection',
    });
    const transient = await inside('0x60015f5d00');
    expect(transient).toMatchObject({ op: 'TSTORE', gasCost: 100 });
    expect(transient).not.toHaveProperty('error');
  });

  test('a write in a static call fails in its gas calculation, or without the gas for it, as in geth 1.17.10', async () => {
    const { dev } = await scene();
    const [target, callee] = [stranger('c0'), stranger('c1')];
    const errorOf = async (code: string, gas: string) => {
      // PUSH0 four times, PUSH20 callee, PUSH2 gas, STATICCALL.
      const stateOverrides = {
        [target]: { code: `0x5f5f5f5f73${callee.slice(2)}61${gas}fa00` },
        [callee]: { code: `0x${code}` },
      };
      const call = { from: accountAt(0), to: target, gas: '0x493e0' };
      const options = { tracer: 'callTracer', stateOverrides };
      return (await dev.ask<CallFrame>('debug_traceCall', call, 'latest', options)).calls![0]!.error;
    };
    const computed = 'out of gas: write protection';
    const cases = [
      ['SSTORE', '5f5f55', computed, computed, computed],
      ['LOG0', '5f5fa0', 'out of gas', 'write protection', 'write protection'],
      ['TSTORE', '5f5f5d', 'out of gas', 'write protection', 'write protection'],
      ['CREATE', '5f5f5ff0', 'out of gas', 'out of gas', computed],
      ['CREATE2', '5f5f5f5ff5', 'out of gas', 'out of gas', computed],
      ['CALL with a value', '5f5f5f5f6001335af1', 'out of gas', computed, computed],
      ['SELFDESTRUCT', '33ff', 'out of gas', 'out of gas', computed],
    ];
    for (const [name, code, ...errors] of cases)
      expect([name, ...(await Promise.all(['0010', '0b00', '8fff'].map((gas) => errorOf(code!, gas))))]).toEqual([
        name,
        ...errors,
      ]);
  });

  test('a creation that is refused before it starts has its init code, and all but one 64th of the gas', async () => {
    const { dev } = await scene();
    const target = stranger('c0');
    const frameOf = async (code: string, account: object = {}) => {
      const stateOverrides = { [target]: { code, ...account } };
      const call = { from: accountAt(0), to: target, gas: '0x493e0' };
      const options = { tracer: 'callTracer', stateOverrides };
      return (await dev.ask<CallFrame>('debug_traceCall', call, 'latest', options)).calls![0];
    };
    // As geth 1.17.10 answers debug_traceCall.
    const poor = {
      gas: '0x3b5b8',
      gasUsed: '0x0',
      input: `0x${'00'.repeat(10)}`,
      error: 'insufficient balance for transfer',
    };
    expect(await frameOf('0x600a5f6c10000000000000000000000000f0')).toEqual({
      type: 'CREATE',
      from: target,
      value: '0x10000000000000000000000000',
      ...poor,
    });
    expect(await frameOf('0x6001600a5f6c10000000000000000000000000f5')).toEqual({
      type: 'CREATE2',
      from: target,
      value: '0x10000000000000000000000000',
      ...{ ...poor, gas: '0x3b5af' },
    });
    const last = await frameOf('0x63aabbccdd5f526004601c5ff0', { nonce: '0xffffffffffffffff' });
    expect(last).toMatchObject({ input: '0xaabbccdd', error: 'nonce uint64 overflow' });
  });

  test('as a list, depth first, without inner calls of precompiles unless they are wanted', async () => {
    const { dev } = await scene();
    const [target, other] = [stranger('c0'), stranger('c1')];
    // CALL and STATICCALL of SHA-256, CREATE without code, CALL of the other one, then INVALID.
    const code = `0x5f5f5f5f5f6002611388f15f5f5f5f60026103e8fa5f5f5ff05f5f5f5f5f73${other.slice(2)}614e20f1fe`;
    const stateOverrides = { [target]: { code }, [other]: { code: '0xff' } };
    const ask = (tracerConfig?: object, tracer = 'flatCallTracer') =>
      dev.ask<Record<string, unknown>[]>(
        'debug_traceCall',
        { from: accountAt(0), to: target, gas: '0x493e0' },
        'latest',
        {
          ...{ tracer, tracerConfig, stateOverrides },
        },
      );
    const nowhere = { blockHash: null, blockNumber: 0, transactionHash: null, transactionPosition: 0 };
    const inner = { from: target, input: '0x', value: '0x0' };
    // As geth 1.17.10, but for the address of the contract, which depends on the nonce.
    const [root, creation, call, ...rest] = await ask();
    expect(rest).toEqual([]);
    expect(root).toEqual({
      ...{ ...nowhere, type: 'call', subtraces: 2, traceAddress: [], error: 'invalid opcode: INVALID' },
      action: { callType: 'call', from: accountAt(0), to: target, gas: '0x493e0', input: '0x', value: '0x0' },
    });
    expect(creation).toEqual({
      ...{ ...nowhere, type: 'create', subtraces: 0, traceAddress: [0] },
      action: { creationMethod: 'create', from: target, gas: expect.any(String), init: '0x', value: '0x0' },
      result: { address: expect.stringMatching(/^0x[0-9a-f]{40}$/), code: '0x', gasUsed: '0x0' },
    });
    expect(call).toEqual({
      ...{ ...nowhere, type: 'call', subtraces: 0, traceAddress: [1], error: 'stack underflow (0 <=> 1)' },
      action: { ...inner, callType: 'call', to: other, gas: '0x4e20' },
    });
    const words = (await ask({ convertParityErrors: true })).map(({ error }) => error);
    expect(words).toEqual(['Bad instruction', undefined, 'Stack underflow']);
    const whole = await ask({ includePrecompiles: true });
    expect(whole.map(({ traceAddress }) => traceAddress)).toEqual([[], [0], [1], [2], [3]]);
    const output = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    const action = { callType: 'staticcall', value: '0x0' };
    expect(whole[2]).toMatchObject({ action, result: { gasUsed: '0x3c', output } });

    // Several at once: what each of them says alone.
    const together = { callTracer: { withLog: true }, '4byteTracer': null, prestateTracer: {}, flatCallTracer: {} };
    const mixed = await ask({ ...together, muxTracer: { noopTracer: {} } }, 'muxTracer');
    const alone = Object.entries(together).map(async ([name, config]) => [name, await ask(config ?? undefined, name)]);
    expect(mixed).toEqual({ ...Object.fromEntries(await Promise.all(alone)), muxTracer: { noopTracer: {} } });
    expect(await ask(undefined, 'muxTracer')).toEqual({});
    for (const config of [{ bogus: {} }, { '': {} }, { callTracer: 3 }, [1]])
      await expect(ask(config, 'muxTracer')).rejects.toMatchObject({ code: -32602 });
  });

  test('a list names the block and the transaction', async () => {
    const { dev, hashes } = await scene();
    const { hash } = await dev.ask<{ hash: Hex }>('eth_getBlockByNumber', '0x1', false);
    const place = { blockHash: hash, blockNumber: 1, transactionHash: hashes[1], transactionPosition: 1 };
    const trace = await dev.ask('debug_traceTransaction', hashes[1], { tracer: 'flatCallTracer' });
    expect(trace).toMatchObject([{ ...place, type: 'call', action: { to: TEST_TOKEN } }]);
    const all = await dev.ask<{ result: unknown }[]>('debug_traceBlockByNumber', '0x1', { tracer: 'flatCallTracer' });
    expect(all[1]!.result).toEqual(trace);
    const { ask } = await lightOf(dev);
    expect(await ask('debug_traceTransaction', hashes[1], { tracer: 'flatCallTracer' })).toEqual(trace);
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
