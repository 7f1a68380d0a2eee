import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bigIntToMinimalBytes } from '../primitives/bytes.js';

/**
 * Where a creation puts its contract, 20 bytes. Nodes name the place in the receipt of one that failed as well.
 *
 * @param creation - `from` has 20 bytes
 * @source yellow paper, section 7
 */
export function createdAddress({ from, nonce }: { readonly from: Uint8Array; readonly nonce: bigint }): Uint8Array {
  return keccak_256(RLP.encode([from, bigIntToMinimalBytes(nonce)])).slice(12);
}
