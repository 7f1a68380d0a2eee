import type { ExecResult } from '@ethereumjs/evm';
import type { RunCounts } from '../../../src/evm/run-budget.js';
import type { CountedModule } from '../../../src/networks/module-limits.js';
import { bytesToBigInt, isZeroBytes } from '../../../src/primitives/bytes.js';

/** Number of 512-bit blocks in SHA-256 and RIPEMD-160 for this many bytes: with a set bit, and the length as 64 bits. */
const sha2Blocks = (bytes: number) => Math.ceil((bytes + 9) / 64);

/** Counts one call of a precompile from its input and outcome. */
export type PrecompileCounter = (counts: RunCounts, data: Uint8Array, result: ExecResult) => void;

const succeeded = (result: ExecResult) => result.exceptionError === undefined;

/** A curve operation: counts as effective if it succeeds, else as a membership check. */
function curve(effective: CountedModule, membership: CountedModule | undefined): PrecompileCounter {
  return (counts, data, result) => {
    if (data.length === 0) return;
    if (succeeded(result)) counts.add(effective);
    else if (membership !== undefined) counts.add(membership);
  };
}

interface Pairing {
  readonly g1Bytes: number;
  readonly g2Bytes: number;
  readonly millerLoops: CountedModule;
  readonly finalExponentiations: CountedModule;
  /** Membership checks of points whose partner is the point at infinity, and of invalid points. */
  readonly g1Checks: CountedModule | undefined;
  readonly g2Checks: CountedModule;
}

function pairing(of: Pairing): PrecompileCounter {
  const pairBytes = of.g1Bytes + of.g2Bytes;
  return (counts, data, result) => {
    if (data.length === 0 || data.length % pairBytes !== 0) return;
    if (!succeeded(result)) return counts.add(of.g2Checks);
    let loops = 0;
    for (let at = 0; at < data.length; at += pairBytes) {
      const noG1 = isZeroBytes(data.subarray(at, at + of.g1Bytes));
      const noG2 = isZeroBytes(data.subarray(at + of.g1Bytes, at + pairBytes));
      if (!noG1 && !noG2) loops++;
      else if (!noG2) counts.add(of.g2Checks);
      else if (!noG1 && of.g1Checks !== undefined) counts.add(of.g1Checks);
    }
    counts.add(of.millerLoops, loops);
    if (loops > 0) counts.add(of.finalExponentiations);
  };
}

const SMALL_MODEXP_BYTES = 32n;

const modexp: PrecompileCounter = (counts, data, result) => {
  if (succeeded(result)) counts.add('PRECOMPILE_MODEXP_EFFECTIVE_CALLS');
  for (const at of [0, 32, 64]) {
    // Missing bytes read as zeros.
    const word = new Uint8Array(32);
    word.set(data.subarray(at, at + 32));
    if (bytesToBigInt(word) > SMALL_MODEXP_BYTES) return counts.add('PRECOMPILE_LARGE_MODEXP_EFFECTIVE_CALLS');
  }
};

const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Effective if v, r and s are in range, even if no address can be recovered. */
const ecrecover: PrecompileCounter = (counts, data, result) => {
  if (!succeeded(result) || data.length === 0) return;
  const input = new Uint8Array(128);
  input.set(data.subarray(0, 128));
  const [v, r, s] = [32, 64, 96].map((at) => bytesToBigInt(input.subarray(at, at + 32))) as [bigint, bigint, bigint];
  const inRange = (n: bigint) => n > 0n && n < SECP256K1_ORDER;
  if ((v === 27n || v === 28n) && inRange(r) && inRange(s)) counts.add('PRECOMPILE_ECRECOVER_EFFECTIVE_CALLS');
};

const P256_VERIFY_BYTES = 160;

/**
 * Counters by precompile address, as a number. Point evaluation is not included: it cannot run without its trusted
 * setup.
 *
 * @source docs/spec/fees.md 7
 */
export const PRECOMPILE_COUNTERS: ReadonlyMap<number, PrecompileCounter> = new Map<number, PrecompileCounter>([
  [0x01, ecrecover],
  [
    0x02,
    (counts, { length }, result) => {
      if (succeeded(result) && length > 0) counts.add('PRECOMPILE_SHA2_BLOCKS', sha2Blocks(length));
    },
  ],
  [
    0x03,
    (counts, { length }, result) => {
      if (succeeded(result) && length > 0) counts.add('PRECOMPILE_RIPEMD_BLOCKS', sha2Blocks(length));
    },
  ],
  [0x05, modexp],
  [0x06, curve('PRECOMPILE_ECADD_EFFECTIVE_CALLS', undefined)],
  [0x07, curve('PRECOMPILE_ECMUL_EFFECTIVE_CALLS', undefined)],
  [
    0x08,
    pairing({
      g1Bytes: 64,
      g2Bytes: 128,
      millerLoops: 'PRECOMPILE_ECPAIRING_MILLER_LOOPS',
      finalExponentiations: 'PRECOMPILE_ECPAIRING_FINAL_EXPONENTIATIONS',
      g1Checks: undefined,
      g2Checks: 'PRECOMPILE_ECPAIRING_G2_MEMBERSHIP_CALLS',
    }),
  ],
  [0x09, (counts) => counts.add('PRECOMPILE_BLAKE_EFFECTIVE_CALLS')],
  [0x0b, curve('PRECOMPILE_BLS_G1_ADD_EFFECTIVE_CALLS', 'PRECOMPILE_BLS_C1_MEMBERSHIP_CALLS')],
  [0x0c, curve('PRECOMPILE_BLS_G1_MSM_EFFECTIVE_CALLS', 'PRECOMPILE_BLS_G1_MEMBERSHIP_CALLS')],
  [0x0d, curve('PRECOMPILE_BLS_G2_ADD_EFFECTIVE_CALLS', 'PRECOMPILE_BLS_C2_MEMBERSHIP_CALLS')],
  [0x0e, curve('PRECOMPILE_BLS_G2_MSM_EFFECTIVE_CALLS', 'PRECOMPILE_BLS_G2_MEMBERSHIP_CALLS')],
  [
    0x0f,
    pairing({
      g1Bytes: 128,
      g2Bytes: 256,
      millerLoops: 'PRECOMPILE_BLS_PAIRING_CHECK_MILLER_LOOPS',
      finalExponentiations: 'PRECOMPILE_BLS_FINAL_EXPONENTIATIONS',
      g1Checks: 'PRECOMPILE_BLS_G1_MEMBERSHIP_CALLS',
      g2Checks: 'PRECOMPILE_BLS_G2_MEMBERSHIP_CALLS',
    }),
  ],
  [0x10, curve('PRECOMPILE_BLS_MAP_FP_TO_G1_EFFECTIVE_CALLS', undefined)],
  [0x11, curve('PRECOMPILE_BLS_MAP_FP2_TO_G2_EFFECTIVE_CALLS', undefined)],
  [
    0x100,
    (counts, { length }) => {
      if (length === P256_VERIFY_BYTES) counts.add('PRECOMPILE_P256_VERIFY_EFFECTIVE_CALLS');
    },
  ],
]);
