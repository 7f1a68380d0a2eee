import { describe, expect, test } from 'vitest';
import { openMaterial } from '../../conformance/area.js';
import { inclusionArea } from '../../conformance/inclusion.js';
import { runArea } from '../support/area-checks.js';
import { failing } from '../support/diagnoses.js';
import { OWN_FIXTURES } from '../support/fixtures.js';
import {
  askThen,
  BLOCK_PRICE,
  CALL,
  hasRecorded,
  POOL_PRICE,
  price,
  quantity,
  USED_PRICE,
} from '../support/recorded-moment.js';

test('decisions on prices', async () => {
  const own = openMaterial([OWN_FIXTURES], 'simd');
  const { cases } = own.json<{ cases: unknown[] }>('fees/profitability.json');
  const { passed, problems } = await runArea(inclusionArea);
  expect(problems).toEqual([]);
  expect(passed).toBeGreaterThanOrEqual(cases.length);
});

describe.skipIf(!hasRecorded)('recorded transactions', () => {
  test('every one will be included, at the moment before its block', async () => {
    const { passed, problems } = await runArea(inclusionArea);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(100);
  });

  test('one of them as a call: what it found and needed', async () => {
    const { verdict, checks, origin, nextStep, ...rest } = await askThen(CALL);
    expect({ verdict, origin }).toEqual({ verdict: 'will-be-included', origin: 'call' });
    expect(rest).toMatchObject({ filled: {}, block: 28_279_206, trust: 'plain', from: CALL.from, nonce: '0x705' });
    expect(nextStep).toMatch(/^Sign it/);
    const found = Object.fromEntries(
      checks.map(({ check, found, needed }) => [check, [Number(found), Number(needed)]]),
    );
    expect(found).toMatchObject({
      'chain-id': [59_144, 59_144],
      'gas-limit': [48_784, 24_000_000],
      'gas-cap': [48_784, 16_777_216],
      calldata: [CALL.data.length / 2 - 1, 60_000],
      'pool-price': [0x26d61b2, POOL_PRICE],
      'block-price': [0x26d61b2, BLOCK_PRICE],
      'used-price': [0x26d61b2, USED_PRICE],
      'nonce-used': [0x705, 0x705],
      'nonce-gap': [0x705, 0x705],
      'base-fee': [0x26d61b2, 7],
      funds: [0x3e1b201a0b768, 48_784 * 0x26d61b2],
    });
    const unknown = checks.filter(({ outcome }) => outcome === 'unknown');
    expect(unknown.map(({ check, reason }) => [check, typeof reason])).toEqual([
      ['denied', 'string'],
      ['replacement', 'string'],
      ['uncounted-lines', 'string'],
    ]);
  });

  test('what a call leaves out is filled in as the network’s endpoint answered then', async () => {
    const { from, to, data } = CALL;
    const answer = await askThen({ from, to, data });
    expect(answer.verdict).toBe('will-be-included');
    // fees/end-to-end.json: gas limit 0xbe90, priority fee 0x2615ee3 with the present form of sizing.
    expect(answer.filled).toEqual({
      nonce: '0x705',
      gas: '0xbe90',
      maxFeePerGas: quantity(0x2615ee3 + 7),
      maxPriorityFeePerGas: '0x2615ee3',
    });
  });

  test.each<[string, object, string, string[], RegExp]>([
    [
      'one wei less than the pool takes',
      price(POOL_PRICE - 1),
      'will-be-refused',
      ['pool-price', 'block-price', 'used-price'],
      new RegExp(
        `^Raise maxFeePerGas to at least ${POOL_PRICE} wei and maxPriorityFeePerGas to at least ${POOL_PRICE - 7} wei,`,
      ),
    ],
    [
      'what the pool takes, and no block',
      price(POOL_PRICE),
      'will-wait',
      ['block-price', 'used-price'],
      /^It waits in the pool until prices fall/,
    ],
    ['one wei less than a block takes', price(BLOCK_PRICE - 1), 'will-wait', ['block-price', 'used-price'], /waits/],
    [
      'enough for its gas limit, not for its gas',
      price(USED_PRICE - 1),
      'will-wait',
      ['used-price'],
      new RegExp(`maxFeePerGas to at least ${USED_PRICE} wei`),
    ],
    ['just enough', price(USED_PRICE), 'will-be-included', [], /^Sign it/],
    [
      'a high maximum with a low priority fee',
      { maxFeePerGas: '0x3b9aca00', maxPriorityFeePerGas: quantity(1000) },
      'will-be-refused',
      ['pool-price', 'block-price', 'used-price'],
      new RegExp(`^Raise maxPriorityFeePerGas to at least ${POOL_PRICE - 7} wei, sign`),
    ],
    [
      'a priority fee above the maximum',
      { maxPriorityFeePerGas: '0x26d61b3' },
      'will-be-refused',
      ['priority-fee'],
      /maxFeePerGas/,
    ],
    [
      'a price below the base fee',
      { maxFeePerGas: '0x6', maxPriorityFeePerGas: '0x0' },
      'will-be-refused',
      ['pool-price', 'base-fee', 'block-price', 'used-price'],
      /^Raise/,
    ],
    ['a nonce that is used', { nonce: '0x704' }, 'will-be-refused', ['nonce-used'], /^Use nonce 1797/],
    [
      'a nonce above the next',
      { nonce: '0x706' },
      'will-wait',
      ['nonce-gap'],
      /^Send the transaction with nonce 1797 first/,
    ],
    ['a nonce 201 above', { nonce: quantity(0x705 + 201) }, 'will-be-refused', ['nonce-distance'], /1997 is the most/],
    [
      'more than the sender has',
      { value: '0x3e1b201a0b768' },
      'will-be-refused',
      // The contract takes no ether.
      ['funds', 'execution'],
      new RegExp(`^Give the sender ${48_784 * 0x26d61b2} wei more`),
    ],
    [
      'gas above the limit of the pool',
      { gas: quantity(24_000_001) },
      'will-be-refused',
      ['gas-limit', 'gas-cap'],
      /24000000 or less; it is 24000001/,
    ],
    ['gas above the cap of Osaka', { gas: quantity(16_777_217) }, 'will-be-refused', ['gas-cap'], /EIP-7825/],
    ['gas below what its data costs', { gas: '0x5208' }, 'will-be-refused', ['gas-minimum'], /^Raise the gas limit/],
    [
      'calldata above the limit',
      { data: `0x${'00'.repeat(60_001)}`, gas: quantity(16_000_000), ...price(10 ** 9) },
      'will-be-refused',
      ['calldata', 'funds', 'execution'],
      /60001 bytes is above the limit of 60000/,
    ],
    [
      'a precompile as recipient',
      { to: `0x${'04'.padStart(40, '0')}` },
      'will-be-refused',
      ['recipient'],
      /another recipient/,
    ],
    ['blobs', { maxFeePerBlobGas: '0x1' }, 'will-be-refused', ['type'], /another type/],
    ['another chain', { chainId: '0x1' }, 'will-be-refused', ['chain-id'], /^Sign the transaction for chain 59144/],
  ])('with one change: %s', async (_name, change, verdict, checks, step) => {
    const answer = await askThen({ ...CALL, ...change });
    expect([answer.verdict, failing(answer)]).toEqual([verdict, checks]);
    expect(answer.nextStep).toMatch(step);
  });
});
