import { describe, expect, it } from 'vitest';
import { parseStateOverrides } from '../../src/rpc/parse-overrides.js';
import { parseAddress } from '../../src/rpc/parse-params.js';
import { ABSENT, ADDRESS, refusal, WORD } from '../support/parse-refusal.js';

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
    expect(parseStateOverrides({ [ADDRESS]: null })).toEqual(parseStateOverrides({ [ADDRESS]: {} }));
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
    [{ [ADDRESS]: {}, [ADDRESS.toLowerCase()]: {} }, `stateOverride.${ADDRESS.toLowerCase()}: is given twice`],
    [
      { [ADDRESS]: { state: { [WORD]: WORD, [`0x${'AB'.repeat(32)}`]: WORD } } },
      `stateOverride.${ADDRESS}.state.0x${'AB'.repeat(32)}: is given twice`,
    ],
  ])('refuses %j', (value, detail) => {
    expect(refusal(() => parseStateOverrides(value))).toBe(`Invalid state override params (${detail})`);
  });

  it('does not repeat a key of any length', () => {
    expect(refusal(() => parseStateOverrides({ ['x'.repeat(100_000)]: {} })).length).toBeLessThan(200);
  });
});
