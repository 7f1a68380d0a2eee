import type { Rules } from '../common.js';
import type { TransactionMessage } from './transaction-message.js';

/** Gas of the simplest transaction. */
export const TRANSACTION_GAS = 21_000n;

/** Maximum init code of a creation from Shanghai on, bytes (EIP-3860). */
export const MAX_INIT_CODE_BYTES = 49_152;

/** Refund for an authorization if the authority's account exists (EIP-7702). */
export const EXISTING_AUTHORITY_REFUND = 12_500n;

/** Divisor of the gas used that bounds the refund: one fifth (EIP-3529), one half before London. */
export function refundQuotient(rules: Pick<Rules, 'london'>): bigint {
  return rules.london ? 5n : 2n;
}

const CREATION_GAS = 32_000n;
const ZERO_BYTE_GAS = 4n;
const OTHER_BYTE_GAS = 16n;
const OTHER_BYTE_GAS_BEFORE_ISTANBUL = 68n;
const INIT_CODE_WORD_GAS = 2n;
const ACCESS_LIST_ADDRESS_GAS = 2_400n;
const ACCESS_LIST_KEY_GAS = 1_900n;
const AUTHORIZATION_GAS = 25_000n;
const FLOOR_ZERO_BYTE_GAS = 10n;
const FLOOR_OTHER_BYTE_GAS = 40n;

function countBytes(data: Uint8Array): { zero: bigint; other: bigint } {
  let zero = 0;
  for (const byte of data) if (byte === 0) zero++;
  return { zero: BigInt(zero), other: BigInt(data.length - zero) };
}

/** Gas used before the first instruction (EIP-2, EIP-2028, EIP-2930, EIP-3860, EIP-7702). */
export function intrinsicGas(message: TransactionMessage, rules: Rules): bigint {
  const { zero, other } = countBytes(message.data);
  const otherByteGas = rules.istanbul ? OTHER_BYTE_GAS : OTHER_BYTE_GAS_BEFORE_ISTANBUL;
  let gas = TRANSACTION_GAS + ZERO_BYTE_GAS * zero + otherByteGas * other;
  if (message.to === undefined) {
    if (rules.homestead) gas += CREATION_GAS;
    if (rules.shanghai) gas += INIT_CODE_WORD_GAS * BigInt(Math.ceil(message.data.length / 32));
  }
  for (const { storageKeys } of message.accessList ?? []) {
    gas += ACCESS_LIST_ADDRESS_GAS + ACCESS_LIST_KEY_GAS * BigInt(storageKeys.length);
  }
  return gas + AUTHORIZATION_GAS * BigInt(message.authorizationList?.length ?? 0);
}

/** Minimum gas for a transaction with this data (EIP-7623); zero before Prague. */
export function dataFloorGas(message: TransactionMessage, rules: Rules): bigint {
  if (!rules.prague) return 0n;
  const { zero, other } = countBytes(message.data);
  return TRANSACTION_GAS + FLOOR_ZERO_BYTE_GAS * zero + FLOOR_OTHER_BYTE_GAS * other;
}
