import { PlumblineError } from '../errors.js';
import { keccak256 } from '../kernel/keccak.js';
import type { RecoverPublicKey } from '../kernel/recovery.js';

const ADDRESS_AT = 12;

let recover: RecoverPublicKey | undefined;
let loading: Promise<void> | undefined;

/**
 * Loads the kernel of secp256k1, which must be there before the first `signerOf`. A load that failed is tried again.
 *
 * @throws PlumblineError `KERNEL_UNAVAILABLE`
 */
export function loadSignerRecovery(): Promise<void> {
  loading ??= import('../kernel/recovery.js')
    .then(async ({ loadRecovery }) => {
      recover = await loadRecovery();
    })
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

/**
 * Address of the key that signed, 20 bytes. Parameters and what is undefined as in `RecoverPublicKey`.
 *
 * @throws PlumblineError `INVALID_LENGTH`; `KERNEL_UNAVAILABLE` before `loadSignerRecovery()` has ended
 */
export function signerOf(...signature: Parameters<RecoverPublicKey>): Uint8Array | undefined {
  if (recover === undefined) {
    const reason = 'await loadSignerRecovery() before a signer is recovered';
    throw new PlumblineError('KERNEL_UNAVAILABLE', `the kernel secp256k1 is not loaded: ${reason}`, {
      kernel: 'secp256k1',
      reason,
    });
  }
  const key = recover(...signature);
  return key && keccak256(key).subarray(ADDRESS_AT);
}
