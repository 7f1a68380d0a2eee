/** Name, words taken and words put, of each instruction that any fork has; runs of instructions by their first one. */
const TABLE: Readonly<Record<number, string>> = {
  0: 'STOP 0 0, ADD 2 1, MUL 2 1, SUB 2 1, DIV 2 1, SDIV 2 1, MOD 2 1, SMOD 2 1, ADDMOD 3 1, MULMOD 3 1, EXP 2 1, SIGNEXTEND 2 1',
  16: 'LT 2 1, GT 2 1, SLT 2 1, SGT 2 1, EQ 2 1, ISZERO 1 1, AND 2 1, OR 2 1, XOR 2 1, NOT 1 1, BYTE 2 1, SHL 2 1, SHR 2 1, SAR 2 1, CLZ 1 1',
  32: 'KECCAK256 2 1',
  48: 'ADDRESS 0 1, BALANCE 1 1, ORIGIN 0 1, CALLER 0 1, CALLVALUE 0 1, CALLDATALOAD 1 1, CALLDATASIZE 0 1, CALLDATACOPY 3 0, CODESIZE 0 1, CODECOPY 3 0, GASPRICE 0 1, EXTCODESIZE 1 1, EXTCODECOPY 4 0, RETURNDATASIZE 0 1, RETURNDATACOPY 3 0, EXTCODEHASH 1 1',
  64: 'BLOCKHASH 1 1, COINBASE 0 1, TIMESTAMP 0 1, NUMBER 0 1, DIFFICULTY 0 1, GASLIMIT 0 1, CHAINID 0 1, SELFBALANCE 0 1, BASEFEE 0 1, BLOBHASH 1 1, BLOBBASEFEE 0 1',
  80: 'POP 1 0, MLOAD 1 1, MSTORE 2 0, MSTORE8 2 0, SLOAD 1 1, SSTORE 2 0, JUMP 1 0, JUMPI 2 0, PC 0 1, MSIZE 0 1, GAS 0 1, JUMPDEST 0 0, TLOAD 1 1, TSTORE 2 0, MCOPY 3 0',
  240: 'CREATE 3 1, CALL 7 1, CALLCODE 7 1, RETURN 2 0, DELEGATECALL 6 1, CREATE2 4 1',
  250: 'STATICCALL 6 1',
  253: 'REVERT 2 0, INVALID 0 0, SELFDESTRUCT 1 0',
};

/** An instruction. */
export interface Opcode {
  readonly name: string;
  /** Words that it takes from the stack, or that it needs there. */
  readonly takes: number;
  readonly puts: number;
}

const OPCODES: (Opcode | undefined)[] = new Array(256);
for (const [first, names] of Object.entries(TABLE)) {
  for (const [i, entry] of names.split(', ').entries()) {
    const [name, takes, puts] = entry.split(' ');
    OPCODES[Number(first) + i] = { name: name!, takes: Number(takes), puts: Number(puts) };
  }
}
for (let n = 0; n <= 32; n++) OPCODES[0x5f + n] = { name: `PUSH${n}`, takes: 0, puts: 1 };
for (let n = 1; n <= 16; n++) {
  OPCODES[0x7f + n] = { name: `DUP${n}`, takes: n, puts: n + 1 };
  OPCODES[0x8f + n] = { name: `SWAP${n}`, takes: n + 1, puts: n + 1 };
}
for (let n = 0; n <= 4; n++) OPCODES[0xa0 + n] = { name: `LOG${n}`, takes: n + 2, puts: 0 };

/** @returns undefined for a byte that is an instruction in no fork */
export function opcodeOf(code: number): Opcode | undefined {
  return OPCODES[code];
}
