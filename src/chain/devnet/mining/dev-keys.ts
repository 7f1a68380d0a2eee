import { invalidParameter } from '../../../errors.js';
import { bytesToHex, hexToBytes } from '../../../primitives/hex.js';
import { DEV_ACCOUNTS } from '../state/dev-accounts.js';

const KEYS = new Map(DEV_ACCOUNTS.map(({ address, privateKey }) => [address as string, privateKey]));

/** A signature over secp256k1, with the parity of its point's y coordinate. */
export interface RecoverableSignature {
  readonly yParity: number;
  readonly r: bigint;
  readonly s: bigint;
}

/** Whether an account (20 bytes) is one of the dev accounts. */
export function hasDevKey(address: Uint8Array): boolean {
  return KEYS.has(bytesToHex(address));
}

/**
 * Signs a hash (32 bytes) with the key of a dev account (20 bytes).
 *
 * @throws PlumblineError `INVALID_PARAMETER` for another account
 */
export async function signWithDevKey(address: Uint8Array, hash: Uint8Array): Promise<RecoverableSignature> {
  const key = KEYS.get(bytesToHex(address));
  if (key === undefined) throw invalidParameter('address', 'is not a dev account; sign with one of DEV_ACCOUNTS');
  // The curve is large, and few nodes sign.
  const { secp256k1 } = await import('@noble/curves/secp256k1.js');
  const bytes = secp256k1.sign(hash, hexToBytes(key), { prehash: false, format: 'recovered' });
  const { recovery, r, s } = secp256k1.Signature.fromBytes(bytes, 'recovered');
  return { yParity: recovery!, r, s };
}
