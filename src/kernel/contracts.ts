import { PlumblineError } from '../errors.js';

/** The two hash functions of the zk state: `mimc` (BLS12-377) and `poseidon2` (KoalaBear), docs/spec/hashing.md. */
export type HashScheme = 'mimc' | 'poseidon2';

/** Length of every digest in bytes. */
export const DIGEST_BYTES = 32;

/**
 * A strict hash function of the zk state. If any input is not canonical, nothing is hashed: this is required for
 * soundness (docs/spec/state-trie.md 8).
 */
export interface Hasher {
  readonly scheme: HashScheme;

  /**
   * Digest (32 bytes) of a byte string.
   *
   * @param input - mimc: a multiple of 32 bytes; poseidon2: a multiple of 4; every word canonical. An empty input gives
   *   32 zero bytes.
   * @throws PlumblineError `HASH_INPUT_LENGTH`, `HASH_INPUT_NOT_CANONICAL`
   */
  hash(input: Uint8Array): Uint8Array;

  /**
   * Digests of many inputs of one length. Inputs and digests are concatenated. Rules and results are the same as for `hash`, but this
   * is faster.
   *
   * @param inputBytes - length of one input, above zero; `inputs.length` must be a multiple of it
   * @throws PlumblineError as `hash`; if one input is invalid, nothing is hashed
   */
  hashMany(inputs: Uint8Array, inputBytes: number): Uint8Array;

  /**
   * One compression: the state (32 bytes) absorbs one block (32 bytes).
   *
   * @throws PlumblineError `HASH_INPUT_LENGTH`, `HASH_INPUT_NOT_CANONICAL`
   */
  compress(state: Uint8Array, block: Uint8Array): Uint8Array;

  /**
   * Hashes of the nodes on the paths from leaves of binary trees upwards, as proved by branches. Several paths at once
   * are faster.
   *
   * @param leaves - hashes of the leaves, 32 bytes each, concatenated
   * @param positions - of each leaf within its level, below 2^53; the bits give the side at each level
   * @param siblings - path by path, from the lowest level up, 32 bytes each; as many for each path
   * @returns the nodes in the same order
   * @throws PlumblineError `HASH_INPUT_LENGTH`, `HASH_INPUT_NOT_CANONICAL`
   */
  climb(leaves: Uint8Array, positions: readonly number[], siblings: Uint8Array): Uint8Array;
}

/** A loaded hash module: both schemes, and the bare Poseidon2 permutation. */
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

/** Maximum input of LZSS sizing in bytes (docs/spec/compression.md 4.1). */
export const MAX_LZSS_INPUT = 262_144;

/**
 * Maximum length of a compression dictionary in bytes, before FE FF may be appended. A dynamic reference reaches 2^21
 * bytes back. Up to this length, every dictionary byte is within reach from every position of every input, as the
 * format assumes.
 */
export const MAX_DICTIONARY: number = 2 ** 21 - MAX_LZSS_INPUT - 2;

/** Computes compressed sizes of transactions in a blob, with one dictionary. It does not compress. */
export interface CalldataSizer {
  /**
   * Size in bytes of the LZSS stream, its 3-byte header included (docs/spec/compression.md 4).
   *
   * @throws PlumblineError `CALLDATA_TOO_LARGE` above 262 144 bytes
   */
  lzssSize(input: Uint8Array): number;

  /**
   * Size for the fee formula: LZSS or stored, whichever is smaller, packed into 32-byte field elements. A positive
   * multiple of 32 (docs/spec/compression.md 6).
   *
   * @throws PlumblineError `CALLDATA_TOO_LARGE`
   */
  compressedTxSize(input: Uint8Array): number;
}

/*
 * What kernels use of WebAssembly. The types of the DOM library have it, but programs of Node compile without that library, and the
 * declarations of this package with them.
 */

/** A compiled module: a `WebAssembly.Module`. */
export type CompiledModule = object;

/** Linear memory: a `WebAssembly.Memory`. */
export interface LinearMemory {
  readonly buffer: ArrayBuffer;
  /** @param pages - of 64 KiB. @throws RangeError for want of memory */
  grow(pages: number): number;
}

/** An exported number, such as the place of a region: a `WebAssembly.Global`. */
export interface ExportedNumber {
  readonly value: number;
}

/** `auto` uses the SIMD build if the engine supports it, else the scalar build. Both give the same bytes. */
export type KernelBuild = 'auto' | 'simd' | 'scalar';

/** Chooses the module of a kernel. */
export interface KernelOptions {
  build?: KernelBuild;
  /** The module's bytes, for hosts that ship the `.wasm` file themselves. Default: the built-in copy. */
  wasm?: ArrayBuffer | ArrayBufferView<ArrayBuffer>;
}

/** @throws PlumblineError `OUT_OF_RANGE` for a dictionary that is too large */
export function requireDictionaryFits({ length }: Uint8Array): void {
  if (length <= MAX_DICTIONARY) return;
  throw new PlumblineError('OUT_OF_RANGE', `a dictionary must have at most ${MAX_DICTIONARY} bytes, got ${length}`, {
    what: 'dictionary',
    value: String(length),
    limit: `${MAX_DICTIONARY} bytes`,
  });
}
