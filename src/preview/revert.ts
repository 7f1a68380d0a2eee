import { solidityReason } from '../evm/tracing/solidity-reason.js';
import type { TransactionOutcome } from '../evm/transactions/transaction-message.js';
import { bytesToBigInt } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { CustomErrors } from './custom-errors.js';
import type { PreviewedRevert } from './preview.js';

const ERROR = '0x08c379a0';
const PANIC = '0x4e487b71';

/** Why a call failed. @source docs/spec/preview.md 7 */
export function revertOf({ exception, returnData }: TransactionOutcome, errors: CustomErrors): PreviewedRevert {
  const data = bytesToHex(returnData);
  if (exception !== 'revert') return { kind: 'halt', data };
  if (returnData.length < 4) return { kind: 'empty', data };
  const [selector, text] = [bytesToHex(returnData.subarray(0, 4)), solidityReason(returnData)];
  if (selector === ERROR && text !== undefined) return { kind: 'Error', text, data };
  if (selector === PANIC && text !== undefined) {
    const code = toQuantity(bytesToBigInt(returnData.subarray(4, 36)));
    return { kind: 'Panic', code, text, data };
  }
  return { kind: 'custom', selector, ...errors.describe(returnData), data };
}
