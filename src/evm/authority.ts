import { RLP } from '@ethereumjs/rlp';
import { loadSignerRecovery, signerOf } from '../ethereum/signer.js';
import { keccak256 } from '../kernel/keccak.js';
import { bigIntToBytes, bigIntToMinimalBytes, concatBytes } from '../primitives/bytes.js';
import type { Authorization } from '../primitives/call-request.js';

const HALF_CURVE_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/** Stands before the RLP that is hashed. */
const MAGIC = Uint8Array.of(5);

/**
 * The account that signed an authorization, 20 bytes; undefined if the signature is invalid.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 * @source EIP-7702
 */
export async function authorityOf(authorization: Authorization): Promise<Uint8Array | undefined> {
  const { chainId, address, nonce, yParity, r, s, authority } = authorization;
  if (authority !== undefined) return authority;
  if (s > HALF_CURVE_ORDER || s === 0n || r === 0n || r >> 256n !== 0n || yParity > 1n) return undefined;
  await loadSignerRecovery();
  const signed = RLP.encode([bigIntToMinimalBytes(chainId), address, bigIntToMinimalBytes(nonce)]);
  const hash = keccak256(concatBytes(MAGIC, signed));
  return signerOf(hash, bigIntToBytes(r, 32), bigIntToBytes(s, 32), yParity === 1n ? 1 : 0);
}
