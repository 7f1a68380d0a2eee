import { describe, expect, it } from 'vitest';
import { type ErrorCode, type ErrorDetails, PlumblineError, type TransactionRule } from '../../src/errors.js';
import { RpcError, toRpcError, wireError } from '../../src/rpc/rpc-errors.js';

// Codes and messages of docs/spec/json-rpc.md 2.3, 3 and 4.1, docs/spec/fees.md 6 and 7, docs/decisions.md 6, 8, 9 and 11;
// `Invalid transaction type` and `Wrong chainId` of Besu's list of error types.

const SENDER = '0x1000000000000000000000000000000000000001';

function of<C extends ErrorCode>(code: C, details: ErrorDetails[C]) {
  const { reason, details: told, ...error } = toRpcError(new PlumblineError(code, 'text of the library', details));
  if (reason !== code || told !== details) throw new Error(`${code} became ${reason}`);
  return error;
}

const rejected = (rule: TransactionRule, reason: string) => of('TRANSACTION_REJECTED', { rule, reason });

describe('errors of plumbline as JSON-RPC', () => {
  it('gives a revert its data, always', () => {
    expect(of('EXECUTION_REVERTED', { data: new Uint8Array() })).toEqual({
      code: 3,
      message: 'Execution reverted',
      data: '0x',
    });
    expect(of('EXECUTION_REVERTED', { data: Uint8Array.of(8, 0xc3), reason: 'no' })).toEqual({
      code: 3,
      message: 'Execution reverted (no)',
      data: '0x08c3',
    });
  });

  it('words funds as the reference does', () => {
    // spec fixture fees/linea-estimate-gas-errors.json, "the override takes it away"
    expect(of('INSUFFICIENT_FUNDS', { sender: SENDER, required: 0x5d539a1n, balance: 0n })).toEqual({
      code: -32000,
      message: `transaction up-front cost 0x5d539a1 exceeds transaction sender account balance 0x0 for sender ${SENDER}`,
    });
    const sent = { sender: SENDER, required: 2n, balance: 1n, sent: true } as const;
    expect(of('INSUFFICIENT_FUNDS', sent)).toMatchObject({ code: -32004, message: expect.stringContaining('0x2') });
    const upfront = { code: -32004, message: 'Upfront cost exceeds account balance' };
    expect(of('UPFRONT_COST_EXCEEDS_BALANCE', { sender: SENDER })).toEqual(upfront);
  });

  it.each([
    [of('BLOCK_NOT_PROVABLE', { block: '0x1' }), -32600, 'BLOCK_MISSING_IN_CHAIN - block is missing'],
    [of('BLOCK_NOT_FOUND', { block: '0x1' }), -39001, 'Unknown block'],
    [of('STATE_NOT_HELD', { block: 1 }), -32000, 'World state unavailable'],
    [
      of('PREVIEW_TOO_LARGE', { limit: 8192 }),
      -32005,
      'The calls change or claim too much for a preview (more than 8192 questions to contracts)',
    ],
    [of('FILTER_NOT_FOUND', { id: '0x1' }), -32000, 'Filter not found'],
    [of('ANSWER_TOO_LARGE', { limit: 1000 }), -32003, 'Response too large (more than 1000 bytes)'],
    [of('FILTER_LIMIT', { limit: 1000 }), -32005, 'Number of filters exceeds 1000'],
    [of('METHOD_NOT_FOUND', { method: 'x' }), -32601, 'Method not found (x)'],
    [of('METHOD_NOT_ENABLED', { method: 'x' }), -32604, 'Method not enabled (x)'],
    [of('METHOD_NOT_ENABLED', { method: 'x', reason: 'x: no' }), -32604, 'Method not enabled (x: no)'],
    [of('WALLET_REFUSED', { rule: 'unauthorized', reason: 'no' }), 4100, 'no'],
    [of('WALLET_REFUSED', { rule: 'unsupported', reason: 'no' }), 4200, 'no'],
    [of('WALLET_REFUSED', { rule: 'unknown-chain', reason: 'no' }), 4902, 'no'],
    [of('WALLET_REFUSED', { rule: 'unsupported-capability', reason: 'no' }), 5700, 'no'],
    [of('WALLET_REFUSED', { rule: 'unsupported-chain', reason: 'no' }), 5710, 'no'],
    [of('WALLET_REFUSED', { rule: 'duplicate-batch', reason: 'no' }), 5720, 'no'],
    [of('WALLET_REFUSED', { rule: 'unknown-batch', reason: 'no' }), 5730, 'no'],
    [of('WALLET_REFUSED', { rule: 'batch-too-large', reason: 'no' }), 5740, 'no'],
    [of('WALLET_REFUSED', { rule: 'atomicity', reason: 'no' }), 5760, 'no'],
    [of('REQUEST_TIMED_OUT', { timeoutMs: 1 }), -32603, 'Timeout expired'],
    [
      of('CALLDATA_TOO_LARGE', { length: 60_001, limit: 60_000 }),
      -32000,
      'Calldata of transaction is greater than the allowed max of 60000',
    ],
    [
      of('EXECUTION_FAILED', { reason: 'Invalid opcode: 0xc8' }),
      -32000,
      'Transaction processing could not be completed due to an exception (Invalid opcode: 0xc8)',
    ],
    [of('GAS_ALLOWANCE_EXCEEDED', { allowance: 21_000n }), -32000, 'gas required exceeds allowance (21000)'],
    [of('GAS_BUDGET_EXCEEDED', { budget: 500 }), -32000, 'execution stopped: its runs have used more than 500 gas'],
    [
      of('GAS_BUDGET_EXCEEDED', { budget: 500, retryAfterMs: 1_001 }),
      -32005,
      'execution stopped: its runs have used more than 500 gas within a minute, with others of the connection; try again in 2 s',
    ],
    [of('INVALID_PARAMETER', { parameter: 'gas', reason: 'is above it' }), -32602, 'Invalid params (gas: is above it)'],
    [
      of('FORK_UNSUPPORTED', { network: 'mainnet', fork: 'gloas', epoch: 500_000 }),
      -32603,
      'Internal error (this release does not read the fork gloas of layer 1)',
    ],
    [
      of('LAYER_ONE_CONTRADICTS', { reason: 'EQUIVOCATION', slot: 7 }),
      -32603,
      'Internal error (layer 1 contradicts itself at slot 7)',
    ],
  ])('%j', (error, code, message) => {
    expect(error).toEqual({ code, message });
  });

  it.each<[TransactionRule, number, string]>([
    ['nonce-too-low', -32001, 'Nonce too low'],
    ['nonce-too-high', -32006, 'Nonce too high'],
    ['signature', -32002, 'Invalid signature'],
    ['intrinsic-gas', -32003, 'Intrinsic gas exceeds gas limit'],
    ['funds', -32004, 'Upfront cost exceeds account balance'],
    ['block-gas-limit', -32005, 'Transaction gas limit exceeds block gas limit'],
    ['gas-price', -32009, 'Gas price below configured minimum gas price'],
    ['type', -32602, 'Invalid transaction type'],
    ['chain-id', -32000, 'Wrong chainId'],
  ])('a transaction refused for %s: %i', (rule, code, message) => {
    expect(rejected(rule, 'because')).toEqual({ code, message, data: 'because' });
    expect(rejected(rule, '')).toEqual({ code, message });
  });

  it.each<[TransactionRule, string]>([
    ['gas-limit', 'Gas limit of transaction is greater than the allowed max of 24000000'],
    ['calldata-size', 'Calldata of transaction is greater than the allowed max of 60000'],
    ['init-code', 'init code of 49153 bytes is above the limit of 49152 (EIP-3860)'],
    ['recipient', 'destination address is a precompile address and cannot receive transactions'],
  ])('a transaction refused for %s says why', (rule, reason) => {
    expect(rejected(rule, reason)).toEqual({ code: -32000, message: reason });
  });

  it('names what is wrong with a malformed transaction', () => {
    expect(rejected('malformed', 'odd length')).toEqual({
      code: -32602,
      message: 'Invalid transaction params (odd length)',
    });
  });

  it('says no more of internal failures than what failed', () => {
    const origin = 'https://example.invalid/v3/key';
    const reason = origin;
    for (const thrown of [
      new PlumblineError('STORE_UNAVAILABLE', origin, { reason }),
      new PlumblineError('STORE_CORRUPT', origin, { table: 'headers', reason }),
      new PlumblineError('WORKER_FAILED', origin, { reason }),
      new PlumblineError('KERNEL_UNAVAILABLE', origin, { kernel: 'hash', reason }),
      new PlumblineError('INTERNAL', origin, { reason }),
      new Error(origin),
      origin,
      undefined,
    ]) {
      const error = wireError(toRpcError(thrown));
      expect(error.code).toBe(-32603);
      expect(error.message).toMatch(/^Internal error/);
      expect(error.data).toMatchObject({ reason: thrown instanceof PlumblineError ? thrown.code : 'INTERNAL' });
      expect(JSON.stringify(error)).not.toContain('example');
    }
  });

  it('passes an error that is JSON-RPC already as it is', () => {
    const own = { code: -32005, message: 'too many', reason: 'FILTER_LIMIT', details: { limit: 1 } } as const;
    expect(toRpcError(new RpcError(own))).toEqual(own);
    expect(toRpcError(new RpcError({ ...own, data: null }))).toEqual({ ...own, data: null });
  });
});
