import { keccak256 } from './evm/keccak';

/** Entry of keccak.wasm: exports only. The input is behind everything else, so that the memory can grow with it. */
export const INPUT: usize = (__heap_base + 15) & ~15;
export const OUTPUT: usize = memory.data(32, 16);

/** Hashes `length` bytes at INPUT; the memory must have them. */
export function hash(length: usize): void {
  keccak256(INPUT, length, OUTPUT);
}
