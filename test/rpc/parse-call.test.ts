import { describe, expect, it } from 'vitest';
import { parseCallRequest } from '../../src/rpc/parse-call.js';
import { ADDRESS, refusal, WORD } from '../support/parse-refusal.js';

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
      `Invalid params (gasPrice: cannot be combined with ${member})`,
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

  // docs/spec/fees.md 6: what the acceptance tests of the sequencer send.
  const leniencies: [Record<string, string>, object][] = [
    [{ gas: '2147483647' }, { gas: 2_147_483_647n }],
    [
      { gas: '0', value: '10' },
      { gas: 0n, value: 10n },
    ],
    [{ value: '' }, { value: 0n }],
    [{ data: 'c0de' }, { data: Uint8Array.of(0xc0, 0xde) }],
    [{ input: 'c0de', data: '0xC0DE' }, { data: Uint8Array.of(0xc0, 0xde) }],
  ];
  it('reads empty data, as geth does', () => {
    for (const value of [{ data: '' }, { input: '' }, { data: '', input: '0x' }])
      for (const lenient of [false, true])
        expect(parseCallRequest(value, { lenient })).toEqual({ data: new Uint8Array() });
  });

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
