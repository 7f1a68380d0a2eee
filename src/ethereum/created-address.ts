import { RLP } from '@ethereumjs/rlp';
import { keccak256 } from '../kernel/keccak.js';
import { bigIntToMinimalBytes } from '../primitives/bytes.js';

/**
 * Address of the contract that a creation makes, 20 bytes. Nodes also put it into the receipt of a failed creation.
 *
 * @param creation - `from` is 20 bytes
 * @source yellow paper, section 7
 */
export function createdAddress({ from, nonce }: { readonly from: Uint8Array; readonly nonce: bigint }): Uint8Array {
  return keccak256(RLP.encode([from, bigIntToMinimalBytes(nonce)])).slice(12);
}
