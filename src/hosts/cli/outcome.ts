import { type ErrorCode, isPlumblineError, messageOf, type PlumblineError } from '../../errors.js';
import { bytesToHex } from '../../primitives/hex.js';
import { ProviderRpcError } from '../provider/provider-error.js';
import { EXIT } from './arguments.js';
import { printErrors, printJson } from './lines.js';

/** Errors that say that something was checked and is false. All others leave it open. */
const CHECKED: readonly ErrorCode[] = [
  'ANSWER_REFUSED',
  'EXECUTION_REVERTED',
  'EXECUTION_FAILED',
  'GAS_ALLOWANCE_EXCEEDED',
  'INSUFFICIENT_FUNDS',
  'UPFRONT_COST_EXCEEDS_BALANCE',
  'TRANSACTION_REJECTED',
  'TRANSACTION_TYPE_UNSUPPORTED',
  'MODULE_LIMIT_EXCEEDED',
  'CALLDATA_TOO_LARGE',
  'SIMULATION_REFUSED',
];

/**
 * Prints why a command has no answer: as text on standard error, or as one JSON object on standard output.
 *
 * @param error - what was thrown, as near to its origin as it is known
 * @returns 1 for something that was checked and is false, 2 for something that could not be checked
 */
export function reportFailure(error: unknown, json: boolean): number {
  if (!isPlumblineError(error) || !CHECKED.includes(error.code)) return reportUnchecked(error, json);
  if (json) printJson({ outcome: 'refused', error: shown(error) });
  else printErrors(`refused: ${error.message}${revertData(error, ', which returned ')}`);
  return EXIT.failed;
}

/** As `reportFailure`, of something that was not checked. @returns 2 */
export function reportUnchecked(error: unknown, json: boolean): number {
  if (json) printJson({ outcome: 'unknown', error: shown(error) });
  else printErrors(`could not check: ${messageOf(error)}`);
  return EXIT.usage;
}

/** What a call that reverted returned. */
function revertData(error: PlumblineError, before: string): string {
  if (!isPlumblineError(error, 'EXECUTION_REVERTED') || error.details.data.length === 0) return '';
  return before + bytesToHex(error.details.data);
}

function shown(error: unknown): unknown {
  const message = messageOf(error);
  if (error instanceof ProviderRpcError) return { code: error.code, message };
  if (!isPlumblineError(error)) return { message };
  const data = revertData(error, '');
  return { code: error.code, message, ...(data !== '' && { data }) };
}
