import { hexToBytes } from '../primitives/hex.js';

/** Contract that stores the hashes of recent blocks, 20 bytes. @source EIP-2935 */
export const HISTORY_CONTRACT: Uint8Array = hexToBytes('0x0000f90827f1c53a10cb7a02335b175320002935', 20);

/** Block hashes that it stores: the hash of block n is in slot n mod 8191. @source EIP-2935 */
export const HISTORY_WINDOW = 8191;

/** keccak256 of its code, 32 bytes. @source docs/spec/settled.md 3 */
export const HISTORY_CODE_HASH: Uint8Array = hexToBytes(
  '0x6e49e66782037c0555897870e29fa5e552daf4719552131a0abce779daec0a5d',
  32,
);
