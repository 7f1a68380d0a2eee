import { bigIntToBytes, concatBytes } from '../../../src/primitives/bytes.js';
import { hexToBytes } from '../../../src/primitives/hex.js';
import type { Below } from '../random-opcodes.js';

/** Opcodes by the names that the generators use. */
export const OP = {
  STOP: 0x00,
  KECCAK256: 0x20,
  ADDRESS: 0x30,
  BALANCE: 0x31,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  CALLDATACOPY: 0x37,
  CODESIZE: 0x38,
  CODECOPY: 0x39,
  EXTCODESIZE: 0x3b,
  EXTCODECOPY: 0x3c,
  RETURNDATASIZE: 0x3d,
  RETURNDATACOPY: 0x3e,
  EXTCODEHASH: 0x3f,
  BLOCKHASH: 0x40,
  SELFBALANCE: 0x47,
  BLOBHASH: 0x49,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  MSTORE8: 0x53,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  PC: 0x58,
  MSIZE: 0x59,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  TLOAD: 0x5c,
  TSTORE: 0x5d,
  MCOPY: 0x5e,
  DUP1: 0x80,
  SWAP1: 0x90,
  LOG0: 0xa0,
  CREATE: 0xf0,
  CALL: 0xf1,
  CALLCODE: 0xf2,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  CREATE2: 0xf5,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
  SELFDESTRUCT: 0xff,
} as const;

export type Part = Uint8Array | number;

/** Joins opcodes and bytes. */
export function code(...parts: readonly Part[]): Uint8Array {
  return concatBytes(...parts.map((part) => (typeof part === 'number' ? Uint8Array.of(part) : part)));
}

/** PUSH1 to PUSH32, the shortest for a value; never PUSH0, which older forks do not have. */
export function push(value: bigint | number): Uint8Array {
  const digits = BigInt(value).toString(16);
  const length = Math.max(1, Math.ceil(digits.length / 2));
  return code(0x5f + length, bigIntToBytes(BigInt(value), length));
}

export function pushAddress(address: string): Uint8Array {
  return code(0x73, hexToBytes(address, 20));
}

/** Writes bytes to memory, a word at a time. What follows them up to the end of the word becomes zero. */
export function store(at: number, bytes: Uint8Array): Uint8Array {
  const parts: Part[] = [];
  for (let from = 0; from < bytes.length; from += 32) {
    const word = new Uint8Array(32);
    word.set(bytes.subarray(from, from + 32));
    parts.push(0x7f, word, push(at + from), OP.MSTORE);
  }
  return code(...parts);
}

export function pick<T>(below: Below, items: readonly T[]): T {
  return items[below(items.length)]!;
}
