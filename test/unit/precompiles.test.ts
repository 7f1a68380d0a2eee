import { Common, Mainnet } from '@ethereumjs/common';
import { getActivePrecompiles } from '@ethereumjs/evm';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { describe, expect, it } from 'vitest';
import { isPlumblineError } from '../../src/errors.js';
import { type Rules, rulesAt } from '../../src/evm/common.js';
import { activePrecompiles } from '../../src/evm/precompile-ids.js';
import { runPrecompile } from '../../src/evm/precompiles.js';
import type { Hardfork } from '../../src/networks/network.js';
import { bigIntToBytes, concatBytes } from '../../src/primitives/bytes.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { FORKS } from '../support/evm.js';

const rulesOf = (hardfork: Hardfork): Rules => rulesAt({ chainId: 1, forks: [{ hardfork, block: 0 }] }, 0, 0);
const OSAKA = rulesOf('osaka');
const PLENTY = 1_000_000_000n;
const goOn = () => undefined;
const word = (value: number | bigint) => bigIntToBytes(BigInt(value), 32);
const field = (value: bigint) => bigIntToBytes(value, 64);

const g1 = (times: bigint) => {
  const { x, y } = bls12_381.G1.Point.BASE.multiply(times).toAffine();
  return concatBytes(field(x), field(y));
};
const { x: x2, y: y2 } = bls12_381.G2.Point.BASE.toAffine();
const G2 = concatBytes(field(x2.c0), field(x2.c1), field(y2.c0), field(y2.c1));
/** Generators of the curve of EIP-197. */
const BN254_PAIR = hexToBytes(
  `0x${'1'.padStart(64, '0')}${'2'.padStart(64, '0')}` +
    '198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2' +
    '1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed' +
    '090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b' +
    '12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa',
);
const repeated = (bytes: Uint8Array, times: number) => concatBytes(...Array<Uint8Array>(times).fill(bytes));

/** Calls that take long. */
const LONG: readonly (readonly [name: string, id: number, input: Uint8Array])[] = [
  ['blake2f', 0x09, concatBytes(bigIntToBytes(500_000n, 4), new Uint8Array(208).fill(7), Uint8Array.of(1))],
  [
    'modexp',
    0x05,
    concatBytes(word(128), word(1024), word(128), new Uint8Array(128).fill(0x77), new Uint8Array(1152).fill(0xfd)),
  ],
  ['a pairing on BN254', 0x08, repeated(BN254_PAIR, 3)],
  ['a pairing on BLS12-381', 0x0f, concatBytes(g1(2n), G2, g1(3n), G2)],
  [
    'a sum in the first group',
    0x0c,
    concatBytes(...[5n, 6n, 7n, 8n, 9n].flatMap((n) => [g1(n), word(2n ** 200n * n)])),
  ],
  ['a sum in the second group', 0x0e, repeated(concatBytes(G2, word(2n ** 200n)), 4)],
  ['SHA-256', 0x02, new Uint8Array(1 << 19)],
];

describe('precompiles of a fork', () => {
  it.each(FORKS)('are those of @ethereumjs/evm under %s', (hardfork) => {
    const active = getActivePrecompiles(new Common({ chain: Mainnet, hardfork }));
    const expected = [...active.keys()].map((address) => Number(`0x${address}`));
    expect(activePrecompiles(rulesOf(hardfork))).toEqual(expected.sort((a, b) => a - b));
  });

  it('are the only ones that can be run', () => {
    expect(() => runPrecompile(0x100, new Uint8Array(0), PLENTY, rulesOf('prague'), goOn)).toThrow(
      '0x100 is not a precompile of prague',
    );
    expect(() => runPrecompile(0x12, new Uint8Array(0), PLENTY, OSAKA, goOn)).toThrow('0x12 is not a precompile');
  });
});

describe('a call', () => {
  it('that takes no time answers without a promise', () => {
    const input = Uint8Array.of(1, 2, 3);
    const result = runPrecompile(0x04, input, 100n, OSAKA, goOn);
    expect(result).toEqual({ succeeded: true, gasUsed: 18n, output: input });
  });

  it('that costs more than its gas fails and tells its price', () => {
    const result = runPrecompile(0x02, new Uint8Array(33), 83n, OSAKA, goOn);
    expect(result).toEqual({ succeeded: false, gasUsed: 84n, output: new Uint8Array(0) });
  });

  it.each(LONG)('of %s gives the same with pauses and without', async (_, id, input) => {
    const straight = await runPrecompile(id, input, PLENTY, OSAKA, goOn);
    // The calculation is loaded now.
    expect(runPrecompile(id, input, PLENTY, OSAKA, goOn)).toEqual(straight);
    let pauses = 0;
    const pausing = runPrecompile(id, input, PLENTY, OSAKA, () => (pauses++ % 2 === 0 ? Promise.resolve() : undefined));
    expect(pausing).toBeInstanceOf(Promise);
    expect(await pausing).toEqual(straight);
    expect(straight.succeeded).toBe(true);
    expect(pauses).toBeGreaterThan(2);
  });

  it.each(LONG)('of %s ends where a pause throws', async (_, id, input) => {
    const stop = new Error('deadline');
    for (const waits of [false, true]) {
      let pauses = 0;
      const pause = () => {
        if (++pauses === 3) throw stop;
        return waits ? Promise.resolve() : undefined;
      };
      await expect(async () => runPrecompile(id, input, PLENTY, OSAKA, pause)).rejects.toBe(stop);
      expect(pauses).toBe(3);
    }
  });

  it('of a modular exponentiation that is too large for all engines is refused, not answered', () => {
    const input = concatBytes(word(1), word(1), word(65_537), Uint8Array.of(2, 2, 3));
    let thrown: unknown;
    try {
      runPrecompile(0x05, input, PLENTY, rulesOf('prague'), goOn);
    } catch (error) {
      thrown = error;
    }
    expect(isPlumblineError(thrown, 'EXECUTION_FAILED')).toBe(true);
    expect(String(thrown)).toContain('not calculated: a modular exponentiation of more than 65536 bytes');
  });
});

/**
 * Versioned hash, z, y, commitment and proof.
 *
 * @source ethereum/tests@4c87ebbf GeneralStateTests/Pyspecs/cancun/eip4844_blobs: `correct_proof_31ebd010e6098750`
 */
const PROVED = hexToBytes(
  '0x01e798154708fe7789429634053cbf9f99b619f9f084048927333fce637f549b' +
    '73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000000' +
    '1522a4a7f34e1ea350ae07c29c96c7e79655aa926122e95fe69fcbd932ca49e9' +
    '8f59a8d2a1a625a17f3fea0fe5eb8c896db3764f3185481bc22f91b4aaffcca25f26936857bc3a7c2539ea8ec3a952b7' +
    'a62ad71d14c5719385c0686f1871430475bf3a00f0aa3f7b8dd99a9abc2160744faf0070725e00b60ad9a026a15b1a8c',
);

describe('point evaluation', () => {
  it('holds for a published proof, and gives the constants of EIP-4844', async () => {
    expect(await runPrecompile(0x0a, PROVED, 50_000n, OSAKA, goOn)).toEqual({
      succeeded: true,
      gasUsed: 50_000n,
      output: hexToBytes(
        `0x${'1000'.padStart(64, '0')}73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001`,
      ),
    });
  });

  it.each([
    ['versioned hash', 31],
    ['z', 63],
    ['y', 95],
    ['commitment', 143],
    ['proof', 191],
  ])('fails for another %s', async (_, at) => {
    const input = PROVED.slice();
    input[at]! ^= 1;
    const failed = { succeeded: false, gasUsed: PLENTY, output: new Uint8Array(0) };
    expect(await runPrecompile(0x0a, input, PLENTY, OSAKA, goOn)).toEqual(failed);
  });
});
