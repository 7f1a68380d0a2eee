import { describe, expect, it } from 'vitest';
import { bytesToHex } from '../../src/primitives/hex.js';
import { parseBlockReference } from '../../src/rpc/parse-block-reference.js';
import { parseCallRequest } from '../../src/rpc/parse-call.js';
import {
  parseAddress,
  parseBoolean,
  parseBytes,
  parseHash,
  parseIndex,
  parseQuantity,
  parseStorageKey,
  parseStorageKeys,
} from '../../src/rpc/parse-params.js';
import { parseStateOverrides } from '../../src/rpc/parse-state-overrides.js';
import { RpcError, toRpcError } from '../../src/rpc/rpc-errors.js';

/** The -32602 message of what `parse` throws. */
function refusal(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    expect(error).toBeInstanceOf(RpcError);
    expect(toRpcError(error).code).toBe(-32602);
    return toRpcError(error).message;
  }
  throw new Error('was accepted');
}

const ADDRESS = '0x10000000000000000000000000000000000000Aa';
const WORD = `0x${'ab'.repeat(32)}`;
const ABSENT = [undefined, null];
const NO_TEXT = [1, 1n, true, {}, []];

describe('address and hash', () => {
  it('takes 20 and 32 bytes, of either case', () => {
    expect(bytesToHex(parseAddress(ADDRESS))).toBe(ADDRESS.toLowerCase());
    expect(parseHash(WORD, 'hash')).toEqual(new Uint8Array(32).fill(0xab));
  });

  it.each([
    '',
    '0x',
    '0x10',
    ADDRESS.slice(2),
    `${ADDRESS}00`,
    ADDRESS.slice(0, -1),
    `${ADDRESS.slice(0, -1)}g`,
    `0X${ADDRESS.slice(2)}`,
  ])('refuses %j', (text) => {
    expect(refusal(() => parseAddress(text))).toMatch(/^Invalid address params \(address: /);
  });

  it('says how many bytes came', () => {
    expect(refusal(() => parseAddress('0x20000000000000000000000000000000000000', 'to', 'call params'))).toBe(
      'Invalid call params (to: expected 20 bytes, got 19)',
    );
  });

  it.each([...ABSENT, ...NO_TEXT])('refuses %o', (value) => {
    const reason = value === undefined || value === null ? 'is missing' : 'is not a string';
    expect(refusal(() => parseAddress(value))).toBe(`Invalid address params (address: ${reason})`);
    expect(refusal(() => parseHash(value, 'hash'))).toBe(`Invalid params (hash: ${reason})`);
    expect(refusal(() => parseBytes(value, 'data'))).toBe(`Invalid params (data: ${reason})`);
    expect(refusal(() => parseQuantity(value, 'n'))).toBe(`Invalid params (n: ${reason})`);
    expect(refusal(() => parseStorageKey(value))).toBe(`Invalid position params (position: ${reason})`);
  });
});

describe('quantity', () => {
  it.each<[string, bigint]>([
    ['0x0', 0n],
    ['0x00', 0n],
    ['0xFf', 255n],
    [`0x${'f'.repeat(64)}`, 2n ** 256n - 1n],
  ])('%s', (text, value) => {
    expect(parseQuantity(text, 'n')).toBe(value);
  });

  it.each(['', '0x', '1', '-0x1', '0x-1', '0x1.0', ' 0x1', '0xg', `0x1${'0'.repeat(64)}`])('refuses %j', (text) => {
    expect(refusal(() => parseQuantity(text, 'n'))).toMatch(/^Invalid params \(n: /);
  });

  it('bounds an index by what a number holds', () => {
    expect(parseIndex('0x1fffffffffffff', 'index')).toBe(2 ** 53 - 1);
    expect(refusal(() => parseIndex('0x20000000000000', 'index'))).toBe('Invalid params (index: does not fit 53 bits)');
  });

  it('takes booleans for booleans only', () => {
    expect(parseBoolean(false, 'full')).toBe(false);
    for (const value of ['true', 1, {}])
      expect(refusal(() => parseBoolean(value, 'full'))).toContain('full: is not a boolean');
    expect(refusal(() => parseBoolean(undefined, 'full'))).toContain('full: is missing');
  });
});

describe('storage keys', () => {
  it.each([
    ['0x0', '00'],
    ['0x1', '01'],
    ['0xabc', '0abc'],
    ['0x0000abc', 'abc'],
    [WORD, 'ab'.repeat(32)],
  ])('pads %s', (text, digits) => {
    expect(bytesToHex(parseStorageKey(text))).toBe(`0x${digits.padStart(64, '0')}`);
  });

  // The first two are the requests of ethereum/execution-apis, tests/eth_getStorageAt.
  it.each([`0x${'0'.repeat(65)}`, '0xasdf', '0x', '', '1', '10', 'abc', `0x${'00'.repeat(33)}`])(
    'refuses %j',
    (text) => {
      expect(refusal(() => parseStorageKey(text))).toMatch(/^Invalid position params \(position: /);
    },
  );

  it('keeps order and duplicates', () => {
    const keys = parseStorageKeys(['0x2', '0x1', '0x2']);
    expect(keys.map((key) => key[31])).toEqual([2, 1, 2]);
    expect(keys.every((key) => key.length === 32)).toBe(true);
    expect(parseStorageKeys([])).toEqual([]);
  });

  it('names the key that is wrong', () => {
    expect(refusal(() => parseStorageKeys(['0x1', 7]))).toBe(
      'Invalid storage keys params (storageKeys[1]: is not a string)',
    );
  });

  it('takes 1024 keys and no more', () => {
    const keys = Array.from({ length: 1025 }, () => '0x1');
    expect(parseStorageKeys(keys.slice(1))).toHaveLength(1024);
    expect(refusal(() => parseStorageKeys(keys))).toBe(
      'Invalid storage keys params (storageKeys: has 1025 keys, at most 1024)',
    );
    expect(parseStorageKeys(keys, 'storageKeys', 2000)).toHaveLength(1025);
  });

  it.each(['0x1', {}, 1, ...ABSENT])('refuses %o for the list', (value) => {
    expect(refusal(() => parseStorageKeys(value))).toContain('(storageKeys: is ');
  });
});

describe('block reference', () => {
  it.each([
    ['latest', { tag: 'latest' }],
    ['pending', { tag: 'pending' }],
    ['earliest', { tag: 'earliest' }],
    ['safe', { tag: 'safe' }],
    ['finalized', { tag: 'finalized' }],
    ['0x0', { number: 0 }],
    ['0x1b4', { number: 436 }],
    [WORD, { hash: new Uint8Array(32).fill(0xab) }],
    [{ blockNumber: '0x1b4' }, { number: 436 }],
    [{ blockHash: WORD }, { hash: new Uint8Array(32).fill(0xab) }],
    [
      { blockHash: WORD, requireCanonical: true },
      { hash: new Uint8Array(32).fill(0xab), requireCanonical: true },
    ],
  ])('%j', (value, reference) => {
    expect(parseBlockReference(value)).toEqual(reference);
  });

  it.each([
    'Latest',
    'newest',
    '',
    '0x',
    '12',
    '0xzz',
    '0x20000000000000',
    `${WORD}00`,
    12,
    true,
    [],
    {},
    { blockNumber: '0x1', blockHash: WORD },
    { blockNumber: 'latest' },
    { blockHash: '0x12' },
    { blockHash: WORD, requireCanonical: 'yes' },
  ])('refuses %j', (value) => {
    expect(refusal(() => parseBlockReference(value))).toMatch(/^Invalid block param \(block/);
  });

  it('falls back only where there is something to fall back to', () => {
    for (const value of ABSENT) {
      expect(parseBlockReference(value, { tag: 'latest' })).toEqual({ tag: 'latest' });
      expect(refusal(() => parseBlockReference(value))).toBe('Invalid block param (block: is missing)');
    }
    expect(parseBlockReference('0x1', { tag: 'latest' })).toEqual({ number: 1 });
  });
});

describe('call', () => {
  const full = {
    from: ADDRESS,
    to: ADDRESS,
    gas: '0xea60',
    maxFeePerGas: '0x1a21398',
    maxPriorityFeePerGas: '0xb',
    value: '0x17',
    input: '0x333435',
    nonce: '0x1',
    chainId: '0xe708',
    strict: false,
    type: '0x2',
    accessList: [{ address: ADDRESS, storageKeys: [WORD] }],
    authorizationList: [{ chainId: '0x1', address: ADDRESS, nonce: '0x0', yParity: '0x1', r: WORD, s: '0x1' }],
  };
  const address = Uint8Array.from([0x10, ...Array.from({ length: 18 }, () => 0), 0xaa]);

  it('reads every member, and leaves out what is absent', () => {
    expect(parseCallRequest(full)).toEqual({
      from: address,
      to: address,
      gas: 60_000n,
      maxFeePerGas: 27_399_064n,
      maxPriorityFeePerGas: 11n,
      value: 23n,
      data: Uint8Array.of(0x33, 0x34, 0x35),
      nonce: 1n,
      chainId: 59_144n,
      strict: false,
      accessList: [{ address, storageKeys: [new Uint8Array(32).fill(0xab)] }],
      authorizationList: [{ chainId: 1n, address, nonce: 0n, yParity: 1n, r: BigInt(WORD), s: 1n }],
    });
    expect(Object.keys(parseCallRequest({ to: null, data: undefined }))).toEqual([]);
  });

  it('takes data and input when they agree', () => {
    expect(parseCallRequest({ data: '0x01', input: '0x01' })).toEqual({ data: Uint8Array.of(1) });
    expect(refusal(() => parseCallRequest({ data: '0x01', input: '0x02' }))).toBe(
      'Invalid call params (data: differs from input)',
    );
  });

  it.each(['maxFeePerGas', 'maxPriorityFeePerGas', 'maxFeePerBlobGas'])('refuses gasPrice with %s', (member) => {
    expect(refusal(() => parseCallRequest({ gasPrice: '0x1', [member]: '0x1' }))).toBe(
      `Invalid params (gasPrice: stands together with ${member})`,
    );
  });

  it.each([
    [undefined, 'call: is missing'],
    ['0x00', 'call: is not an object'],
    [[], 'call: is not an object'],
    [{ to: '0x20000000000000000000000000000000000000' }, 'to: expected 20 bytes, got 19'],
    [{ from: 1 }, 'from: is not a string'],
    [{ gas: '0x10000000000000000' }, 'gas: does not fit 64 bits'],
    [{ nonce: '0x10000000000000000' }, 'nonce: does not fit 64 bits'],
    [{ value: `0x1${'0'.repeat(64)}` }, 'value: does not fit 256 bits'],
    [{ data: '0x1' }, 'data: has an odd number of digits'],
    [{ strict: 'no' }, 'strict: is not a boolean'],
    [{ accessList: {} }, 'accessList: is not an array'],
    [{ accessList: [{}] }, 'accessList[0].address: is missing'],
    [
      { accessList: [{ address: ADDRESS, storageKeys: [WORD, '0x1'] }] },
      'accessList[0].storageKeys[1]: has an odd number of digits',
    ],
    [{ authorizationList: [{ chainId: '0x1' }] }, 'authorizationList[0].address: is missing'],
  ])('refuses %j', (value, detail) => {
    for (const lenient of [false, true]) {
      expect(refusal(() => parseCallRequest(value, { lenient }))).toBe(`Invalid call params (${detail})`);
    }
  });

  // spec/fees.md 6: what the acceptance tests of the sequencer send.
  const leniencies: [Record<string, string>, object][] = [
    [{ gas: '2147483647' }, { gas: 2_147_483_647n }],
    [
      { gas: '0', value: '10' },
      { gas: 0n, value: 10n },
    ],
    [{ value: '' }, { value: 0n }],
    [{ data: '' }, { data: new Uint8Array() }],
    [{ data: 'c0de' }, { data: Uint8Array.of(0xc0, 0xde) }],
    [{ input: 'c0de', data: '0xC0DE' }, { data: Uint8Array.of(0xc0, 0xde) }],
  ];
  it.each(leniencies)('reads %j when lenient, refuses it when strict', (value, call) => {
    expect(parseCallRequest(value, { lenient: true })).toEqual(call);
    expect(refusal(() => parseCallRequest(value))).toMatch(/^Invalid call params \(/);
  });

  it.each<Record<string, unknown>>([
    { gas: '' },
    { gas: 21000 },
    { value: '-1' },
    { value: '1e3' },
    { value: '1'.repeat(79) },
    { value: (2n ** 256n).toString() },
    { gas: (2n ** 64n).toString() },
    { data: 'c0d' },
    { data: 'hello!' },
    { data: '0X12' },
  ])('refuses %j even when lenient', (value) => {
    const [member] = Object.keys(value);
    expect(refusal(() => parseCallRequest(value, { lenient: true }))).toContain(`Invalid call params (${member}: `);
  });
});

describe('state overrides', () => {
  const slot = new Uint8Array(32).fill(0xab);

  it('is empty where there is none', () => {
    for (const value of [...ABSENT, {}]) expect(parseStateOverrides(value)).toEqual([]);
  });

  it('reads every member, and leaves out what is absent', () => {
    const entry = {
      balance: '0x1',
      nonce: '0x2',
      code: '0x6000',
      state: { [WORD]: WORD },
      stateDiff: {},
      movePrecompileToAddress: ADDRESS,
      unknown: 1,
    };
    const address = parseAddress(ADDRESS);
    expect(parseStateOverrides({ [ADDRESS]: entry })).toEqual([
      {
        address,
        balance: 1n,
        nonce: 2n,
        code: Uint8Array.of(0x60, 0),
        state: [[slot, slot]],
        stateDiff: [],
        movePrecompileTo: address,
      },
    ]);
    expect(parseStateOverrides({ [ADDRESS]: { balance: null, code: '0x' } })).toEqual([
      { address, code: new Uint8Array() },
    ]);
  });

  it.each([
    ['latest', 'stateOverride: is not an object'],
    [[], 'stateOverride: is not an object'],
    [{ '0x12': {} }, 'stateOverride.0x12: expected 20 bytes, got 1'],
    [{ __proto: {} }, 'stateOverride.__proto: does not start with 0x'],
    [{ [ADDRESS]: 1 }, `stateOverride.${ADDRESS}: is not an object`],
    [{ [ADDRESS]: null }, `stateOverride.${ADDRESS}: is missing`],
    [{ [ADDRESS]: { balance: 1 } }, `stateOverride.${ADDRESS}.balance: is not a string`],
    [{ [ADDRESS]: { balance: '1' } }, `stateOverride.${ADDRESS}.balance: is not 0x and hex digits`],
    [{ [ADDRESS]: { nonce: '0x10000000000000000' } }, `stateOverride.${ADDRESS}.nonce: does not fit 64 bits`],
    [{ [ADDRESS]: { code: 'c0de' } }, `stateOverride.${ADDRESS}.code: does not start with 0x`],
    [{ [ADDRESS]: { state: [] } }, `stateOverride.${ADDRESS}.state: is not an object`],
    [
      { [ADDRESS]: { stateDiff: { '0x01': WORD } } },
      `stateOverride.${ADDRESS}.stateDiff.0x01: expected 32 bytes, got 1`,
    ],
    [
      { [ADDRESS]: { stateDiff: { [WORD]: '0x01' } } },
      `stateOverride.${ADDRESS}.stateDiff.${WORD}: expected 32 bytes, got 1`,
    ],
    [
      { [ADDRESS]: { movePrecompileToAddress: '0x1' } },
      `stateOverride.${ADDRESS}.movePrecompileToAddress: has an odd number of digits`,
    ],
    [{ [ADDRESS]: {}, [ADDRESS.toLowerCase()]: {} }, `stateOverride.${ADDRESS.toLowerCase()}: is there twice`],
    [
      { [ADDRESS]: { state: { [WORD]: WORD, [`0x${'AB'.repeat(32)}`]: WORD } } },
      `stateOverride.${ADDRESS}.state.0x${'AB'.repeat(32)}: is there twice`,
    ],
  ])('refuses %j', (value, detail) => {
    expect(refusal(() => parseStateOverrides(value))).toBe(`Invalid state override params (${detail})`);
  });

  it('does not repeat a key of any length', () => {
    expect(refusal(() => parseStateOverrides({ ['x'.repeat(100_000)]: {} })).length).toBeLessThan(200);
  });
});
