import { describe, expect, test } from 'vitest';
import { success, writeReply } from '../../src/rpc/envelope.js';
import { answerRoom, createDispatcher, jsonSize } from '../../src/rpc/handle.js';
import { createMethodTable } from '../../src/rpc/method.js';
import { RpcError } from '../../src/rpc/rpc-errors.js';
import { accountAt, devNode, PRICE, stranger } from '../support/dev-node.js';
import { seededRandom } from '../support/random.js';
import { signTransaction } from '../support/sign.js';
import { someMethod } from '../support/some-method.js';

const LIMIT = 10_000;
const TOO_LARGE = {
  code: -32003,
  message: `Response too large (more than ${LIMIT} bytes)`,
  reason: 'ANSWER_TOO_LARGE',
  details: { limit: LIMIT },
};

const table = createMethodTable<undefined>([
  someMethod('text', (_, [length]) => 'x'.repeat(Number(length))),
  someMethod('reverts', (_, [length]) => {
    throw new RpcError({
      code: 3,
      message: 'Execution reverted',
      data: 'x'.repeat(Number(length)),
      reason: 'EXECUTION_REVERTED',
      details: { data: new Uint8Array() },
    });
  }),
]);
const request = (id: number, method: string, length: number) => ({ jsonrpc: '2.0', id, method, params: [length] });
const text = (id: number, length: number) => ({ jsonrpc: '2.0', id, result: 'x'.repeat(length) });
const refused = (id: number) => ({ jsonrpc: '2.0', id, error: TOO_LARGE });

describe('answers of a batch are limited in bytes', () => {
  const handle = async (payload: unknown) =>
    (await createDispatcher(table, undefined, { maxAnswerBytes: LIMIT })(payload)).body;

  test('what does not fit is an error in its place, and what follows is answered as it fits', async () => {
    const batch = [4000, 4000, 4000, 1500, 1500].map((length, i) => request(i, 'text', length));
    expect(await handle(batch)).toEqual([text(0, 4000), text(1, 4000), refused(2), text(3, 1500), refused(4)]);
  });

  test('one answer too, and the data of an error', async () => {
    expect(await handle(request(1, 'text', LIMIT - 2))).toEqual(text(1, LIMIT - 2));
    expect(await handle(request(1, 'text', LIMIT - 1))).toEqual(refused(1));
    expect(await handle(request(1, 'reverts', LIMIT))).toEqual(refused(1));
  });

  test('a short answer always fits: it is no longer than the error', async () => {
    const answers = (await handle([request(0, 'text', LIMIT - 2), request(1, 'text', 66)])) as unknown[];
    expect(answers).toEqual([text(0, LIMIT - 2), text(1, 66)]);
  });

  test('the JSON text of a full batch stays within the limit and what its short answers take', async () => {
    const batch = Array.from({ length: 1000 }, (_, i) => request(i, 'text', 9 * (i % 300)));
    const reply = await createDispatcher(table, undefined, { maxAnswerBytes: LIMIT })(batch);
    const bytes = Buffer.byteLength(writeReply(reply));
    expect(bytes).toBeGreaterThan(LIMIT);
    expect(bytes).toBeLessThan(LIMIT + 1000 * (256 + 40));
  });

  test('the answers are counted as their JSON text in UTF-8', () => {
    const random = seededRandom(16);
    const strings = ['', 'plain', '"', '\\', '\n', 'é', '\u2028', '😀', '\ud800', '0x'.padEnd(40, 'f')];
    const value = (depth: number): unknown => {
      const kind = random(depth === 0 ? 6 : 9);
      if (kind < 2) return strings[random(strings.length)];
      if (kind < 6) return [null, true, false, random(1000) / 7, undefined, Number.NaN][random(6)];
      const items = Array.from({ length: random(4) }, () => value(depth - 1));
      return kind < 8 ? items : Object.fromEntries(items.map((item, i) => [strings[i]!, item]));
    };
    for (let round = 0; round < 2000; round++) {
      const some = value(5) ?? null;
      const bytes = Buffer.byteLength(JSON.stringify(some));
      expect(jsonSize(some, Number.MAX_SAFE_INTEGER), JSON.stringify(some)).toBe(bytes);
      for (const isOne of [false, true]) {
        expect(answerRoom(bytes, isOne)(success(1, some))).toBe(true);
        if (bytes > 300) expect(answerRoom(bytes - 1, isOne)(success(1, some))).toBe(false);
      }
    }
  });
});

/** Byte code that logs or returns its first `size` bytes of memory, so often. */
const push = (value: number) => `63${value.toString(16).padStart(8, '0')}`;
const returning = (size: number) => `0x${push(size)}${push(0)}f3`;
const logging = (size: number, times: number) => `0x${`${push(size)}${push(0)}a0`.repeat(times)}`;

describe('return data and logs are limited in bytes', () => {
  const to = stranger('c0');
  const limit = 100_000;
  const tooLarge = { code: -32003, message: `Response too large (more than ${limit} bytes)` };
  const calling = async () => {
    const dev = await devNode({ maxAnswerBytes: limit });
    return {
      ...dev,
      call: (code: string) => dev.ask<string>('eth_call', { to }, 'latest', { [to]: { code } }),
      simulate: (code: string, calls: number) =>
        dev.ask<{ calls: { logs: unknown[] }[] }[]>('eth_simulateV1', {
          blockStateCalls: [{ stateOverrides: { [to]: { code } }, calls: Array(calls).fill({ to }) }],
        }),
    };
  };

  test('of eth_call', async () => {
    const { call } = await calling();
    expect((await call(returning(49_000))).length).toBe(2 + 2 * 49_000);
    await expect(call(returning(51_000))).rejects.toMatchObject(tooLarge);
    await expect(call(`0x${push(51_000)}${push(0)}fd`)).rejects.toMatchObject(tooLarge);
    expect(await call(logging(1000, 40))).toBe('0x');
    await expect(call(logging(1000, 50))).rejects.toMatchObject(tooLarge);
    await expect(call(logging(0, 300))).rejects.toMatchObject(tooLarge);
  });

  test('of an estimate, each of its runs by itself', async () => {
    const { ask } = await calling();
    const estimate = (code: string) => ask('eth_estimateGas', { to }, 'latest', { [to]: { code } });
    expect(Number(await estimate(logging(1000, 40)))).toBeGreaterThan(21_000);
    await expect(estimate(logging(1000, 50))).rejects.toMatchObject(tooLarge);
  });

  test('of eth_simulateV1, all its calls together', async () => {
    const { simulate } = await calling();
    const [block] = await simulate(logging(1000, 10), 2);
    expect(block!.calls.map(({ logs }) => logs.length)).toEqual([10, 10]);
    await expect(simulate(logging(1000, 10), 5)).rejects.toMatchObject(tooLarge);
  });

  test('of eth_getLogs and of filters', async () => {
    const { ask, node } = await calling();
    await ask('hardhat_setCode', to, logging(1000, 10));
    const filter = await ask('eth_newFilter', { address: to });
    for (let nonce = 0; nonce < 4; nonce++) {
      const raw = signTransaction(0, { to, gasLimit: 1_000_000n, nonce, ...PRICE });
      await ask('eth_sendRawTransaction', raw);
    }
    expect(await ask('eth_getLogs', { address: to, fromBlock: '0x1', toBlock: '0x3' })).toHaveLength(30);
    await expect(ask('eth_getLogs', { address: to, fromBlock: '0x1', toBlock: '0x4' })).resolves.toHaveLength(40);
    await ask('eth_sendRawTransaction', signTransaction(0, { to, gasLimit: 1_000_000n, nonce: 4, ...PRICE }));
    await expect(ask('eth_getLogs', { address: to, fromBlock: '0x1', toBlock: '0x5' })).rejects.toMatchObject(tooLarge);
    // In several answers, of which none is lost.
    const given: { blockNumber: string }[][] = [];
    for (let poll = 0; poll < 3; poll++) given.push(await ask('eth_getFilterChanges', filter));
    expect(given.map((logs) => logs.length)).toEqual([30, 20, 0]);
    const blocks = given.flat().map(({ blockNumber }) => Number(blockNumber));
    expect(blocks).toEqual([1, 2, 3, 4, 5].flatMap((number) => Array(10).fill(number)));
    await expect(ask('eth_getFilterLogs', filter)).resolves.toHaveLength(10);
    expect(await node.request({ method: 'eth_getBalance', params: [accountAt(9), 'latest'] })).toBeTypeOf('string');
  });
});

test.each([0, -1, 1.5, Number.NaN, '1000', Number.POSITIVE_INFINITY])('maxAnswerBytes %s is refused', async (value) => {
  await expect(devNode({ maxAnswerBytes: value as number })).rejects.toMatchObject({
    code: 'INVALID_PARAMETER',
    message: 'maxAnswerBytes: must be a whole number above zero',
  });
});
