/** Flag in the first half-byte of an encoded path. */
export const LEAF_FLAG = 2;

/** Half-bytes of a key. */
export function nibblesOf(key: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(2 * key.length);
  for (let i = 0; i < key.length; i++) {
    nibbles[2 * i] = key[i]! >> 4;
    nibbles[2 * i + 1] = key[i]! & 15;
  }
  return nibbles;
}

/**
 * Encodes the path of a leaf or an extension: a half-byte of flags, one of padding if the path is even, then the path.
 *
 * @param path - half-bytes
 * @source yellow paper, appendix C
 */
export function compactPath(path: Uint8Array, isLeaf: boolean): Uint8Array {
  const odd = path.length % 2;
  const compact = new Uint8Array(1 + (path.length - odd) / 2);
  compact[0] = ((isLeaf ? LEAF_FLAG : 0) + odd) * 16 + (odd === 1 ? path[0]! : 0);
  for (let i = odd, at = 1; i < path.length; i += 2) compact[at++] = path[i]! * 16 + path[i + 1]!;
  return compact;
}
