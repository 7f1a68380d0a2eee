import { requireLength } from '../primitives/bytes.js';
import type { ExportedNumber, LinearMemory } from './contracts.js';
import { instantiate, type KernelSource } from './instantiate.js';
import { wasm } from './wasm/blake2f.generated.js';

/** Length of the input: rounds (4, big-endian), state (64), message (128), counter (16), whether it is the last block (1). */
export const BLAKE2F_BYTES = 213;

/**
 * The compression function F of BLAKE2b. It takes about a millisecond from one `yield` to the next; runs that wait there do not
 * disturb each other.
 *
 * @param input - `BLAKE2F_BYTES`, the last 0 or 1
 * @returns 64 bytes
 * @throws PlumblineError `INVALID_LENGTH`
 * @source EIP-152
 */
export type Blake2f = (input: Uint8Array) => Generator<undefined, Uint8Array, undefined>;

/** Exports of assembly/blake2f.ts. */
interface Blake2fExports {
  readonly memory: LinearMemory;
  readonly REGION: ExportedNumber;
  readonly REGION_BYTES: ExportedNumber;
  readonly INPUT: ExportedNumber;
  start(): void;
  /** Returns 1 once the output is at `REGION`, else 0. */
  mix(most: number): number;
}

/** The module uses no SIMD, so both builds are the same. */
const text = async () => ({ wasm });
const SOURCE: KernelSource = { name: 'blake2f', simd: text, scalar: text };

/** Rounds that take about a millisecond. */
const PIECE_ROUNDS = 50_000;
const OUTPUT_BYTES = 64;

/** @throws PlumblineError `KERNEL_UNAVAILABLE` */
export async function loadBlake2f(): Promise<Blake2f> {
  const kernel = await instantiate<Blake2fExports>(SOURCE);
  const region = new Uint8Array(kernel.memory.buffer, kernel.REGION.value, kernel.REGION_BYTES.value);
  const inputAt = kernel.INPUT.value - kernel.REGION.value;
  return function* compress(input) {
    requireLength('input', input, BLAKE2F_BYTES);
    region.set(input, inputAt);
    kernel.start();
    while (kernel.mix(PIECE_ROUNDS) === 0) {
      const kept = region.slice();
      yield;
      region.set(kept);
    }
    return region.slice(0, OUTPUT_BYTES);
  };
}
