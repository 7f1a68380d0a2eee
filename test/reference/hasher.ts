import { PlumblineError } from '../../src/errors.js';
import type { Hasher, HashScheme } from '../../src/kernel/contracts.js';
import { bigIntToBytes, bytesToBigInt, concatBytes, padStart } from '../../src/primitives/bytes.js';
import { BLS12_377_MODULUS, KOALABEAR_MODULUS } from './field.js';
import { mimcCompress } from './mimc.js';
import { poseidon2Compress } from './poseidon2.js';

const BLOCK_BYTES = 32;

interface Recipe {
  /** Bytes of one field element. */
  readonly wordBytes: number;
  readonly modulus: bigint;
  compress(state: Uint8Array, block: Uint8Array): Uint8Array;
}

const RECIPES: Record<HashScheme, Recipe> = {
  mimc: {
    wordBytes: 32,
    modulus: BLS12_377_MODULUS,
    compress: (state, block) => bigIntToBytes(mimcCompress(bytesToBigInt(state), bytesToBigInt(block)), 32),
  },
  poseidon2: {
    wordBytes: 4,
    modulus: KOALABEAR_MODULUS,
    compress(state, block) {
      const words = poseidon2Compress(wordsOf(state, 4), wordsOf(block, 4));
      return concatBytes(...words.map((word) => bigIntToBytes(word, 4)));
    },
  },
};

function wordsOf(bytes: Uint8Array, size: number): bigint[] {
  const words: bigint[] = [];
  for (let at = 0; at < bytes.length; at += size) words.push(bytesToBigInt(bytes.subarray(at, at + size)));
  return words;
}

/** `Hasher.climb` by single hashes, for hashers that wrap another `hash`. */
export function climbWith(
  hash: (input: Uint8Array) => Uint8Array,
  leaves: Uint8Array,
  positions: readonly number[],
  siblings: Uint8Array,
): Uint8Array {
  const height = siblings.length / (positions.length || 1);
  const nodes = positions.flatMap((position, i) => {
    const path: Uint8Array[] = [];
    let node = leaves.subarray(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES);
    let rest = position;
    for (let at = i * height; at < (i + 1) * height; at += BLOCK_BYTES, rest = Math.floor(rest / 2)) {
      const sibling = siblings.subarray(at, at + BLOCK_BYTES);
      node = hash(rest % 2 === 1 ? concatBytes(sibling, node) : concatBytes(node, sibling));
      path.push(node);
    }
    return path;
  });
  return concatBytes(...nodes);
}

/** The zk state's hash functions in plain bigint: slow, short, and what the kernels are tested against. */
export function referenceHasher(scheme: HashScheme): Hasher {
  const { wordBytes, modulus, compress } = RECIPES[scheme];

  function check(input: Uint8Array, regular: boolean): void {
    if (!regular) {
      const message = `${input.length} bytes are not an input of ${scheme}`;
      throw new PlumblineError('HASH_INPUT_LENGTH', message, { scheme, length: input.length });
    }
    if (wordsOf(input, wordBytes).some((word) => word >= modulus)) {
      throw new PlumblineError('HASH_INPUT_NOT_CANONICAL', `a word of the ${scheme} input is not below the modulus`, {
        scheme,
      });
    }
  }

  function hash(input: Uint8Array): Uint8Array {
    check(input, input.length % wordBytes === 0);
    let state: Uint8Array = new Uint8Array(BLOCK_BYTES);
    for (let at = 0; at < input.length; at += BLOCK_BYTES) {
      state = compress(state, padStart(input.subarray(at, at + BLOCK_BYTES), BLOCK_BYTES));
    }
    return state;
  }

  return {
    scheme,
    hash,
    hashMany(inputs, inputBytes) {
      check(inputs, inputBytes > 0 && inputBytes % wordBytes === 0 && inputs.length % inputBytes === 0);
      const digests: Uint8Array[] = [];
      for (let at = 0; at < inputs.length; at += inputBytes) digests.push(hash(inputs.subarray(at, at + inputBytes)));
      return concatBytes(...digests);
    },
    compress(state, block) {
      for (const input of [state, block]) check(input, input.length === BLOCK_BYTES);
      return compress(state, block);
    },
    climb(leaves, positions, siblings) {
      const levels = siblings.length / BLOCK_BYTES / (positions.length || 1);
      check(leaves, leaves.length === positions.length * BLOCK_BYTES);
      check(siblings, Number.isInteger(levels) && levels <= 53);
      return climbWith(hash, leaves, positions, siblings);
    },
  };
}
