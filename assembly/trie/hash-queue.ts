import { hashTwo } from '../hash/mimc-lanes';
import { hashFour } from '../hash/poseidon2-lanes';
import { hashBytes, MAX_LEAF_BYTES, usesMimc } from './format';

/**
 * Collects independent hashes, so that Poseidon2 fills its four SIMD lanes and MiMC its two. Between two calls of
 * `flush` all inputs must have one length, and no input may be the output of another.
 */

const LANES: i32 = 4;
const MIMC_LANES: i32 = 2;
const inputs: usize = memory.data(16, 16);
const outputs: usize = memory.data(16, 16);
const encodings: usize = memory.data(768, 16);
const spare: usize = memory.data(32, 16);

let pending: i32 = 0;
let done: u64 = 0;
let idle: u64 = 0;

/** Compressions whose result was used, since the start. */
export function compressions(): f64 {
  return <f64>done;
}

/** Compressions in lanes without work, since the start. */
export function idleCompressions(): f64 {
  return <f64>idle;
}

/** Address for an input that is built before `enqueue`; it stays there until it is hashed. */
export function encodingSlot(): usize {
  return encodings + <usize>pending * MAX_LEAF_BYTES;
}

export function enqueue(input: usize, length: usize, output: usize): void {
  done += length >> 5;
  if (ASC_FEATURE_SIMD) {
    const slot = (<usize>pending) << 2;
    store<u32>(inputs + slot, <u32>input);
    store<u32>(outputs + slot, <u32>output);
    if (++pending === (usesMimc ? MIMC_LANES : LANES)) flush(length);
    return;
  }
  hashBytes(input, length, output);
}

/** Hashes the pending inputs. Using two lanes of four costs less than two single hashes. */
export function flush(length: usize): void {
  if (ASC_FEATURE_SIMD) {
    if (pending === 1) hashBytes(load<u32>(inputs), length, load<u32>(outputs));
    else if (usesMimc && pending === MIMC_LANES) {
      hashTwo(load<u32>(inputs), load<u32>(inputs, 4), length, load<u32>(outputs), load<u32>(outputs, 4));
    } else if (pending > 1) {
      for (; pending < LANES; pending++) {
        store<u32>(inputs + ((<usize>pending) << 2), load<u32>(inputs));
        store<u32>(outputs + ((<usize>pending) << 2), <u32>spare);
        idle += length >> 5;
      }
      hashFour(
        load<u32>(inputs),
        load<u32>(inputs, 4),
        load<u32>(inputs, 8),
        load<u32>(inputs, 12),
        length,
        load<u32>(outputs),
        load<u32>(outputs, 4),
        load<u32>(outputs, 8),
        load<u32>(outputs, 12),
      );
    }
    pending = 0;
  }
}
