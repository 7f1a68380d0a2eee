/**
 * The precompiled contracts: what each costs, and what it answers. Long calculations are cut into pieces, so that none holds the thread.
 *
 * Hashes, modular exponentiation and copies are calculated here. Curves are loaded when a contract first needs one. What the prover
 * counts of each stands at the end, by the number of the contract's address. This file is loaded when a precompile other than the
 * identity is first called; the kernel runs the identity itself.
 */

import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { PlumblineError } from '../errors.js';
import { loadSignerRecovery, signerOf } from '../ethereum/signer.js';
import { BLAKE2F_BYTES, loadBlake2f } from '../kernel/blake2f.js';
import type { CountedModule } from '../networks/module-limits.js';
import { bigIntToBytes, bytesToBigInt, isZeroBytes, padStart } from '../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { finish, type Pause, type Pieces } from '../scheduling/pieces.js';
import type { Rules } from './common.js';
import type { Output, Run } from './curve-points.js';
import { activePrecompiles } from './precompile-ids.js';

/** Price of each multiplication of a sum, in thousandths, by the number of points from 1 on. @source EIP-2537 */
const G1_DISCOUNTS: readonly number[] = [
  ...[1000, 949, 848, 797, 764, 750, 738, 728, 719, 712, 705, 698, 692, 687, 682, 677],
  ...[673, 669, 665, 661, 658, 654, 651, 648, 645, 642, 640, 637, 635, 632, 630, 627],
  ...[625, 623, 621, 619, 617, 615, 613, 611, 609, 608, 606, 604, 603, 601, 599, 598],
  ...[596, 595, 593, 592, 591, 589, 588, 586, 585, 584, 582, 581, 580, 579, 577, 576],
  ...[575, 574, 573, 572, 570, 569, 568, 567, 566, 565, 564, 563, 562, 561, 560, 559],
  ...[558, 557, 556, 555, 554, 553, 552, 551, 550, 549, 548, 547, 547, 546, 545, 544],
  ...[543, 542, 541, 540, 540, 539, 538, 537, 536, 536, 535, 534, 533, 532, 532, 531],
  ...[530, 529, 528, 528, 527, 526, 525, 525, 524, 523, 522, 522, 521, 520, 520, 519],
];

/** As `G1_DISCOUNTS`, for the second group. @source EIP-2537 */
const G2_DISCOUNTS: readonly number[] = [
  ...[1000, 1000, 923, 884, 855, 832, 812, 796, 782, 770, 759, 749, 740, 732, 724, 717],
  ...[711, 704, 699, 693, 688, 683, 679, 674, 670, 666, 663, 659, 655, 652, 649, 646],
  ...[643, 640, 637, 634, 632, 629, 627, 624, 622, 620, 618, 615, 613, 611, 609, 607],
  ...[606, 604, 602, 600, 598, 597, 595, 593, 592, 590, 589, 587, 586, 584, 583, 582],
  ...[580, 579, 578, 576, 575, 574, 573, 571, 570, 569, 568, 567, 566, 565, 563, 562],
  ...[561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 552, 551, 550, 549, 548, 547],
  ...[546, 545, 545, 544, 543, 542, 541, 541, 540, 539, 538, 537, 537, 536, 535, 535],
  ...[534, 533, 532, 532, 531, 530, 530, 529, 528, 528, 527, 526, 526, 525, 524, 524],
];

/** Outcome of one call of a precompile. */
export interface PrecompileResult {
  readonly succeeded: boolean;
  /** All of the gas when the call failed; the price, which is more than that, when the gas was short. */
  readonly gasUsed: bigint;
  /** Empty when the call failed. */
  readonly output: Uint8Array;
}

interface Precompile {
  /** Gas of a call; undefined if the input has a wrong length, and the call fails. */
  gas(input: Uint8Array, rules: Rules): bigint | undefined;
  /** The calculation, loaded if need be. */
  load(): Run | Promise<Run>;
}

/** Loads a module once; after that it is there without waiting. A failed load is tried again. */
function later<M>(load: () => Promise<M>): <T>(pick: (module: M) => T) => T | Promise<T> {
  let loaded: M | undefined;
  let loading: Promise<M> | undefined;
  return (pick) => {
    if (loaded !== undefined) return pick(loaded);
    loading ??= load().then(
      (module) => {
        loaded = module;
        return module;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading.then(pick);
  };
}

const signer = later(async () => {
  await loadSignerRecovery();
  return signerOf;
});
const blake2f = later(loadBlake2f);
// Each curve is a chunk of its own.
const bn254 = later(() => import('./bn254.js'));
const bls12381 = later(() => import('./bls12381.js'));
const pointEvaluation = later(() => import('./point-evaluation.js'));
const p256 = later(() => import('./p256.js'));

const always = (gas: bigint) => () => gas;

/** A price for input of one length. */
const forLength = (length: number, gas: bigint) => (input: Uint8Array) => (input.length === length ? gas : undefined);

/** A price, and one for each started word of 32 bytes. */
const byWords = (gas: bigint, perWord: bigint) => (input: Uint8Array) =>
  gas + perWord * BigInt(Math.ceil(input.length / 32));

/** How many items of this length the input is; undefined if it has a rest. */
function itemsOf(input: Uint8Array, bytes: number): bigint | undefined {
  return input.length % bytes === 0 ? BigInt(input.length / bytes) : undefined;
}

function bn254PairingGas(input: Uint8Array, { istanbul }: Rules): bigint | undefined {
  const pairs = itemsOf(input, 192);
  if (pairs === undefined) return undefined;
  return istanbul ? 45_000n + 34_000n * pairs : 100_000n + 80_000n * pairs;
}

function blsPairingGas(input: Uint8Array): bigint | undefined {
  const pairs = itemsOf(input, 384);
  return pairs === undefined || pairs === 0n ? undefined : 37_700n + 32_600n * pairs;
}

/** Price of a sum of multiplications, with the discount for their number. */
const sumGas = (bytes: number, gas: bigint, discounts: readonly number[]) => (input: Uint8Array) => {
  const items = itemsOf(input, bytes);
  if (items === undefined || items === 0n) return undefined;
  const discount = discounts[Math.min(Number(items), discounts.length) - 1]!;
  return (items * gas * BigInt(discount)) / 1000n;
};

/** A gas for each round. The last byte says whether it is the last block. */
function blake2fGas(input: Uint8Array): bigint | undefined {
  if (input.length !== BLAKE2F_BYTES || input[BLAKE2F_BYTES - 1]! > 1) return undefined;
  return bytesToBigInt(input.subarray(0, 4));
}

/**
 * By number of the standard address, with the prices.
 *
 * @source Ethereum Yellow Paper, appendix E; EIP-196, 197, 1108 (Istanbul), 152, 4844, 2537, 7951
 */
const PRECOMPILES: ReadonlyMap<number, Precompile> = new Map<number, Precompile>([
  [0x01, { gas: always(3_000n), load: () => signer(recoveryWith) }],
  [0x02, { gas: byWords(60n, 12n), load: () => runSha256 }],
  [0x03, { gas: byWords(600n, 120n), load: () => runRipemd160 }],
  [0x04, { gas: byWords(15n, 3n), load: () => (input) => input.slice() }],
  [0x05, { gas: modexpGas, load: () => runModexp }],
  [
    0x06,
    {
      gas: (_, { istanbul }) => (istanbul ? 150n : 500n),
      load: () => bn254(({ runAddition }) => runAddition),
    },
  ],
  [
    0x07,
    {
      gas: (_, { istanbul }) => (istanbul ? 6_000n : 40_000n),
      load: () => bn254(({ runMultiplication }) => runMultiplication),
    },
  ],
  [0x08, { gas: bn254PairingGas, load: () => bn254(({ runPairing }) => runPairing) }],
  [0x09, { gas: blake2fGas, load: () => blake2f((run) => run) }],
  [
    0x0a,
    {
      gas: forLength(192, 50_000n),
      load: () => pointEvaluation(({ runPointEvaluation }) => runPointEvaluation),
    },
  ],
  [0x0b, { gas: forLength(256, 375n), load: () => bls12381((bls) => bls.runG1Addition) }],
  [
    0x0c,
    {
      gas: sumGas(160, 12_000n, G1_DISCOUNTS),
      load: () => bls12381((bls) => bls.runG1Multiplication),
    },
  ],
  [0x0d, { gas: forLength(512, 600n), load: () => bls12381((bls) => bls.runG2Addition) }],
  [
    0x0e,
    {
      gas: sumGas(288, 22_500n, G2_DISCOUNTS),
      load: () => bls12381((bls) => bls.runG2Multiplication),
    },
  ],
  [0x0f, { gas: blsPairingGas, load: () => bls12381((bls) => bls.runBlsPairing) }],
  [0x10, { gas: forLength(64, 5_500n), load: () => bls12381((bls) => bls.runG1Map) }],
  [0x11, { gas: forLength(128, 23_800n), load: () => bls12381((bls) => bls.runG2Map) }],
  [0x100, { gas: always(6_900n), load: () => p256(({ runP256Verify }) => runP256Verify) }],
]);

/**
 * Runs a precompile. The result is a promise only if the calculation had to be loaded, or `pause` gave a promise.
 *
 * @param id - number of the standard address; it must be active under the rules
 * @param input - must stay as it is until there is a result
 * @param gas - what the call may spend
 * @param pause - called after each piece of a few milliseconds. What it throws ends the run
 * @throws PlumblineError `EXECUTION_FAILED` for a modular exponentiation that is too large to be calculated here
 */
export function runPrecompile(
  id: number,
  input: Uint8Array,
  gas: bigint,
  rules: Rules,
  pause: Pause,
): PrecompileResult | Promise<PrecompileResult> {
  const precompile = PRECOMPILES.get(id);
  if (precompile === undefined || !activePrecompiles(rules).includes(id)) {
    const reason = `0x${id.toString(16)} is not a precompile of ${rules.hardfork}`;
    throw new PlumblineError('INTERNAL', reason, { reason });
  }
  const price = precompile.gas(input, rules);
  if (price === undefined) return failure(gas);
  if (price > gas) return failure(price);
  const result = (output: Output) =>
    output === undefined ? failure(gas) : { succeeded: true, gasUsed: price, output };
  const run = precompile.load();
  if (run instanceof Promise) return run.then((loaded) => outputOf(loaded, input, pause)).then(result);
  const output = outputOf(run, input, pause);
  return output instanceof Promise ? output.then(result) : result(output);
}

const failure = (gas: bigint): PrecompileResult => ({ succeeded: false, gasUsed: gas, output: new Uint8Array(0) });

function outputOf(run: Run, input: Uint8Array, pause: Pause): Output | Promise<Output> {
  const output = run(input);
  return output === undefined || output instanceof Uint8Array ? output : finish(output, pause);
}

/** Hash, v, r and s of 32 bytes each give an address padded to 32 bytes, or no bytes. */
function recoveryWith(recover: typeof signerOf): Run {
  return (given) => {
    const input = new Uint8Array(128);
    input.set(given.subarray(0, 128));
    const v = bytesToBigInt(input.subarray(32, 64));
    if (v !== 27n && v !== 28n) return new Uint8Array(0);
    const [hash, r, s] = [input.subarray(0, 32), input.subarray(64, 96), input.subarray(96)];
    const address = recover(hash, r, s, v === 28n ? 1 : 0);
    return address === undefined ? new Uint8Array(0) : padStart(address, 32);
  };
}

/** Bytes that are hashed in about a millisecond. */
const PIECE_BYTES = 1 << 17;

/** SHA-256 of the input. @source Ethereum Yellow Paper, appendix E.1 */
const runSha256 = (input: Uint8Array): Pieces<Output> => digest(sha256.create(), input);

/** RIPEMD-160 of the input, padded to 32 bytes. @source Ethereum Yellow Paper, appendix E.1 */
const runRipemd160 = (input: Uint8Array): Pieces<Output> => digest(ripemd160.create(), input);

interface Hash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

function* digest(hash: Hash, input: Uint8Array): Pieces<Output> {
  for (let at = 0; at < input.length; at += PIECE_BYTES) {
    if (at > 0) yield;
    hash.update(input.subarray(at, at + PIECE_BYTES));
  }
  return padStart(hash.digest(), 32);
}

/** The input begins with three lengths of 32 bytes. */
const HEAD_BYTES = 96;

/** Largest length of base, exponent and modulus from Osaka on. @source EIP-7823 */
const MAX_BYTES_OSAKA = 1024n;

/**
 * Largest base and modulus that are calculated: their product is the largest integer of some engines. They cost 22 million
 * gas at least (EIP-2565).
 */
const MAX_OPERAND_BYTES = 65_536n;

interface Lengths {
  readonly base: bigint;
  readonly exponent: bigint;
  readonly modulus: bigint;
}

/** Bytes `from` to `to` of the input, with zeros behind its end. */
function part(input: Uint8Array, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(to - from);
  bytes.set(input.subarray(from, to));
  return bytes;
}

function lengthsOf(input: Uint8Array): Lengths {
  const word = (at: number) => bytesToBigInt(part(input, at, at + 32));
  return { base: word(0), exponent: word(32), modulus: word(64) };
}

const max = (a: bigint, b: bigint) => (a > b ? a : b);

/** Gas of a call; undefined if it fails. @source EIP-198, EIP-2565 (Berlin), EIP-7823 and EIP-7883 (Osaka) */
function modexpGas(input: Uint8Array, rules: Rules): bigint | undefined {
  const lengths = lengthsOf(input);
  const { base, exponent, modulus } = lengths;
  if (rules.osaka && max(max(base, exponent), modulus) > MAX_BYTES_OSAKA) return undefined;
  const size = max(base, modulus);
  const words = (size + 7n) / 8n;
  const iterations = iterationCount(input, lengths, rules.osaka ? 16n : 8n);
  if (rules.osaka) return max(500n, (size > 32n ? 2n * words * words : 16n) * iterations);
  if (rules.berlin) return max(200n, (words * words * iterations) / 3n);
  return (complexityBeforeBerlin(size) * iterations) / 20n;
}

/** @source EIP-198 */
function complexityBeforeBerlin(size: bigint): bigint {
  if (size <= 64n) return size * size;
  if (size <= 1024n) return (size * size) / 4n + 96n * size - 3_072n;
  return (size * size) / 16n + 480n * size - 199_680n;
}

/** Squarings that are paid for: bits of the exponent's first 32 bytes less one, and `perByte` for each byte after them. */
function iterationCount(input: Uint8Array, { base, exponent }: Lengths, perByte: bigint): bigint {
  const from = HEAD_BYTES + Number(base);
  const first = exponent < 32n ? Number(exponent) : 32;
  // A place behind the end may be too large for a number to be exact: there are zeros only.
  const head = from >= input.length ? 0n : bytesToBigInt(part(input, from, from + first));
  const bits = head === 0n ? 0n : BigInt(head.toString(2).length - 1);
  return max(1n, bits + (exponent > 32n ? (exponent - 32n) * perByte : 0n));
}

/**
 * Base to the power of the exponent, modulo the modulus; 0 modulo 0.
 *
 * @throws PlumblineError `EXECUTION_FAILED` for a base or modulus above 65 536 bytes
 * @source EIP-198
 */
function* runModexp(input: Uint8Array): Pieces<Output> {
  const lengths = lengthsOf(input);
  if (lengths.modulus === 0n) return new Uint8Array(0);
  if (max(lengths.base, lengths.modulus) > MAX_OPERAND_BYTES) {
    const reason = `a modular exponentiation of more than ${MAX_OPERAND_BYTES} bytes`;
    throw new PlumblineError('EXECUTION_FAILED', `not calculated: ${reason}`, { reason });
  }
  const exponentBytes = Number(lengths.exponent);
  const modulusBytes = Number(lengths.modulus);
  const exponentAt = HEAD_BYTES + Number(lengths.base);
  const modulusAt = exponentAt + exponentBytes;
  const base = numberOf(part(input, HEAD_BYTES, exponentAt));
  const modulus = numberOf(part(input, modulusAt, modulusAt + modulusBytes));
  if (modulus <= 1n) return new Uint8Array(modulusBytes);
  const given = input.subarray(exponentAt, modulusAt);
  const power = yield* powerOf(base % modulus, given, exponentBytes - given.length, modulus);
  if (modulusBytes < LONG_BYTES) return bigIntToBytes(power, modulusBytes);
  return hexToBytes(`0x${power.toString(16).padStart(2 * modulusBytes, '0')}`);
}

/** From this length on, engines convert hex faster: their time grows with the length, not with its square. */
const LONG_BYTES = 256;

const numberOf = (bytes: Uint8Array) => (bytes.length < LONG_BYTES ? bytesToBigInt(bytes) : BigInt(bytesToHex(bytes)));

/** Work of a multiplication, in units of some nanoseconds: each pair of 64-bit words is one, the rest is `CALL_WORK`. */
const CALL_WORK = 64;
const PIECE_WORK = 500_000;
/** Exponents of at most this length are not worth a table. */
const SHORT_EXPONENT_BYTES = 8;

/**
 * `base` to the power of an exponent of big-endian bytes, most significant four bits first.
 *
 * @param zeros - number of zero bytes behind the exponent's bytes
 */
function* powerOf(base: bigint, exponent: Uint8Array, zeros: number, modulus: bigint): Pieces<bigint> {
  const start = exponent.findIndex((byte) => byte !== 0);
  if (start < 0) return 1n;
  const words = modulus.toString(16).length / 16;
  const work = CALL_WORK + words * words;
  let sinceYield = 0;
  const table = [1n, base];
  const bits = exponent.length - start > SHORT_EXPONENT_BYTES && work < PIECE_WORK ? 4 : 1;
  while (table.length < 1 << bits) table.push((table[table.length - 1]! * base) % modulus);
  let power = 1n;
  for (let at = start; at < exponent.length; at++) {
    for (let shift = 8 - bits; shift >= 0; shift -= bits) {
      const digit = (exponent[at]! >> shift) & ((1 << bits) - 1);
      if (power !== 1n) for (let i = 0; i < bits; i++) power = (power * power) % modulus;
      if (digit !== 0) power = (power * table[digit]!) % modulus;
      sinceYield += (bits + 1) * work;
      if (sinceYield > PIECE_WORK) {
        sinceYield = 0;
        yield;
      }
    }
  }
  for (let bit = 0; bit < 8 * zeros && power > 1n; bit++) {
    power = (power * power) % modulus;
    sinceYield += work;
    if (sinceYield > PIECE_WORK) {
      sinceYield = 0;
      yield;
    }
  }
  return power;
}

/** Takes lines per module; one line if the number is left out. */
interface Counts {
  add(module: CountedModule, lines?: number): void;
}

/** Counts one call of a precompile from its input and outcome. */
type Counter = (counts: Counts, data: Uint8Array, succeeded: boolean) => void;

const SHA2_BLOCK_BYTES = 64;
/** One set bit, then the length as 64 bits. */
const SHA2_PADDING_BYTES = 9;

/** Counts the 512-bit blocks of SHA-256 and RIPEMD-160. */
function blocks(module: CountedModule): Counter {
  return (counts, { length }, succeeded) => {
    if (succeeded && length > 0) counts.add(module, Math.ceil((length + SHA2_PADDING_BYTES) / SHA2_BLOCK_BYTES));
  };
}

/** A curve operation: counts as effective if it succeeds, else as a membership check. */
function curve(effective: CountedModule, membership: CountedModule | undefined): Counter {
  return (counts, data, succeeded) => {
    if (data.length === 0) return;
    if (succeeded) counts.add(effective);
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

function pairing(of: Pairing): Counter {
  const pairBytes = of.g1Bytes + of.g2Bytes;
  return (counts, data, succeeded) => {
    if (data.length === 0 || data.length % pairBytes !== 0) return;
    if (!succeeded) return counts.add(of.g2Checks);
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

const modexp: Counter = (counts, data, succeeded) => {
  if (succeeded) counts.add('PRECOMPILE_MODEXP_EFFECTIVE_CALLS');
  for (const at of [0, 32, 64]) {
    // Missing bytes read as zeros.
    const word = new Uint8Array(32);
    word.set(data.subarray(at, at + 32));
    if (bytesToBigInt(word) > SMALL_MODEXP_BYTES) return counts.add('PRECOMPILE_LARGE_MODEXP_EFFECTIVE_CALLS');
  }
};

const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Effective if v, r and s are in range, even if no address can be recovered. */
const ecrecover: Counter = (counts, data, succeeded) => {
  if (!succeeded || data.length === 0) return;
  const input = new Uint8Array(128);
  input.set(data.subarray(0, 128));
  const [v, r, s] = [32, 64, 96].map((at) => bytesToBigInt(input.subarray(at, at + 32))) as [bigint, bigint, bigint];
  const inRange = (n: bigint) => n > 0n && n < SECP256K1_ORDER;
  if ((v === 27n || v === 28n) && inRange(r) && inRange(s)) counts.add('PRECOMPILE_ECRECOVER_EFFECTIVE_CALLS');
};

const P256_VERIFY_BYTES = 160;

/** Counters by number of the standard address. @source docs/spec/fees.md 7 */
export const PRECOMPILE_LINES: ReadonlyMap<number, Counter> = new Map<number, Counter>([
  [0x01, ecrecover],
  [0x02, blocks('PRECOMPILE_SHA2_BLOCKS')],
  [0x03, blocks('PRECOMPILE_RIPEMD_BLOCKS')],
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
  [
    0x0a,
    curve('PRECOMPILE_BLS_POINT_EVALUATION_EFFECTIVE_CALLS', 'PRECOMPILE_POINT_EVALUATION_FAILURE_EFFECTIVE_CALLS'),
  ],
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
