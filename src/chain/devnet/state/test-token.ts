import { keccak256 } from '../../../kernel/keccak.js';
import { concatBytes } from '../../../primitives/bytes.js';
import type { Hex } from '../../../primitives/hex.js';

/** Address of the ERC-20 test token. */
export const TEST_TOKEN: Hex = '0x7e57c0de00000000000000000000000000007e57';

/** Storage slot of the test token's balance of `owner` (20 bytes): the mapping at slot 0. 32 bytes. */
export function tokenBalanceSlot(owner: Uint8Array): Uint8Array {
  return keccak256(concatBytes(new Uint8Array(12), owner, new Uint8Array(32)));
}
