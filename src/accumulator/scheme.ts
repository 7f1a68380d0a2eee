import type { HashScheme } from '../kernel/contracts.js';
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
