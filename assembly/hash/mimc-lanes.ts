import { ELEMENT_BYTES } from '../field/bls12377';
import { roundsOfTwo } from '../field/bls12377-lanes';
import { ROUND_CONSTANTS } from './constants/mimc';
import { finish, ROUND_CONSTANTS_END, read, write } from './mimc-element';

/** Two MiMC hashes at once, one in each half of a SIMD vector (docs/spec/hashing.md 1). Used by the SIMD build only. */

const BLOCK_BYTES: usize = 32;

// The states and blocks, one element each, and the two values and states of the cipher, a pair each.
const state0: usize = memory.data(36, 16);
const state1: usize = memory.data(36, 16);
const block0: usize = memory.data(36, 16);
const block1: usize = memory.data(36, 16);
const value: usize = memory.data(36, 16);
const values: usize = memory.data(144, 16);
const states: usize = memory.data(144, 16);

/** Two digests, 32 bytes each, of canonical inputs of one length, a multiple of 32. Pointers may be equal. */
export function hashTwo(input0: usize, input1: usize, length: usize, output0: usize, output1: usize): void {
  memory.fill(state0, 0, ELEMENT_BYTES);
  memory.fill(state1, 0, ELEMENT_BYTES);
  for (let at: usize = 0; at < length; at += BLOCK_BYTES) {
    read(input0 + at, block0);
    read(input1 + at, block1);
    join(block0, block1, values);
    join(state0, state1, states);
    roundsOfTwo(values, states, ROUND_CONSTANTS, ROUND_CONSTANTS_END);
    take(values, block0, state0);
    take(values + 4, block1, state1);
  }
  write(state0, output0);
  write(state1, output1);
}

/** Combines two elements into a pair. */
function join(element0: usize, element1: usize, pair: usize): void {
  for (let limb: usize = 0; limb < ELEMENT_BYTES; limb += 4) {
    store<u32>(pair + (limb << 2), load<u32>(element0 + limb));
    store<u32>(pair + (limb << 2), load<u32>(element1 + limb), 4);
  }
}

/** Ends a compression with one value of the pair: the one whose lowest limb is at `half`. */
function take(half: usize, block: usize, state: usize): void {
  for (let limb: usize = 0; limb < ELEMENT_BYTES; limb += 4) store<u32>(value + limb, load<u32>(half + (limb << 2)));
  finish(value, block, state);
}
