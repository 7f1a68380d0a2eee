import { concatBytes } from '../../primitives/bytes.js';

const PREFIX = Uint8Array.of(0xef, 0x01, 0x00);
const DELEGATION_BYTES = 23;

/** Whether byte code is a delegation to another account's code (EIP-7702). */
export function isDelegation(code: Uint8Array): boolean {
  return code.length === DELEGATION_BYTES && PREFIX.every((byte, i) => code[i] === byte);
}

/** Byte code of a delegation. @param address - 20 bytes */
export function delegationTo(address: Uint8Array): Uint8Array {
  return concatBytes(PREFIX, address);
}

/** Address that a delegation names, 20 bytes. */
export function delegateOf(delegation: Uint8Array): Uint8Array {
  return delegation.subarray(PREFIX.length);
}
