import { isPlumblineError } from '../../src/errors.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { parseBlockTraces } from '../../src/state/trace.js';
import { checkTraces } from '../../src/state/trace-check.js';

/** Outcome of checking blocks on the wire: `holds`, the reason of the verdict, or the code of the error. */
export function outcome(hasher: Hasher, parentRoot: string, blocks: unknown, order = false): string {
  try {
    const verdict = checkTraces(hasher, hexToBytes(parentRoot, 32), parseBlockTraces(blocks), { order });
    return verdict.verified ? 'holds' : verdict.reason;
  } catch (error) {
    if (isPlumblineError(error, 'TRACE_MALFORMED')) return error.code;
    throw error;
  }
}
