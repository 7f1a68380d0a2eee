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

/** Names of the edits under which `verify` still accepts. Each edit is in place only until the next. */
export function acceptedUnder(edits: Iterable<string>, verify: Parameters<typeof outcome>[0]): string[] {
  const accepted: string[] = [];
  for (const name of edits) if (outcome(verify) === 'accepted') accepted.push(name);
  return accepted;
}

/** As `acceptedUnder`, but only where the verdict is another than the present one: edits of what is not checked are fine. */
export function changedUnder(edits: Iterable<string>, verify: Parameters<typeof outcome>[0]): string[] {
  const plain = (value: unknown) =>
    value instanceof Map ? [...value] : typeof value === 'bigint' ? `${value}n` : value;
  const show = () => JSON.stringify(verify(), (_, value) => plain(value));
  const truth = show();
  const changed: string[] = [];
  for (const name of edits) if (outcome(verify) === 'accepted' && show() !== truth) changed.push(name);
  return changed;
}
