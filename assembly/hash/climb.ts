const HASH_BYTES: usize = 32;

/** Two hashes side by side. */
const node: usize = memory.data(64, 16);

/**
 * Writes the nodes above a leaf of a binary tree to `output`, from the lowest: 32 bytes each, `levels` of them.
 *
 * @param input - the hash of the leaf, then the siblings from the lowest up
 * @param position - of the leaf; bit `l` says whether the path stands right of its sibling at level `l`
 * @param hashBytes - hash of `length` bytes at one address to another
 */
export function climb(
  input: usize,
  levels: i32,
  position: u64,
  output: usize,
  hashBytes: (input: usize, length: usize, output: usize) => void,
): void {
  let path = input;
  let sibling = input + HASH_BYTES;
  for (; levels > 0; levels--, position >>= 1) {
    const right = <usize>(position & 1) * HASH_BYTES;
    memory.copy(node + right, path, HASH_BYTES);
    memory.copy(node + HASH_BYTES - right, sibling, HASH_BYTES);
    hashBytes(node, 2 * HASH_BYTES, output);
    path = output;
    output += HASH_BYTES;
    sibling += HASH_BYTES;
  }
}
