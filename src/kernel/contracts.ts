/** The two hash functions of the zk state: `mimc` (BLS12-377) and `poseidon2` (KoalaBear), docs/spec/hashing.md. */
export type HashScheme = 'mimc' | 'poseidon2';

/** Bytes of every digest. */
export const DIGEST_BYTES = 32;

/**
 * A strict hash function of the zk state. Nothing is hashed and nothing returned when any input is irregular:
 * canonical input is a soundness check (docs/spec/state-trie.md 8), not a courtesy.
 */
export interface Hasher {
  readonly scheme: HashScheme;

  /**
   * Digest (32 bytes) of a byte string.
   *
   * @param input - mimc: a multiple of 32 bytes; poseidon2: a multiple of 4; every word canonical. Empty gives 32 zeros.
   * @throws PlumblineError `HASH_INPUT_LENGTH`, `HASH_INPUT_NOT_CANONICAL`
   */
  hash(input: Uint8Array): Uint8Array;

  /**
   * Digests, end to end, of many inputs of one length laid end to end. Same rules and results as `hash`, faster.
   *
   * @param inputBytes - length of one input, above zero; `inputs.length` is a multiple of it
   * @throws PlumblineError as `hash`; one bad input refuses them all
   */
  hashMany(inputs: Uint8Array, inputBytes: number): Uint8Array;

  /**
   * One compression: the running state (32 bytes) absorbs one block (32 bytes).
   *
   * @throws PlumblineError `HASH_INPUT_LENGTH`, `HASH_INPUT_NOT_CANONICAL`
   */
  compress(state: Uint8Array, block: Uint8Array): Uint8Array;

  /**
   * Hashes of the nodes above leaves of binary trees: the paths that branches prove. Several at once are faster.
   *
   * @param leaves - hashes of the leaves, 32 bytes each, end to end
   * @param positions - of each leaf among those of its level, below 2^53; the bits say on which side the path stands
   * @param siblings - path by path, from the lowest up, 32 bytes each, as many for each path
   * @returns the nodes in the same order
   * @throws PlumblineError `HASH_INPUT_LENGTH`, `HASH_INPUT_NOT_CANONICAL`
   */
  climb(leaves: Uint8Array, positions: readonly number[], siblings: Uint8Array): Uint8Array;
}

/** One loaded hash module: both schemes, and the bare Poseidon2 permutation. */
export interface HashKernel {
  readonly mimc: Hasher;
  readonly poseidon2: Hasher;

  /**
   * The Poseidon2 permutation of 16 big-endian words (64 bytes in, 64 bytes out), docs/spec/hashing.md 2.4.
   *
   * @throws PlumblineError `HASH_INPUT_LENGTH`, `HASH_INPUT_NOT_CANONICAL`
   */
  permutePoseidon2(words: Uint8Array): Uint8Array;
}

/** Largest input of the LZSS sizing, in bytes (docs/spec/compression.md 4.1). */
export const MAX_LZSS_INPUT = 262_144;

/**
 * Largest compression dictionary, in bytes, before FE FF may be appended. A dynamic reference reaches 2^21 bytes back, so
 * up to here every dictionary byte is in reach from every position of every input, as the format assumes.
 */
export const MAX_DICTIONARY: number = 2 ** 21 - MAX_LZSS_INPUT - 2;

/** How small bytes become in a blob, with one dictionary. Sizes only; nothing is compressed. */
export interface CalldataSizer {
  /**
   * Size in bytes of the LZSS stream, its 3-byte header included (docs/spec/compression.md 4).
   *
   * @throws PlumblineError `CALLDATA_TOO_LARGE` above 262 144 bytes
   */
  lzssSize(input: Uint8Array): number;

  /**
   * Size that the fee formula uses: stored instead when that is smaller, packed into 32-byte field elements; a positive
   * multiple of 32 (docs/spec/compression.md 6).
   *
   * @throws PlumblineError `CALLDATA_TOO_LARGE`
   */
  compressedTxSize(input: Uint8Array): number;
}

/** `auto` takes the SIMD build where the engine validates it, the scalar one elsewhere. Both give the same bytes. */
export type KernelBuild = 'auto' | 'simd' | 'scalar';

/** Which module of a kernel is loaded. */
export interface KernelOptions {
  build?: KernelBuild;
  /** The module's bytes, for those who ship the `.wasm` file themselves; the built-in copy when left out. */
  wasm?: ArrayBuffer | ArrayBufferView<ArrayBuffer>;
}
