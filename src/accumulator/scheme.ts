import type { HashScheme } from '../kernel/contracts.js';
import { padStart } from '../primitives/bytes.js';
import { hexToBytes } from '../primitives/hex.js';

/** Levels between the leaves and the sub root. */
export const TREE_DEPTH = 40;
/** Number of leaf positions of a trie. */
export const MAX_LEAVES = 2 ** TREE_DEPTH;
/** Leaf before all keys. */
export const HEAD_POSITION = 0;
/** Leaf after all keys. */
export const TAIL_POSITION = 1;
/** `nextFreeNode` of an empty trie: head and tail use 0 and 1. */
export const FIRST_FREE_NODE = 2;

/** 32 zero bytes. Must not be modified. */
export const ZERO_HASH: Uint8Array = new Uint8Array(32);

/**
 * The parts of the trie format that depend on the hash scheme (docs/spec/state-trie.md 1). `indexBytes` is the length
 * of an encoded leaf position, `leafBytes` of a leaf opening, `topBytes` of the top node.
 */
export interface SchemeFormat {
  readonly scheme: HashScheme;
  readonly indexBytes: number;
  readonly leafBytes: number;
  readonly topBytes: number;
  readonly tailKey: Uint8Array;
  /** Top root of an empty trie: the storage root of an account without storage. */
  readonly emptyRoot: Uint8Array;
  /** zkCodeHash of an account without code, H(32 zero bytes). */
  readonly emptyCodeHash: Uint8Array;
}

const FORMATS: Record<HashScheme, SchemeFormat> = {
  mimc: {
    scheme: 'mimc',
    indexBytes: 32,
    leafBytes: 128,
    topBytes: 64,
    tailKey: hexToBytes('0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000000'),
    emptyRoot: hexToBytes('0x07977874126658098c066972282d4c85f230520af3847e297fe7524f976873e5'),
    emptyCodeHash: hexToBytes('0x0134373b65f439c874734ff51ea349327c140cde2e47a933146e6f9f2ad8eb17'),
  },
  poseidon2: {
    scheme: 'poseidon2',
    indexBytes: 64,
    leafBytes: 192,
    topBytes: 96,
    tailKey: hexToBytes(`0x${'7f000000'.repeat(8)}`),
    emptyRoot: hexToBytes('0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7'),
    emptyCodeHash: hexToBytes('0x0656ab853b3f52840362a8177e217b630c3f876b11e848365145aa24220647fc'),
  },
};

/**
 * Format of a hash scheme.
 *
 * @example
 * ```ts
 * import { bytesToHex, schemeFormat } from 'plumbline-l2/hash';
 *
 * bytesToHex(schemeFormat('poseidon2').emptyCodeHash); // => '0x0656ab853b3f52840362a8177e217b630c3f876b11e848365145aa24220647fc'
 * ```
 */
export function schemeFormat(scheme: HashScheme): SchemeFormat {
  return FORMATS[scheme];
}

/**
 * Ethereum values in the form of hash inputs (docs/spec/hashing.md 3): poseidon2 writes every two bytes into a 4-byte
 * word; mimc splits values into 16-byte halves, one 32-byte block each.
 */

/** Every 2 bytes become the 4-byte word `00 00 xx yy`. The length of `bytes` must be even. */
function spreadWords(bytes: Uint8Array, into: Uint8Array, offset: number): void {
  for (let i = 0, at = offset; i < bytes.length; i += 2, at += 4) {
    into[at + 2] = bytes[i]!;
    into[at + 3] = bytes[i + 1]!;
  }
}

/** `int(n)`: a 32-byte big-endian integer, 32 bytes (mimc) or 64 (poseidon2). */
export function encodeInt(scheme: HashScheme, value: Uint8Array): Uint8Array {
  return scheme === 'mimc' ? value : encodeFull(scheme, value);
}

/** `full(v)`: 32 arbitrary bytes, 64 bytes in both schemes; for mimc the low half comes first. */
export function encodeFull(scheme: HashScheme, value: Uint8Array): Uint8Array {
  const encoded = new Uint8Array(64);
  if (scheme === 'mimc') {
    encoded.set(value.subarray(16, 32), 16);
    encoded.set(value.subarray(0, 16), 48);
  } else spreadWords(value, encoded, 0);
  return encoded;
}

/** An address of 20 bytes: 32 bytes (mimc) or 40 (poseidon2). */
export function encodeAddress(scheme: HashScheme, address: Uint8Array): Uint8Array {
  const encoded = new Uint8Array(scheme === 'mimc' ? 32 : 40);
  if (scheme === 'mimc') encoded.set(address, 12);
  else spreadWords(address, encoded, 0);
  return encoded;
}

/**
 * Byte code of any length. Poseidon2 spreads it; an odd last 16-byte chunk gets a leading zero byte. Mimc makes each
 * chunk a block, with leading zeros (docs/spec/hashing.md 3.1, 3.2). Empty stays empty.
 */
export function encodeCode(scheme: HashScheme, code: Uint8Array): Uint8Array {
  const lastAt = code.length - (code.length % 16);
  const last = code.subarray(lastAt);
  if (scheme === 'poseidon2') {
    const encoded = new Uint8Array(2 * lastAt + 4 * Math.ceil(last.length / 2));
    spreadWords(code.subarray(0, lastAt), encoded, 0);
    spreadWords(padStart(last, last.length + (last.length % 2)), encoded, 2 * lastAt);
    return encoded;
  }
  const encoded = new Uint8Array(32 * Math.ceil(code.length / 16));
  for (let at = 0; at < lastAt; at += 16) encoded.set(code.subarray(at, at + 16), 2 * at + 16);
  encoded.set(last, encoded.length - last.length);
  return encoded;
}
