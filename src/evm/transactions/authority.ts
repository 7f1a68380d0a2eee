import { type Address, eoaCode7702RecoverAuthority } from '@ethereumjs/util';
import { bigIntToMinimalBytes } from '../../primitives/bytes.js';
import type { Authorization } from '../../primitives/call-request.js';

const HALF_CURVE_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** The account that signed an authorization; undefined if the signature is invalid. */
export function authorityOf({ chainId, address, nonce, yParity, r, s }: Authorization): Address | undefined {
  if (s > HALF_CURVE_ORDER || s === 0n || r === 0n || yParity > 1n) return undefined;
  const int = bigIntToMinimalBytes;
  try {
    return eoaCode7702RecoverAuthority([int(chainId), address, int(nonce), int(yParity), int(r), int(s)]);
  } catch {
    return undefined;
  }
}
