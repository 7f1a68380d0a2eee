import { beforeAll, describe, expect, test } from 'vitest';
import type { InlineOptions } from '../../src/hosts/opening/inline.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { PreviewCall, PreviewOptions, TransactionPreview } from '../../src/rpc/schema/transaction-preview.js';
import { type Contracts, callData, contracts, word } from '../support/contracts.js';
import { accountAt, devNode, stranger } from '../support/dev-node.js';

const user = accountAt(0);
const at = stranger('ba');
const GAS = '0x1000000';
const slot = (number: number): Hex => `0x${word(number)}`;
const TOO_LARGE = { code: -32003 };

let compiled: Contracts;
beforeAll(async () => {
  compiled = await contracts();
});

const call = (contract: string, signature: string, ...args: (bigint | Hex)[]): PreviewCall => ({
  from: user,
  to: at,
  gas: GAS,
  data: callData(compiled[contract], signature, ...args),
});

/** A preview of calls of a contract that stands at `at`. */
async function preview(
  contract: string,
  calls: PreviewCall | readonly PreviewCall[],
  { node: options = {}, state = {}, ...more }: { node?: InlineOptions; state?: object } & PreviewOptions = {},
): Promise<TransactionPreview> {
  const { node } = await devNode(options);
  const code = compiled[contract]!.runtimeCode;
  return node.previewTransaction(calls, { stateOverrides: { [at]: { code, ...state } }, ...more });
}

describe('a preview of a contract that claims much', () => {
  test('lists ids that are claimed, and asks no endless number of questions', async () => {
    const { calls, warnings } = await preview('Hostile', call('Hostile', 'batch(uint256)', 500n));
    expect(calls[0]!.transfers).toHaveLength(500);
    expect(calls[0]!.transfers[499]).toMatchObject({ asset: { kind: 'erc1155', id: '0x1f3' }, amount: '0x1f3' });
    expect(warnings.filter(({ code }) => code === 'balance-unreadable')).toHaveLength(500);
    await expect(preview('Hostile', call('Hostile', 'batch(uint256)', 10_000n))).rejects.toMatchObject({
      code: -32005,
      reason: 'PREVIEW_TOO_LARGE',
      message: expect.stringContaining('more than 8192 questions to contracts'),
    });
  });

  test.each([
    [0n, 0n],
    [0x40n, 2n ** 255n],
    [0x40n, 2n],
    [2n ** 256n - 32n, 1n],
    [33n, 1n],
    [2n ** 53n, 1n],
  ])('takes arrays at %d of length %d for what they are', async (offset, length) => {
    const { calls, warnings } = await preview('Hostile', call('Hostile', 'claim(uint256,uint256)', offset, length));
    expect(calls[0]!.status).toBe('success');
    // At 0 there is an array of no length: the offset itself.
    if (offset === 0n) expect(calls[0]!.transfers).toEqual([]);
    else expect(warnings).toContainEqual({ code: 'unknown-transfer', severity: 'warning', address: at });
  });

  test('has no event of any length and form that it cannot read or pass over', async () => {
    const topics = [
      'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      'c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
      '4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
      'e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c',
      '7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65',
      '8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
      '17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
      'da9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b',
      'c6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec',
      '89b1add15eff56b3dfe299ad94e01f2b52fbcb80ae1a3baea6ae8c04cb2b98a4',
    ];
    const calls = topics.map((topic) => call('Hostile', 'odd(bytes32,uint256)', `0x${topic}`, 224n));
    const found = await preview('Hostile', calls, { state: {}, node: {} });
    for (const [i, { transfers, approvals, status }] of found.calls.entries()) {
      expect(status, topics[i]).toBe('success');
      // Every word is 2^256 - 1, which is no address: no account can have given or taken anything.
      expect([...transfers, ...approvals], topics[i]).toEqual([]);
    }
    expect(found.warnings).toEqual([{ code: 'unknown-transfer', severity: 'warning', address: at }]);
  });

  test('has thousands of events of 32 calls, within the size of an answer', async () => {
    const approvals = call('Hostile', 'approvals(uint256)', 1_000n);
    const few = await preview('Hostile', approvals);
    expect(few.calls[0]!.approvals).toHaveLength(1_000);
    expect(few.warnings.filter(({ code }) => code === 'unlimited-approval')).toHaveLength(0);
    const many = preview('Hostile', new Array(32).fill(approvals), { node: { maxAnswerBytes: 4_000_000 } });
    await expect(many).rejects.toMatchObject(TOO_LARGE);
    const transfers = call('Hostile', 'transfers(uint256)', 5_000n);
    await expect(preview('Hostile', transfers, { node: { maxAnswerBytes: 2_000_000 } })).rejects.toMatchObject(
      TOO_LARGE,
    );
  });

  test('counts the input of all inner calls of 32 calls', async () => {
    const calls = new Array(32).fill(call('Hostile', 'shout(uint256,uint256)', 40n, 10_000n));
    const few = await preview('Hostile', calls.slice(0, 2));
    expect(few.calls[1]!.tree.calls).toHaveLength(40);
    await expect(preview('Hostile', calls, { node: { maxAnswerBytes: 4_000_000 } })).rejects.toMatchObject(TOO_LARGE);
  });
});

describe('a preview of a contract that answers badly', () => {
  const transfer = (contract: string) => call(contract, 'transfer(address,uint256)', user, 5n);

  test('questions that use up all gas have no answer, and count against the budget', async () => {
    const { calls, balances, warnings, tokens } = await preview('Burner', transfer('Burner'));
    const asset = { kind: 'erc20', address: at };
    expect(calls[0]!.transfers).toMatchObject([{ asset, amount: '0x5' }]);
    expect(balances).toContainEqual({ account: user, asset, before: null, after: null, told: '0', change: null });
    expect(warnings).toContainEqual({ code: 'balance-unreadable', severity: 'warning', asset, account: user });
    expect(tokens[at]).toEqual({ symbol: null, decimals: null });
    const limited = preview('Burner', transfer('Burner'), { node: { gasBudget: 8_000_000 } });
    await expect(limited).rejects.toMatchObject({ code: -32000, message: expect.stringContaining('8000000 gas') });
  });

  const named = async (text: string, length = Buffer.byteLength(text)) => {
    const stateDiff = { [slot(0)]: `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`, [slot(1)]: slot(length) };
    return (await preview('Talker', transfer('Talker'), { state: { stateDiff } })).tokens[at];
  };

  test('a symbol is what was answered, as far as it is text and short', async () => {
    expect(await named('USDC')).toEqual({ symbol: 'USDC', decimals: 32 });
    const reversed = 'US\u202eCD\u0000\u0007"\\';
    expect(await named(reversed)).toEqual({ symbol: reversed, decimals: 32 });
    // Text of 40 bytes, of which the last eight are zero.
    expect((await named('x'.repeat(32), 40))!.symbol).toBe(`${'x'.repeat(32)}${'\0'.repeat(8)}`);
    expect((await named('x'.repeat(32), 1_000))!.symbol).toHaveLength(64);
    expect((await named('x', 500_000))!.symbol).toBe(null);
    const noText = { [slot(0)]: `0xff${'00'.repeat(31)}`, [slot(1)]: slot(4) } as const;
    const { tokens } = await preview('Talker', transfer('Talker'), { state: { stateDiff: noText } });
    expect(tokens[at]!.symbol).toBe(null);
  });

  test('a symbol is not cut within a character', async () => {
    const stateDiff = { [slot(0)]: `0x${Buffer.from('😀'.repeat(8)).toString('hex')}`, [slot(1)]: slot(32) };
    const { tokens } = await preview('Talker', transfer('Talker'), { state: { stateDiff } });
    expect(tokens[at]!.symbol).toBe('😀'.repeat(8));
  });

  test('a collection with the events of a token, which calls its receiver, has owners', async () => {
    const receiver = stranger('bb');
    const mint = call('Collection', 'mint(address,uint256,uint256)', receiver, 7n, 3n);
    const { node } = await devNode();
    const stateOverrides = {
      [at]: { code: compiled.Collection!.runtimeCode },
      [receiver]: { code: compiled.Reenterer!.runtimeCode },
    };
    const { calls, balances, warnings } = await node.previewTransaction(mint, { stateOverrides });
    const ids = ['0x7', '0x8', '0x9', '0xa'];
    expect(calls[0]!.transfers.map(({ asset }) => asset)).toEqual(
      ids.map((id) => ({ kind: 'erc721', address: at, id })),
    );
    for (const id of ids)
      expect(balances).toContainEqual({
        asset: { kind: 'erc721', address: at, id },
        // The getter of a mapping answers for every id.
        ownerBefore: `0x${'0'.repeat(40)}`,
        ownerAfter: receiver,
      });
    expect(warnings).toEqual([]);
  });
});

describe('a preview of a contract that hides', () => {
  test('an approval without its event is found, whatever other events tell', async () => {
    const spender = stranger('5e');
    const { calls, warnings } = await preview('Hostile', call('Hostile', 'approve(address,uint256)', spender, 9n));
    const parties = { token: at, owner: user, spender };
    expect(calls[0]!.approvals).toContainEqual({
      kind: 'erc20',
      ...parties,
      told: null,
      before: '0x0',
      after: '0x9',
      unlimited: false,
      covers: null,
      evidence: 'state',
    });
    expect(warnings).toContainEqual({ code: 'silent-approval', severity: 'danger', ...parties, after: '0x9' });
  });

  test('contracts that are written are asked, each for each user', async () => {
    const watch = Array.from(
      { length: 16 },
      (_, i) =>
        accountAt(0)
          .slice(0, 40)
          .concat(String(10 + i)) as Hex,
    );
    const write = call('Hostile', 'write(uint256)', 100n);
    const { balances, warnings } = await preview('Hostile', write, { watch });
    // 17 users of 100 contracts, which were not there before.
    expect(warnings.filter(({ code }) => code === 'silent-change')).toHaveLength(1_700);
    expect(balances.filter(({ asset }) => asset.kind === 'erc20')).toHaveLength(1_700);
    const calls = new Array(6).fill(write);
    await expect(preview('Hostile', calls, { watch })).rejects.toMatchObject({ code: -32005 });
  });

  test('a call that could only be sent in this very block is named', async () => {
    const funds = { [user]: { balance: '0xde0b6b3a7640000' } };
    const value = '0xb1a2bc2ec500000';
    const code = compiled.Hostile!.runtimeCode;
    const giveBack = { ...call('Hostile', 'giveBack()'), value, gas: '0x186a0' } as const;
    const { node } = await devNode();
    const stateOverrides = { ...funds, [at]: { code } };
    const { calls, warnings } = await node.previewTransaction([giveBack, giveBack], { stateOverrides });
    expect(calls.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(calls[0]!.transfers).toMatchObject([{ to: at }, { from: at, to: user, amount: value }]);
    // In another block the first call keeps what it is sent, and the second one cannot be paid.
    const lost = { account: user, asset: { kind: 'native' }, first: '0', other: String(-BigInt(value)) };
    expect(warnings).toEqual([
      {
        code: 'environment-dependent',
        severity: 'danger',
        call: 0,
        what: ['NUMBER', 'BLOCKHASH', 'PREVRANDAO'],
        ...lost,
      },
      expect.objectContaining({ severity: 'warning', first: 'success,success', other: 'success' }),
    ]);
  });

  test('a contract that is destroyed and created at the same address is reported each time', async () => {
    const again = call('Hostile', 'again(bytes32,address)', slot(1), user);
    const { calls } = await preview('Hostile', [again, again]);
    const [created, destroyed] = calls[0]!.contracts;
    expect(created).toMatchObject({ event: 'created', by: at, op: 'CREATE2' });
    expect(destroyed).toMatchObject({ event: 'destroyed', beneficiary: user, removed: true });
    expect(calls[1]!.contracts).toEqual(calls[0]!.contracts);
  });
});

describe('a preview of a contract that goes deep', () => {
  test('has all frames, and the events at the bottom', async () => {
    const { calls } = await preview('Hostile', call('Hostile', 'dive(uint256)', 200n));
    let depth = 0;
    let frame = calls[0]!.tree;
    for (; frame.calls !== undefined; frame = frame.calls[0]!) depth++;
    // 16 777 216 gas, of which each level keeps a 64th (EIP-150), down to 660 000.
    expect(depth).toBeGreaterThan(150);
    expect(frame.logs).toHaveLength(200);
    expect(calls[0]!.transfers).toHaveLength(200);
  });

  test('as deep as calls go, where a block has the gas for it', async () => {
    // Calls itself with all gas it has: PUSH0 five times, ADDRESS, GAS, CALL.
    const code = '0x5f5f5f5f5f305af1';
    const { node } = await devNode();
    const stateOverrides = { [at]: { code } };
    const request = { from: user, to: at, gas: GAS } as const;
    const { calls } = await node.previewTransaction(request, { stateOverrides });
    let depth = 0;
    for (let frame = calls[0]!.tree; frame.calls !== undefined; frame = frame.calls[0]!) depth++;
    expect(depth).toBeGreaterThan(300);
    // What fails deepest takes only its own frame with it.
    expect(calls[0]!.status).toBe('success');
  });
});

describe('a trace of a contract that reads much', () => {
  test('the slots that each instruction lists count towards the size of the answer', async () => {
    // Reads slot after slot: each SLOAD lists all slots that were read before.
    const code = '0x5f5b8054506001016001565b';
    const { ask } = await devNode({ maxAnswerBytes: 2_000_000 });
    const request = { from: user, to: at, gas: '0xf4240' };
    const trace = (more: object) =>
      ask('debug_traceCall', request, 'latest', { stateOverrides: { [at]: { code } }, ...more });
    await expect(trace({})).rejects.toMatchObject(TOO_LARGE);
    // The list of 10 instructions is short, however long the run is.
    const { structLogs } = (await trace({ limit: 10 })) as { structLogs: unknown[] };
    expect(structLogs).toHaveLength(10);
    expect(await trace({ tracer: 'noopTracer' })).toEqual({});
    const { calls, ...top } = (await trace({ tracer: 'callTracer' })) as { calls?: unknown; error: string };
    expect([calls, top.error]).toEqual([undefined, 'out of gas']);
  });

  test('that was ended shows nothing of it in the next one', async () => {
    const { ask } = await devNode({ gasBudget: 200_000 });
    const trace = (code: Hex) =>
      ask<{ structLogs: { op: string }[] }>('debug_traceCall', { from: user, to: at, gas: '0x493e0' }, 'latest', {
        stateOverrides: { [at]: { code } },
      });
    await expect(trace('0x5b5f56')).rejects.toMatchObject({ code: -32000 });
    expect((await trace('0x5f')).structLogs.map(({ op }) => op)).toEqual(['PUSH0', 'STOP']);
  });

  test('of its inner calls only those count that are shown', async () => {
    const { ask } = await devNode({ maxAnswerBytes: 200_000 });
    const shout = call('Hostile', 'shout(uint256,uint256)', 40n, 10_000n);
    const stateOverrides = { [at]: { code: compiled.Hostile!.runtimeCode } };
    const trace = (tracer: object) =>
      ask<{ type: string }>('debug_traceCall', shout, 'latest', { stateOverrides, ...tracer });
    await expect(trace({ tracer: 'callTracer' })).rejects.toMatchObject(TOO_LARGE);
    expect(await trace({ tracer: 'callTracer', tracerConfig: { onlyTopCall: true } })).toMatchObject({ type: 'CALL' });
  });
});
