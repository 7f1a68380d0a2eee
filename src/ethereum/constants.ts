import { hexToBytes } from '../primitives/hex.js';

/** Root of an empty Merkle-Patricia trie: keccak256(0x80). */
export const EMPTY_TRIE_ROOT: Uint8Array = hexToBytes(
  '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
);
/** keccak256 of the RLP of an empty list: a block without uncles. */
export const EMPTY_UNCLES_HASH: Uint8Array = hexToBytes(
  '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
);
/** keccak256 of no bytes: code hash of an account without code. */
export const EMPTY_CODE_HASH: Uint8Array = hexToBytes(
  '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
);
/** SHA-256 of no bytes: `requestsHash` of a block without requests. */
export const EMPTY_REQUESTS_HASH: Uint8Array = hexToBytes(
  '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
);
/** Maximum extra data of a header in bytes, Clique seals apart. */
export const MAX_EXTRA_DATA = 32;
/** Maximum nonce of an account, with which it cannot send any more (EIP-2681). */
export const MAX_NONCE: bigint = 2n ** 64n - 1n;

/** Contract that stores the hashes of recent blocks, 20 bytes. @source EIP-2935 */
export const HISTORY_CONTRACT: Uint8Array = hexToBytes('0x0000f90827f1c53a10cb7a02335b175320002935', 20);

/** Block hashes that it stores: the hash of block n is in slot n mod 8191. @source EIP-2935 */
export const HISTORY_WINDOW = 8191;

/** keccak256 of its code, 32 bytes. @source docs/spec/settled.md 3 */
export const HISTORY_CODE_HASH: Uint8Array = hexToBytes(
  '0x6e49e66782037c0555897870e29fa5e552daf4719552131a0abce779daec0a5d',
  32,
);

/** First byte of a blob hash (EIP-4844). */
export const BLOB_HASH_VERSION = 1;
