import * as mimc from '../hash/mimc';
import * as poseidon2 from '../hash/poseidon2';

/**
 * The parts of a trie that depend on the hash scheme (docs/spec/state-trie.md 1). One instance of the module serves one
 * scheme.
 */

export const DEPTH: i32 = 40;
export const HASH_BYTES: usize = 32;
export const NODE_BYTES: usize = 64;
/** Maximum length of a leaf opening and of a top node. */
export const MAX_LEAF_BYTES: usize = 192;
export const MAX_TOP_BYTES: usize = 96;

export let usesMimc: bool = false;
/** Length of an encoded leaf position. */
export let indexBytes: usize = 0;
export let leafBytes: usize = 0;
export let topBytes: usize = 0;

/** The largest key: modulus minus one, or eight words of it. */
const MIMC_TAIL_KEY: usize = memory.data<u8>([
  0x12, 0xab, 0x65, 0x5e, 0x9a, 0x2c, 0xa5, 0x56, 0x60, 0xb4, 0x4d, 0x1e, 0x5c, 0x37, 0xb0, 0x01, 0x59, 0xaa, 0x76,
  0xfe, 0xd0, 0x00, 0x00, 0x01, 0x0a, 0x11, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00,
]);
const POSEIDON2_TAIL_KEY: usize = memory.data<u8>([
  0x7f, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00,
  0x00, 0x7f, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00, 0x00,
]);

/** Hashes of empty subtrees by level 0 to 40, 32 bytes each. */
const empties: usize = memory.data(1312, 16);
export let tailKey: usize = 0;

/** Chooses the scheme and computes the hashes of empty subtrees. */
export function useScheme(isMimc: bool): void {
  usesMimc = isMimc;
  indexBytes = isMimc ? 32 : 64;
  leafBytes = 2 * indexBytes + 64;
  topBytes = indexBytes + 32;
  const pair = memory.data(64, 16);
  for (let level = 0; level < DEPTH; level++) {
    memory.copy(pair, emptyHash(level), HASH_BYTES);
    memory.copy(pair + HASH_BYTES, emptyHash(level), HASH_BYTES);
    hashBytes(pair, NODE_BYTES, emptyHash(level + 1));
  }
  tailKey = isMimc ? MIMC_TAIL_KEY : POSEIDON2_TAIL_KEY;
}

/** Hash of an empty subtree of `level`. */
export function emptyHash(level: i32): usize {
  return empties + ((<usize>level) << 5);
}

export function hashBytes(input: usize, length: usize, output: usize): void {
  if (usesMimc) mimc.hashBytes(input, length, output);
  else poseidon2.hashBytes(input, length, output);
}

/** @param length - a multiple of 32 */
export function isCanonical(input: usize, length: usize): bool {
  return usesMimc ? mimc.isCanonical(input, length) : poseidon2.isCanonical(input, length);
}

/** Encodes a leaf position or nextFreeNode for a hash input. */
export function writeIndex(index: u32, to: usize): void {
  memory.fill(to, 0, indexBytes);
  const end = to + indexBytes;
  if (usesMimc) store<u32>(end - 4, bswap(index));
  else {
    store<u32>(end - 8, bswap(index >>> 16));
    store<u32>(end - 4, bswap(index & 0xffff));
  }
}

/** `enc(nextFreeNode) || subRoot`. */
export function writeTop(nextFreeNode: u32, subRoot: usize, to: usize): void {
  writeIndex(nextFreeNode, to);
  memory.copy(to + indexBytes, subRoot, HASH_BYTES);
}

export function sameHash(a: usize, b: usize): bool {
  return (
    load<u64>(a) === load<u64>(b) &&
    load<u64>(a, 8) === load<u64>(b, 8) &&
    load<u64>(a, 16) === load<u64>(b, 16) &&
    load<u64>(a, 24) === load<u64>(b, 24)
  );
}
