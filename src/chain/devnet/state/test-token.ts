import { abiAddress, mappingSlot } from '../../../ethereum/abi.js';
import type { Hex } from '../../../primitives/hex.js';

/** Address of the ERC-20 test token. */
export const TEST_TOKEN: Hex = '0x7e57c0de00000000000000000000000000007e57';

/**
 * Storage slot of the test token's balance of `owner` (20 bytes): the mapping at slot 0. 32 bytes.
 *
 * @example
 * ```ts
 * import { TEST_TOKEN, tokenBalanceSlot } from 'plumbline-l2';
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { bytesToHex, hexToBytes } from 'plumbline-l2/verify';
 *
 * const node = await createInlineNode();
 * const owner = hexToBytes('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266');
 * const params = [TEST_TOKEN, bytesToHex(tokenBalanceSlot(owner)), 'latest'] as const;
 * BigInt(await node.request({ method: 'eth_getStorageAt', params })) > 0n; // => true
 * await node.close();
 * ```
 */
export function tokenBalanceSlot(owner: Uint8Array): Uint8Array {
  return mappingSlot(abiAddress(owner), 0n);
}
