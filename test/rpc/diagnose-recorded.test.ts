import { RLP } from '@ethereumjs/rlp';
import { describe, expect, test } from 'vitest';
import { openMaterial } from '../../conformance/area.js';
import { inclusionArea, visitRecorded } from '../../conformance/inclusion.js';
import type { RecordedBlock } from '../../conformance/recorded-block.js';
import type { Chain } from '../../src/chain/chain.js';
import type { DiagnosisParts } from '../../src/diagnosis/conditions.js';
import type { TransactionDiagnosis } from '../../src/diagnosis/diagnosis.js';
import { generalDictionary } from '../../src/dictionary/dictionary.js';
import { PlumblineError } from '../../src/errors.js';
import { Estimator } from '../../src/estimate/estimator.js';
import { parseSignedTransaction } from '../../src/ethereum/transaction.js';
import type { StateReader } from '../../src/evm/state/state-reader.js';
import { loadCalldataSizer } from '../../src/kernel/calldata-sizer.js';
import { lineaSepolia } from '../../src/networks/linea.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import type { RpcContext } from '../../src/rpc/methods/context.js';
import { diagnoseTransaction } from '../../src/rpc/methods/diagnoseTransaction.js';
import { runArea } from '../support/area-checks.js';
import { FIXTURE_DIRECTORIES, hasFixture, OWN_FIXTURES } from '../support/fixtures.js';

const BLOCK = 'blocks/linea-mainnet-28279206.json';
const hasRecorded = hasFixture(BLOCK) && hasFixture('compression/dict/25-04-21.bin');

/** The answer of the method on a chain, without a node around it. */
const ask = (parts: DiagnosisParts, transaction: unknown) =>
  diagnoseTransaction(parts as unknown as RpcContext, [transaction], {}) as Promise<TransactionDiagnosis>;

/** What is asked at the moment before the third transaction of the block, as a light node sees it. */
async function inMoment<T>(use: (parts: DiagnosisParts, raw: Hex) => Promise<T>): Promise<T> {
  const material = openMaterial(FIXTURE_DIRECTORIES, 'simd');
  const answers: T[] = [];
  await visitRecorded(material, material.json<RecordedBlock>(BLOCK), async ({ index, transaction, parts }) => {
    if (index === 2) answers.push(await use(parts, transaction.raw));
  });
  return answers[0]!;
}
const askThen = (transaction: unknown) => inMoment((parts) => ask(parts, transaction));

/** Its fields, as recorded. */
const CALL = {
  from: '0x8b5cfb62d2cf8726c6ad330bfd17911bcf22082a',
  to: '0xa6175051f9d1350597bd82721b6cd6424ce40681',
  nonce: '0x705',
  gas: '0xbe90',
  maxFeePerGas: '0x26d61b2',
  maxPriorityFeePerGas: '0x26d61ab',
  data: `0x304c44d1${'20'.padStart(64, '0')}${'41'.padStart(64, '0')}c3f0cb7e171bd3487114bbd658e450d266ff5b4654cd08ab2ff508cd9203a4800a1d88dd82df6994bde77ea89c08588ff3d5e2f5746fffde7fcda1fa1dbdfd6c1b${'0'.repeat(62)}`,
};
const quantity = (value: number): Hex => `0x${value.toString(16)}`;
const price = (wei: number) => ({ maxFeePerGas: quantity(wei), maxPriorityFeePerGas: quantity(wei - 7) });
const failing = ({ checks }: TransactionDiagnosis) =>
  checks.filter(({ outcome }) => outcome === 'fails').map(({ check }) => check);

/*
 * By docs/spec/fees.md 2 and 2.1: 10^9 wei per byte, 3 * 10^7 wei per gas, 160 bytes, gas limit 48784, gas used 48397 (recorded), base
 * fee 7. 160e9 / 48784 = 3279763, and 160e9 / 48397 = 3305990.
 */
const POOL_PRICE = 7 + Math.trunc(0.8 * 33_279_763);
const BLOCK_PRICE = 7 + 33_279_763;
const USED_PRICE = 7 + 33_305_990;

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

  /** The recorded bytes with other values in place of some of the last three: parity, r, s. */
  const signedOtherwise = (raw: Hex, change: (signature: bigint[]) => bigint[]): Hex => {
    const items = RLP.decode(hexToBytes(raw).subarray(1)) as Uint8Array[];
    const signature = items.slice(-3).map((item) => BigInt(`0x0${bytesToHex(item).slice(2)}`));
    const minimal = (value: bigint) => (value === 0n ? '0x' : value);
    return bytesToHex(
      concatBytes(Uint8Array.of(2), RLP.encode([...items.slice(0, -3), ...change(signature).map(minimal)])),
    );
  };
  /** Order of secp256k1 (SEC 2). */
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

  test.each<[string, (raw: Hex) => Hex, string]>([
    [
      'the other s of its signature',
      (raw) => signedOtherwise(raw, ([v, r, s]) => [1n - v!, r!, ORDER - s!]),
      'signature',
    ],
    ['r that is zero', (raw) => signedOtherwise(raw, ([v, , s]) => [v!, 0n, s!]), 'signature'],
    ['its last byte cut off', (raw) => raw.slice(0, -2) as Hex, 'encoding'],
    ['an unknown type', (raw) => `0x05${raw.slice(4)}`, 'encoding'],
  ])('the bytes with %s', async (_, change, check) => {
    const answer = await inMoment((parts, raw) => ask(parts, change(raw)));
    expect(answer).toMatchObject({ verdict: 'will-be-refused', origin: 'raw', block: null });
    expect(failing(answer)).toEqual([check]);
    expect(answer.nextStep).toContain('again: ');
  });

  test('a signature by another key is that of another sender, who has neither nonce nor balance', async () => {
    const answer = await inMoment((parts, raw) =>
      ask(
        parts,
        signedOtherwise(raw, ([v, r, s]) => [1n - v!, r!, s!]),
      ),
    );
    expect(answer.from).not.toBe(CALL.from);
    expect(answer.verdict).toBe('will-be-refused');
    expect(failing(answer)).toEqual(expect.arrayContaining(['nonce-distance', 'funds']));
  });

  test('on another network, its chain is wrong', async () => {
    const answer = await inMoment(({ chain, estimator }, raw) => {
      const network = { ...chain.network, chainId: lineaSepolia.chainId };
      const other = { ...chain, network };
      return ask({ chain: other, estimator: estimator.on(other) }, raw);
    });
    // The contract compares a signature that names the chain.
    expect(failing(answer)).toEqual(['chain-id', 'execution']);
    expect(answer.nextStep).toBe('Sign the transaction for chain 59141; it is signed for chain 59144.');
  });

  const onChain = (change: Partial<Chain>, transaction?: unknown) =>
    inMoment(({ chain, estimator }, raw) => {
      const other = { ...chain, ...change };
      return ask({ chain: other, estimator: estimator.on(other) }, transaction ?? raw);
    });

  test('what an endpoint says of it counts last, and is marked', async () => {
    const reason = 'Transaction line count for module HUB=2097153 is above the limit 2097152';
    const exclusion: Chain['exclusion'] = async (hash) => ({
      transaction: { hash, from: hexToBytes(CALL.from, 20), nonce: 0x705n },
      stage: 'SEQUENCER',
      reason,
      blockNumber: 28_279_206,
      timestamp: 1_769_305_400,
    });
    const answer = await onChain({ exclusion });
    expect(answer.verdict).toBe('will-be-refused');
    const check = answer.checks.find(({ outcome }) => outcome === 'fails');
    expect(check).toMatchObject({
      check: 'exclusion',
      basis: 'endpoint',
      reason: `an endpoint says: SEQUENCER for block 28279206: ${reason}`,
    });
    expect(answer.nextStep).toContain(reason);
    const dearer = { fixedCostWei: 10n ** 9n, variableCostWei: 10n ** 9n, minGasPriceWei: 0n };
    const both = await onChain({ exclusion, prices: async () => ({ prices: dearer, sourceBlock: 1 }) });
    expect(failing(both)).toEqual(['pool-price', 'exclusion', 'block-price', 'used-price']);
    expect(both.nextStep).toMatch(/^Raise maxFeePerGas/);
  });

  test('what cannot be read is unknown, and what needs no state is checked nevertheless', async () => {
    const message = 'no endpoint answered';
    const stateAt: Chain['stateAt'] = () =>
      Promise.reject(new PlumblineError('UPSTREAM_UNAVAILABLE', message, { endpoints: [] }));
    const answer = await onChain({ stateAt });
    expect(answer).toMatchObject({ verdict: 'cannot-tell', block: null, trust: null });
    const outcomes = Object.fromEntries(
      answer.checks.map(({ check, outcome, reason }) => [check, reason === message || outcome]),
    );
    expect(outcomes).toMatchObject({
      encoding: 'ok',
      signature: 'ok',
      'chain-id': 'ok',
      calldata: 'ok',
      'gas-limit': 'ok',
    });
    expect(outcomes).toMatchObject({
      funds: true,
      'nonce-used': true,
      'pool-price': true,
      execution: true,
      'line-counts': true,
    });
    expect(answer.nextStep).toContain(message);
    expect((await onChain({ stateAt }, { ...CALL, chainId: '0x1' })).verdict).toBe('will-be-refused');
    // An error that does not mean this is an error.
    await expect(onChain({ stateAt: () => Promise.reject(new TypeError('a mistake')) })).rejects.toThrow('a mistake');
  });

  test('bytes whose nonce is used: by themselves, by others, or not known', async () => {
    const answers = await inMoment(async ({ chain, estimator }, raw) => {
      const before = await chain.stateAt(await chain.head());
      // As if a transaction of the sender had been included.
      const account: StateReader['account'] = async (address) => {
        const found = await before.account(address);
        return found && { ...found, nonce: found.nonce + 1n };
      };
      const state: StateReader = { account, slot: (...of) => before.slot(...of), code: (hash) => before.code(hash) };
      const diagnosed = (transaction: Chain['transaction']) => {
        const other = { ...chain, transaction, stateAt: async () => state };
        return ask({ chain: other, estimator: estimator.on(other) }, raw);
      };
      const block = await chain.head();
      const own = { transaction: parseSignedTransaction(hexToBytes(raw), 59_144), block, index: 2 };
      const silent = new PlumblineError('UPSTREAM_UNAVAILABLE', 'no endpoint answered', { endpoints: [] });
      return [
        await diagnosed(async () => own),
        await diagnosed(async () => undefined),
        await diagnosed(() => Promise.reject(silent)),
      ];
    });
    expect(answers.map(({ verdict }) => verdict)).toEqual(['included', 'will-be-refused', 'cannot-tell']);
    expect(answers[0]!.included).toMatchObject({ blockNumber: 28_279_206, transactionIndex: 2 });
    expect(failing(answers[1]!)).toEqual(['nonce-used']);
    expect(answers[2]!.nextStep).toContain('no endpoint answered');
  });

  test('a list of denied addresses in the profile is applied', async () => {
    const answers = await inMoment(async ({ chain, estimator }, raw) => {
      const diagnosed = (deniedAddresses: Hex[]) => {
        const other = { ...chain, network: { ...chain.network, pool: { margin: 0.8, deniedAddresses } } };
        return ask({ chain: other, estimator: estimator.on(other) }, raw);
      };
      return [await diagnosed([CALL.to as Hex]), await diagnosed([])];
    });
    expect(answers.map(({ verdict }) => verdict)).toEqual(['will-be-refused', 'will-be-included']);
    expect(failing(answers[0]!)).toEqual(['denied']);
    expect(answers[1]!.checks.find(({ check }) => check === 'denied')).toMatchObject({ outcome: 'ok' });
  });

  test('without the dictionary of the network, a price near the limit is unknown, and others are not', async () => {
    const dictionary = await generalDictionary();
    const sizer = await loadCalldataSizer(dictionary.bytes);
    const outcomes = await inMoment(async ({ chain }) => {
      const found = [];
      for (const wei of [8, POOL_PRICE, 10 ** 9]) {
        const parts = { chain, estimator: new Estimator(chain, sizer, dictionary) };
        const { verdict, checks } = await ask(parts, { ...CALL, ...price(wei) });
        found.push([verdict, checks.find(({ check }) => check === 'pool-price')!.outcome]);
      }
      return found;
    });
    expect(outcomes).toEqual([
      ['will-be-refused', 'fails'],
      ['cannot-tell', 'unknown'],
      ['will-be-included', 'ok'],
    ]);
  });
});
