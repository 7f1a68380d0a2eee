const HASH_BYTES: usize = 32;
/** Maximum number of paths at once. */
export const MAX_PATHS: i32 = 4;

/** The two hashes to combine for each path, and the resulting digests. */
const nodes: usize = memory.data(256, 16);
const digests: usize = memory.data(128, 16);

/**
 * Writes the nodes above leaves of binary trees to `output`, path by path, from the lowest level up: `levels` hashes
 * each.
 *
 * @param input - the hashes of the leaves; the siblings, path by path from the lowest level up; the positions of the
 *   leaves as 64-bit floats, in which bit `l` tells whether the path is right of its sibling at level `l`
 * @param count - number of paths, at most `MAX_PATHS`
 * @param hashMany - computes `count` hashes of inputs of one length, all concatenated
 */
export function climb(
  input: usize,
  count: i32,
  levels: i32,
  output: usize,
  hashMany: (inputs: usize, count: i32, length: usize, outputs: usize) => void,
): void {
  const paths = <usize>count;
  const height = <usize>levels * HASH_BYTES;
  const siblings = input + paths * HASH_BYTES;
  const positions = siblings + paths * height;
  for (let level = 0; level < levels; level++) {
    const at = <usize>level * HASH_BYTES;
    for (let i: usize = 0; i < paths; i++) {
      const node = nodes + 2 * HASH_BYTES * i;
      const path = level === 0 ? input + i * HASH_BYTES : output + i * height + at - HASH_BYTES;
      const right = <usize>((<u64>load<f64>(positions + 8 * i) >> level) & 1) * HASH_BYTES;
      memory.copy(node + right, path, HASH_BYTES);
      memory.copy(node + HASH_BYTES - right, siblings + i * height + at, HASH_BYTES);
    }
    hashMany(nodes, count, 2 * HASH_BYTES, digests);
    for (let i: usize = 0; i < paths; i++) {
      memory.copy(output + i * height + at, digests + i * HASH_BYTES, HASH_BYTES);
    }
  }
}
