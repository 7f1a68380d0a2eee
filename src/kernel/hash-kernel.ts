/**
 * The hash functions of the zk state on an instance of either module that has them, assembly/hash.ts or assembly/trie.ts
 * (docs/spec/hashing.md). Input is written into one region of its memory, digests are read from another. What is longer than the
 * region goes through in pieces. `hasher.ts` loads the module of hashes, which a node with tries never needs.
 */

import { PlumblineError } from '../errors.js';
import {
  DIGEST_BYTES,
  type ExportedNumber,
  type Hasher,
  type HashKernel,
  type HashScheme,
  type LinearMemory,
} from './contracts.js';

/** Levels of a path: bits of a position that a number can hold. */
const MAX_LEVELS = 53;
/** `MAX_PATHS` of assembly/hash/climb.ts. */
const PATHS_AT_ONCE = 4;

/**
 * Exports of assembly/hash.ts, which assembly/trie.ts has too. Functions that return a number return 0 if a word is not
 * below the modulus, else 1.
 */
export interface HashExports {
  readonly memory: LinearMemory;
  readonly INPUT: ExportedNumber;
  readonly INPUT_BYTES: ExportedNumber;
  readonly OUTPUT: ExportedNumber;
  readonly OUTPUT_BYTES: ExportedNumber;
  mimcHash(length: number): number;
  mimcHashMany(count: number, length: number): number;
  mimcCompress(): number;
  mimcClimb(count: number, levels: number): number;
  mimcStart(): void;
  mimcAbsorb(length: number): number;
  mimcDigest(): void;
  poseidon2Hash(length: number): number;
  poseidon2HashMany(count: number, length: number): number;
  poseidon2Compress(): number;
  poseidon2Climb(count: number, levels: number): number;
  poseidon2Start(): void;
  poseidon2Absorb(length: number): number;
  poseidon2Digest(): void;
  poseidon2Permute(): number;
}

/** The functions of one scheme. */
interface SchemeExports {
  readonly wordBytes: number;
  hash(length: number): number;
  hashMany(count: number, length: number): number;
  compress(): number;
  climb(count: number, levels: number): number;
  start(): void;
  absorb(length: number): number;
  digest(): void;
}

/** Both schemes of an instance. The memory of that instance must never grow. */
export function hashKernelOf(wasm: HashExports): HashKernel {
  const regions = new Regions(wasm);
  return {
    mimc: new KernelHasher('mimc', regions, {
      wordBytes: 32,
      hash: wasm.mimcHash,
      hashMany: wasm.mimcHashMany,
      compress: wasm.mimcCompress,
      climb: wasm.mimcClimb,
      start: wasm.mimcStart,
      absorb: wasm.mimcAbsorb,
      digest: wasm.mimcDigest,
    }),
    poseidon2: new KernelHasher('poseidon2', regions, {
      wordBytes: 4,
      hash: wasm.poseidon2Hash,
      hashMany: wasm.poseidon2HashMany,
      compress: wasm.poseidon2Compress,
      climb: wasm.poseidon2Climb,
      start: wasm.poseidon2Start,
      absorb: wasm.poseidon2Absorb,
      digest: wasm.poseidon2Digest,
    }),
    permutePoseidon2(words) {
      if (words.length !== 2 * DIGEST_BYTES) throw badLength('poseidon2', words.length);
      regions.input.set(words);
      if (wasm.poseidon2Permute() === 0) throw notCanonical('poseidon2');
      return regions.output.slice(0, 2 * DIGEST_BYTES);
    },
  };
}

/** Views of the module's input and output. They stay valid, because its memory never grows. */
class Regions {
  readonly input: Uint8Array;
  readonly output: Uint8Array;
  /** View of the input for numbers. */
  readonly numbers: DataView;

  constructor(wasm: HashExports) {
    this.numbers = new DataView(wasm.memory.buffer, wasm.INPUT.value, wasm.INPUT_BYTES.value);
    this.input = new Uint8Array(wasm.memory.buffer, wasm.INPUT.value, wasm.INPUT_BYTES.value);
    this.output = new Uint8Array(wasm.memory.buffer, wasm.OUTPUT.value, wasm.OUTPUT_BYTES.value);
  }
}

class KernelHasher implements Hasher {
  readonly scheme: HashScheme;
  readonly #regions: Regions;
  readonly #wasm: SchemeExports;

  constructor(scheme: HashScheme, regions: Regions, wasm: SchemeExports) {
    this.scheme = scheme;
    this.#regions = regions;
    this.#wasm = wasm;
  }

  hash(input: Uint8Array): Uint8Array {
    const { input: region, output } = this.#regions;
    if (input.length % this.#wasm.wordBytes !== 0) throw badLength(this.scheme, input.length);
    if (input.length <= region.length) {
      region.set(input);
      this.#requireCanonical(this.#wasm.hash(input.length));
    } else this.#hashInPieces(input);
    return output.slice(0, DIGEST_BYTES);
  }

  hashMany(inputs: Uint8Array, inputBytes: number): Uint8Array {
    const { input: region, output } = this.#regions;
    const count = inputs.length / inputBytes;
    if (inputBytes <= 0 || inputBytes % this.#wasm.wordBytes !== 0 || !Number.isInteger(count)) {
      throw badLength(this.scheme, inputBytes);
    }
    const digests = new Uint8Array(count * DIGEST_BYTES);
    const atOnce = Math.min(Math.floor(region.length / inputBytes), output.length / DIGEST_BYTES);
    for (let first = 0, done = 0; first < count; first += done) {
      done = Math.max(1, Math.min(atOnce, count - first));
      const piece = inputs.subarray(first * inputBytes, (first + done) * inputBytes);
      if (atOnce === 0) this.#hashInPieces(piece);
      else {
        region.set(piece);
        this.#requireCanonical(this.#wasm.hashMany(done, inputBytes));
      }
      digests.set(output.subarray(0, done * DIGEST_BYTES), first * DIGEST_BYTES);
    }
    return digests;
  }

  compress(state: Uint8Array, block: Uint8Array): Uint8Array {
    for (const { length } of [state, block]) if (length !== DIGEST_BYTES) throw badLength(this.scheme, length);
    this.#regions.input.set(state);
    this.#regions.input.set(block, DIGEST_BYTES);
    this.#requireCanonical(this.#wasm.compress());
    return this.#regions.output.slice(0, DIGEST_BYTES);
  }

  climb(leaves: Uint8Array, positions: readonly number[], siblings: Uint8Array): Uint8Array {
    const { length: count } = positions;
    const height = count === 0 ? siblings.length : siblings.length / count;
    const levels = height / DIGEST_BYTES;
    if (leaves.length !== count * DIGEST_BYTES) throw badLength(this.scheme, leaves.length);
    if (!Number.isInteger(levels) || levels > MAX_LEVELS) throw badLength(this.scheme, siblings.length);
    const { input, output, numbers } = this.#regions;
    const paths = new Uint8Array(siblings.length);
    for (let first = 0; first < count; first += PATHS_AT_ONCE) {
      const batch = positions.slice(first, first + PATHS_AT_ONCE);
      const [from, to] = [first * height, (first + batch.length) * height];
      const at = batch.length * DIGEST_BYTES;
      input.set(leaves.subarray(first * DIGEST_BYTES, first * DIGEST_BYTES + at));
      input.set(siblings.subarray(from, to), at);
      for (let i = 0; i < batch.length; i++) numbers.setFloat64(at + to - from + 8 * i, batch[i]!, true);
      this.#requireCanonical(this.#wasm.climb(batch.length, levels));
      paths.set(output.subarray(0, to - from), from);
    }
    return paths;
  }

  /** Hashes an input longer than the region; the digest is in the output. The region holds a whole number of blocks. */
  #hashInPieces(input: Uint8Array): void {
    const { input: region } = this.#regions;
    this.#wasm.start();
    for (let at = 0; at < input.length; at += region.length) {
      const piece = input.subarray(at, at + region.length);
      region.set(piece);
      this.#requireCanonical(this.#wasm.absorb(piece.length));
    }
    this.#wasm.digest();
  }

  #requireCanonical(status: number): void {
    if (status === 0) throw notCanonical(this.scheme);
  }
}

function badLength(scheme: HashScheme, length: number): PlumblineError<'HASH_INPUT_LENGTH'> {
  return new PlumblineError(
    'HASH_INPUT_LENGTH',
    `an input of ${scheme} cannot have ${length} bytes; pad it to whole words`,
    { scheme, length },
  );
}

function notCanonical(scheme: HashScheme): PlumblineError<'HASH_INPUT_NOT_CANONICAL'> {
  const message = `a word of the ${scheme} input is not below the modulus`;
  return new PlumblineError('HASH_INPUT_NOT_CANONICAL', message, { scheme });
}
