import { RLP } from '@ethereumjs/rlp';
import { describe, expect, test } from 'vitest';
import type { Chain } from '../../src/chain/chain.js';
import { PlumblineError } from '../../src/errors.js';
import { Estimator } from '../../src/estimate/estimator.js';
import { parseSignedTransaction } from '../../src/ethereum/transaction.js';
import type { StateReader } from '../../src/evm/state-reader.js';
import { generalDictionary } from '../../src/fees/dictionary.js';
import { loadCalldataSizer } from '../../src/kernel/calldata-sizer.js';
import { lineaSepolia } from '../../src/networks/linea.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { failing } from '../support/diagnoses.js';
import { ask, CALL, hasRecorded, inMoment, POOL_PRICE, price } from '../support/recorded-moment.js';

/** The same estimator on another chain. */
const estimatorOn = (chain: Chain, estimator: Estimator) =>
  new Estimator(chain, () => estimator.sizer(), estimator.dictionary);

describe.skipIf(!hasRecorded)('recorded transactions', () => {
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
      return ask({ chain: other, estimator: estimatorOn(other, estimator) }, raw);
    });
    // The contract compares a signature that names the chain.
    expect(failing(answer)).toEqual(['chain-id', 'execution']);
    expect(answer.nextStep).toBe('Sign the transaction for chain 59141; it is signed for chain 59144.');
  });

  const onChain = (change: Partial<Chain>, transaction?: unknown) =>
    inMoment(({ chain, estimator }, raw) => {
      const other = { ...chain, ...change };
      return ask({ chain: other, estimator: estimatorOn(other, estimator) }, transaction ?? raw);
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
    const prepare: Chain['prepare'] = () =>
      Promise.reject(new PlumblineError('UPSTREAM_UNAVAILABLE', message, { endpoints: [] }));
    const answer = await onChain({ prepare });
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
    expect((await onChain({ prepare }, { ...CALL, chainId: '0x1' })).verdict).toBe('will-be-refused');
    // An error that does not mean this is an error.
    await expect(onChain({ prepare: () => Promise.reject(new TypeError('a mistake')) })).rejects.toThrow('a mistake');
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
        const prepare: Chain['prepare'] = async () => ({ block: await chain.head(), state });
        const other = { ...chain, transaction, prepare };
        return ask({ chain: other, estimator: estimatorOn(other, estimator) }, raw);
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
        return ask({ chain: other, estimator: estimatorOn(other, estimator) }, raw);
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
        const parts = { chain, estimator: new Estimator(chain, async () => sizer, dictionary) };
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
