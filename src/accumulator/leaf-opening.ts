import { PlumblineError } from '../errors.js';
import type { HashScheme } from '../kernel/contracts.js';
import { bigIntToBytes, concatBytes, copyBytes } from '../primitives/bytes.js';
import { encodeInt, schemeFormat, TAIL_POSITION, ZERO_HASH } from './scheme.js';

/** Content of a used leaf: positions of its neighbours in `hkey` order, and the hashes of key and value. */
export interface LeafOpening {
  readonly prevLeaf: number;
  readonly nextLeaf: number;
  /** 32 bytes, canonical. */
  readonly hkey: Uint8Array;
  /** 32 bytes, canonical. */
  readonly hval: Uint8Array;
}

/** A leaf position or `nextFreeNode` in a hash input: 32 bytes (mimc) or 64 (poseidon2). */
export function encodeIndex(scheme: HashScheme, index: number): Uint8Array {
  return encodeInt(scheme, bigIntToBytes(BigInt(index), 32));
}

/** `enc(prev) || enc(next) || hkey || hval`: 128 bytes (mimc) or 192 (poseidon2). */
export function encodeLeaf(scheme: HashScheme, leaf: LeafOpening): Uint8Array {
  return concatBytes(encodeIndex(scheme, leaf.prevLeaf), encodeIndex(scheme, leaf.nextLeaf), leaf.hkey, leaf.hval);
}

/** `enc(nextFreeNode) || subRoot`, whose hash is the top root: 64 bytes (mimc) or 96 (poseidon2). */
export function encodeTop(scheme: HashScheme, nextFreeNode: number, subRoot: Uint8Array): Uint8Array {
  return concatBytes(encodeIndex(scheme, nextFreeNode), subRoot);
}

/**
 * Decodes an index.
 *
 * @returns undefined if it is not the encoding of an integer below 2^53: for poseidon2 a word above 16 bits, for both a
 *   value that is too large
 */
export function decodeIndex(scheme: HashScheme, bytes: Uint8Array): number | undefined {
  const step = scheme === 'mimc' ? 1 : 4;
  let value = 0;
  for (let i = 0; i < bytes.length; i += step) {
    if (step === 4 && (bytes[i] !== 0 || bytes[i + 1] !== 0)) return undefined;
    const word = step === 1 ? bytes[i]! : bytes[i + 2]! * 256 + bytes[i + 3]!;
    value = value * (step === 1 ? 256 : 65_536) + word;
    if (value > Number.MAX_SAFE_INTEGER) return undefined;
  }
  return value;
}

/**
 * Decodes a leaf opening.
 *
 * @returns undefined if a position is not an index (see `decodeIndex`)
 * @throws PlumblineError `INVALID_LENGTH`
 */
export function decodeLeaf(scheme: HashScheme, bytes: Uint8Array): LeafOpening | undefined {
  const { indexBytes, leafBytes } = schemeFormat(scheme);
  if (bytes.length !== leafBytes) {
    throw new PlumblineError(
      'INVALID_LENGTH',
      `a ${scheme} leaf opening must have ${leafBytes} bytes, got ${bytes.length}`,
      {
        what: 'leaf opening',
        expected: String(leafBytes),
        actual: bytes.length,
      },
    );
  }
  const prevLeaf = decodeIndex(scheme, bytes.subarray(0, indexBytes));
  const nextLeaf = decodeIndex(scheme, bytes.subarray(indexBytes, 2 * indexBytes));
  if (prevLeaf === undefined || nextLeaf === undefined) return undefined;
  const hkey = copyBytes(bytes, 2 * indexBytes, 2 * indexBytes + 32);
  return { prevLeaf, nextLeaf, hkey, hval: copyBytes(bytes, 2 * indexBytes + 32) };
}

/** The leaf at position 0 of an empty trie: key and value zero. */
export function headLeaf(): LeafOpening {
  return { prevLeaf: 0, nextLeaf: TAIL_POSITION, hkey: ZERO_HASH, hval: ZERO_HASH };
}

/** The leaf at position 1 of an empty trie: the largest key, value zero. */
export function tailLeaf(scheme: HashScheme): LeafOpening {
  return { prevLeaf: 0, nextLeaf: TAIL_POSITION, hkey: schemeFormat(scheme).tailKey, hval: ZERO_HASH };
}
