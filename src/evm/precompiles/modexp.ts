import { PlumblineError } from '../../errors.js';
import { bigIntToBytes, bytesToBigInt } from '../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import type { Pieces } from '../../scheduling/pieces.js';
import type { Rules } from '../common.js';
import type { Output } from './work.js';

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
export function modexpGas(input: Uint8Array, rules: Rules): bigint | undefined {
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
export function* runModexp(input: Uint8Array): Pieces<Output> {
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
