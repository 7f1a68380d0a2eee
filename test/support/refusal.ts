import { isPlumblineError } from '../../src/errors.js';

/** Reason of a refusal, `PROOF_MALFORMED` for one that was thrown, `accepted` otherwise. Other errors pass through. */
export function outcome(verify: () => { verified: true } | { verified: false; reason: string; at: string }): string {
  try {
    const verdict = verify();
    return verdict.verified ? 'accepted' : verdict.reason;
  } catch (error) {
    if (isPlumblineError(error, 'PROOF_MALFORMED')) return error.code;
    throw error;
  }
}
