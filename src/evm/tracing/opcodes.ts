import type { TraceLeave } from '../../kernel/evm.js';

/** Name, words taken, words put, and gas that is always charged first (from Berlin on), of each instruction that any fork has; runs of instructions by their first one. */
const TABLE: Readonly<Record<number, string>> = {
  0: 'STOP 0 0, ADD 2 1 3, MUL 2 1 5, SUB 2 1 3, DIV 2 1 5, SDIV 2 1 5, MOD 2 1 5, SMOD 2 1 5, ADDMOD 3 1 8, MULMOD 3 1 8, EXP 2 1, SIGNEXTEND 2 1 5',
  16: 'LT 2 1 3, GT 2 1 3, SLT 2 1 3, SGT 2 1 3, EQ 2 1 3, ISZERO 1 1 3, AND 2 1 3, OR 2 1 3, XOR 2 1 3, NOT 1 1 3, BYTE 2 1 3, SHL 2 1 3, SHR 2 1 3, SAR 2 1 3, CLZ 1 1 5',
  32: 'KECCAK256 2 1 30',
  48: 'ADDRESS 0 1 2, BALANCE 1 1 100, ORIGIN 0 1 2, CALLER 0 1 2, CALLVALUE 0 1 2, CALLDATALOAD 1 1 3, CALLDATASIZE 0 1 2, CALLDATACOPY 3 0 3, CODESIZE 0 1 2, CODECOPY 3 0 3, GASPRICE 0 1 2, EXTCODESIZE 1 1 100, EXTCODECOPY 4 0 100, RETURNDATASIZE 0 1 2, RETURNDATACOPY 3 0 3, EXTCODEHASH 1 1 100',
  64: 'BLOCKHASH 1 1 20, COINBASE 0 1 2, TIMESTAMP 0 1 2, NUMBER 0 1 2, DIFFICULTY 0 1 2, GASLIMIT 0 1 2, CHAINID 0 1 2, SELFBALANCE 0 1 5, BASEFEE 0 1 2, BLOBHASH 1 1 3, BLOBBASEFEE 0 1 2, SLOTNUM 0 1 2',
  80: 'POP 1 0 2, MLOAD 1 1 3, MSTORE 2 0 3, MSTORE8 2 0 3, SLOAD 1 1, SSTORE 2 0, JUMP 1 0 8, JUMPI 2 0 10, PC 0 1 2, MSIZE 0 1 2, GAS 0 1 2, JUMPDEST 0 0 1, TLOAD 1 1 100, TSTORE 2 0 100, MCOPY 3 0 3',
  230: 'DUPN 1 2 3, SWAPN 2 2 3, EXCHANGE 2 2 3',
  240: 'CREATE 3 1 32000, CALL 7 1 100, CALLCODE 7 1 100, RETURN 2 0, DELEGATECALL 6 1 100, CREATE2 4 1 32000',
  250: 'STATICCALL 6 1 100',
  253: 'REVERT 2 0, INVALID 0 0, SELFDESTRUCT 1 0 5000',
};

/** An instruction. */
export interface Opcode {
  readonly name: string;
  /** Words that it takes from the stack, or that it needs there. */
  readonly takes: number;
  readonly puts: number;
  /** What is charged before anything that depends on operands or state, from Berlin to Osaka. */
  readonly fixedGas: number;
}

const OPCODES: (Opcode | undefined)[] = new Array(256);
for (const [first, names] of Object.entries(TABLE)) {
  for (const [i, entry] of names.split(', ').entries()) {
    const [name, takes, puts, gas = 0] = entry.split(' ');
    OPCODES[Number(first) + i] = { name: name!, takes: Number(takes), puts: Number(puts), fixedGas: Number(gas) };
  }
}
for (let n = 0; n <= 32; n++) OPCODES[0x5f + n] = { name: `PUSH${n}`, takes: 0, puts: 1, fixedGas: n === 0 ? 2 : 3 };
for (let n = 1; n <= 16; n++) {
  OPCODES[0x7f + n] = { name: `DUP${n}`, takes: n, puts: n + 1, fixedGas: 3 };
  OPCODES[0x8f + n] = { name: `SWAP${n}`, takes: n + 1, puts: n + 1, fixedGas: 3 };
}
for (let n = 0; n <= 4; n++) OPCODES[0xa0 + n] = { name: `LOG${n}`, takes: n + 2, puts: 0, fixedGas: 0 };

/** @returns undefined for a byte that is an instruction in no fork */
export function opcodeOf(code: number): Opcode | undefined {
  return OPCODES[code];
}

const [CREATE, CREATE2] = [0xf0, 0xf5];
const CREATE_ACCESS = 12_000;

/** What is charged first for an instruction, from Berlin on. */
export function fixedGasOf(code: number, isAmsterdam: boolean): number {
  if (isAmsterdam && (code === CREATE || code === CREATE2)) return CREATE_ACCESS;
  return OPCODES[code]?.fixedGas ?? 0;
}

const MAX_STACK = 1024;
const [OUT_OF_GAS, STATIC_STATE_CHANGE] = [2, 7];
const [SSTORE, TSTORE, LOG0, LOG4] = [0x55, 0x5d, 0xa0, 0xa4];

type FailedFrame = Pick<TraceLeave, 'exception' | 'op' | 'stackItems' | 'rest' | 'immediate'>;

/** geth's texts, by the codes in assembly/evm/exceptions.ts; those that depend on the instruction are left out. */
const TEXTS: Readonly<Record<number, string>> = {
  1: 'execution reverted',
  2: 'out of gas',
  5: 'invalid jump destination',
  7: 'write protection',
  8: 'insufficient balance for transfer',
  9: 'max call depth exceeded',
  10: 'contract address collision',
  11: 'contract creation code storage out of gas',
  12: 'max code size exceeded',
  13: 'invalid code: must not begin with 0xef',
  14: 'max initcode size exceeded',
  15: 'nonce uint64 overflow',
  16: 'precompile failed',
  17: 'return data out of bounds',
};

/**
 * Why a frame failed, in the words of geth; undefined if it did not.
 *
 * @source docs/spec/preview.md 2.3
 */
export function failureText(frame: FailedFrame): string | undefined {
  const { exception, op, stackItems, rest, immediate } = frame;
  if (exception === 0) return undefined;
  // Gas is left, but SSTORE asks for more than it costs (EIP-2200).
  if (exception === OUT_OF_GAS && op === SSTORE && rest >= 0n)
    return `${TEXTS[OUT_OF_GAS]}: not enough gas for reentrancy sentry`;
  const opcode = opcodeOf(op);
  // geth looks for a static call as it computes the gas, once the fixed gas is paid; but for these two it looks after that.
  if (exception === STATIC_STATE_CHANGE && op !== TSTORE && (op < LOG0 || op > LOG4))
    return rest < BigInt(fixedGasOf(op, immediate !== undefined))
      ? TEXTS[OUT_OF_GAS]
      : `${TEXTS[OUT_OF_GAS]}: ${TEXTS[exception]}`;
  switch (exception) {
    case 3:
      return `stack underflow (${stackItems} <=> ${neededItems(frame)})`;
    case 4:
      return `stack limit reached ${stackItems} (${MAX_STACK + (opcode?.takes ?? 0) - (opcode?.puts ?? 0)})`;
    case 6:
      return `invalid opcode: ${opcode?.name ?? `opcode 0x${op.toString(16)} not defined`}${operandText(frame)}`;
    default:
      return TEXTS[exception] ?? 'internal error';
  }
}

/** Whether an instruction failed for lack of words that its immediate names, which is seen only as it is executed. */
export function lacksNamedItems({ exception, op, stackItems, immediate }: FailedFrame): boolean {
  return exception === 3 && immediate !== undefined && hasImmediate(op) && stackItems >= (opcodeOf(op)?.takes ?? 0);
}

/** Instructions that take the byte after them, from Amsterdam on (EIP-8024). */
const [DUPN, SWAPN, EXCHANGE] = [0xe6, 0xe7, 0xe8];
const hasImmediate = (op: number) => op >= DUPN && op <= EXCHANGE;

function operandText({ op, immediate }: FailedFrame): string {
  if (immediate === undefined || !hasImmediate(op)) return '';
  return ` (operand: 0x${immediate.toString(16).padStart(2, '0')})`;
}

/** Words that an instruction which failed for lack of them needs. Without the fewest that it may need, its immediate is not looked at. */
function neededItems(frame: FailedFrame): number {
  const { op, immediate = 0 } = frame;
  if (!lacksNamedItems(frame)) return opcodeOf(op)?.takes ?? 0;
  if (op === EXCHANGE) return deepestOfPair(immediate);
  return ((immediate + 145) % 256) + (op === SWAPN ? 1 : 0);
}

/** @source docs/spec/amsterdam.md 10 */
function deepestOfPair(immediate: number): number {
  const k = immediate ^ 143;
  const [q, r] = [k >> 4, k & 15];
  return 1 + (q < r ? r + 1 : Math.max(r + 1, 29 - q));
}
