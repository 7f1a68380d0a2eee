import { FLAGS, type TraceEnter, type TraceLeave, type TraceRecord, type TraceStep } from '../../kernel/evm.js';
import { bytesToBigInt, bytesToKey } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { failureText, fixedGasOf, lacksNamedItems, opcodeOf } from './opcodes.js';
import type { Grow, Tracer } from './tracer.js';

/** Options of the list of instructions. */
export interface StructLogOptions {
  readonly disableStack?: boolean;
  readonly disableStorage?: boolean;
  readonly enableMemory?: boolean;
  readonly enableReturnData?: boolean;
  /** Most instructions in the list; all when left out. */
  readonly limit?: number;
}

/** One instruction, before it was executed. */
interface StructLog {
  readonly pc: number;
  readonly op: string;
  readonly gas: number;
  gasCost: number;
  /** From 1. */
  readonly depth: number;
  error?: string;
  readonly stack?: readonly string[];
  readonly returnData?: Hex;
  readonly memory?: readonly Hex[];
  storage?: Record<Hex, Hex>;
  refund?: number;
}

/** An instruction and what the list says of it, if it has room for it. */
interface Shown {
  readonly step: TraceStep;
  readonly log: StructLog;
  readonly isShown: boolean;
}

/** An open frame. */
interface Frame {
  /** Key of the account that executes. */
  readonly account: string;
  /** Its newest instruction, whose cost is known with its next one, or with its end. */
  last?: Shown | undefined;
  /** Gas that the newest call gave back, and gas that a creation was given. */
  returned: bigint;
  /** Of the gas of the newest call, what was spent for the state. It is now part of what this frame spent for it. */
  stateGas: bigint;
}

/** Where a frame is when the cost of its newest instruction is known. */
type Now = Pick<TraceStep, 'gas' | 'refund' | 'stateGas'>;

const [SLOAD, SSTORE, CALLCODE, DELEGATECALL, CREATE, CREATE2, SELFDESTRUCT] = [
  0x54, 0x55, 0xf2, 0xf4, 0xf0, 0xf5, 0xff,
];
/** What earns refunds. */
const EARNING: readonly number[] = [SSTORE, SELFDESTRUCT];
const isCreation = (op: number) => op === CREATE || op === CREATE2;
const REVERT = 1;
/** JSON of one instruction besides its lists; of a word of its stack on average; of a slot. */
const [STEP_CHARACTERS, WORD_CHARACTERS, SLOT_CHARACTERS] = [100, 20, 140];

/**
 * The list of all instructions.
 *
 * @source docs/spec/preview.md 5.3
 */
export function structLogger(options: StructLogOptions = {}): Tracer {
  const { limit = Number.POSITIVE_INFINITY } = options;
  const logs: StructLog[] = [];
  const frames: Frame[] = [];
  /** Slots that were read or written, by account. */
  const storage = new Map<string, Map<Hex, Hex>>();

  function settle(frame: Frame, now: Now, next: TraceStep | undefined, grow: Grow): void {
    const { last } = frame;
    if (last === undefined) return;
    frame.last = undefined;
    // State gas is no part of the cost.
    const stateGas = now.stateGas - last.step.stateGas - frame.stateGas;
    last.log.gasCost = Number(last.step.gas - now.gas + frame.returned - stateGas);
    if (EARNING.includes(last.step.op)) setRefund(last.log, now.refund);
    frame.returned = 0n;
    frame.stateGas = 0n;
    if (options.disableStorage !== true) noteSlot(frame, last, next, grow);
  }

  function noteSlot({ account }: Frame, { step, log, isShown }: Shown, next: TraceStep | undefined, grow: Grow): void {
    const { op, stack } = step;
    if (op !== SLOAD && op !== SSTORE) return;
    const value = op === SSTORE ? stack.at(-2) : next?.stack.at(-1);
    if (value === undefined) return;
    const slots = storage.get(account) ?? new Map<Hex, Hex>();
    storage.set(account, slots.set(bytesToHex(stack.at(-1)!), bytesToHex(value)));
    if (!isShown) return;
    grow(SLOT_CHARACTERS * slots.size);
    log.storage = Object.fromEntries(slots);
  }

  function step(record: TraceStep, grow: Grow): void {
    const frame = frames.at(-1)!;
    settle(frame, record, record, grow);
    const isShown = logs.length < limit;
    if (isShown) grow(charactersOf(record, options));
    const log = logOf(record, options);
    if (isShown) logs.push(log);
    frame.last = { step: record, log, isShown };
  }

  function enter({ op, caller, callee, gas }: TraceEnter): void {
    const parent = frames.at(-1);
    // A creation's own cost is without what it passes on.
    if (parent !== undefined && isCreation(op)) parent.returned = -BigInt(gas);
    const account = bytesToKey(op === DELEGATECALL || op === CALLCODE ? caller : callee);
    frames.push({ account, returned: 0n, stateGas: 0n });
  }

  function leave(record: TraceLeave, grow: Grow): void {
    const frame = frames.pop()!;
    const { exception, rest, refund } = record;
    const { last } = frame;
    if (last !== undefined && exception !== 0 && exception !== REVERT && last.step.pc === record.pc) {
      const { cost, error } = failedStep(last.step, record);
      last.log.gasCost = Number(cost);
      if (error !== undefined) last.log.error = error;
      if (EARNING.includes(last.step.op)) setRefund(last.log, record.refund);
      frame.last = undefined;
    }
    // What code costs that was deployed is no part of the last instruction, of which only SELFDESTRUCT takes state gas.
    const stateGas = last?.step.op === SELFDESTRUCT ? record.stateGas : (last?.step.stateGas ?? 0n);
    settle(frame, { gas: rest, refund, stateGas }, undefined, grow);
    const parent = frames.at(-1);
    if (parent === undefined) return;
    parent.returned += BigInt(record.gas);
    if (exception === 0) parent.stateGas += record.stateGas;
  }

  return {
    flags:
      FLAGS.calls |
      FLAGS.steps |
      (options.enableMemory ? FLAGS.memory : 0) |
      (options.enableReturnData ? FLAGS.returnData : 0),
    take(record: TraceRecord, grow) {
      if (record.kind === 'step') step(record, grow);
      else if (record.kind === 'enter') enter(record);
      else leave(record, grow);
    },
    result({ outcome }) {
      const earnedBefore = Number(outcome.authorizationRefund);
      if (earnedBefore > 0) for (const log of logs) log.refund = earnedBefore + (log.refund ?? 0);
      return {
        gas: Number(outcome.gasUsed),
        failed: !outcome.succeeded,
        returnValue: bytesToHex(outcome.returnData),
        structLogs: logs,
      };
    },
  };
}

/** A refund stands at the instruction that earns it. */
function setRefund(log: StructLog, refund: bigint): void {
  if (refund === 0n) delete log.refund;
  else log.refund = Number(refund);
}

function charactersOf({ stack, memory, returnData }: TraceStep, { disableStack }: StructLogOptions): number {
  return (
    STEP_CHARACTERS + (disableStack ? 0 : WORD_CHARACTERS * stack.length) + 2 * (memory.length + returnData.length)
  );
}

function logOf({ pc, op, gas, depth, stack, memory, returnData, refund }: TraceStep, options: StructLogOptions) {
  const log: StructLog = {
    pc,
    op: opcodeOf(op)?.name ?? `opcode 0x${op.toString(16)} not defined`,
    gas: Number(gas),
    gasCost: 0,
    depth: depth + 1,
    ...(options.disableStack !== true && { stack: stack.map((word) => `0x${bytesToBigInt(word).toString(16)}`) }),
    ...(memory.length > 0 && { memory: wordsOf(memory) }),
    ...(returnData.length > 0 && { returnData: bytesToHex(returnData) }),
    ...(refund !== 0n && { refund: Number(refund) }),
  };
  return log;
}

function wordsOf(memory: Uint8Array): Hex[] {
  return Array.from({ length: memory.length / 32 }, (_, i) => bytesToHex(memory.subarray(32 * i, 32 * (i + 1))));
}

/** What a list of instructions says of one that failed. */
export interface FailedStep {
  /** The cost that could not be paid, or that was paid in vain. */
  readonly cost: bigint;
  /** Undefined if the instruction was paid for, and failed as it was executed. */
  readonly error?: string | undefined;
}

/** Codes of assembly/evm/exceptions.ts. */
const [OUT_OF_GAS, UNDERFLOW, OVERFLOW, STATIC_STATE_CHANGE, INIT_CODE_TOO_LARGE] = [2, 3, 4, 7, 14];
const [TSTORE, LOG0, LOG4] = [0x5d, 0xa0, 0xa4];
const CALLS: readonly number[] = [0xf1, 0xf2, 0xf4, 0xfa];
/** No memory is larger: geth's limit, whose square is below 2^64. */
const MOST_MEMORY = 0x1f_ffff_ffe0n;
const MOST_INIT_CODE = 49_152;
/** From Amsterdam on. */
const MOST_INIT_CODE_LATER = 131_072;
/** What the instruction takes for a new account, from Amsterdam on with its fixed gas and besides the state gas. */
const NEW_ACCOUNT_GAS = 25_000n;
const NEW_ACCOUNT_GAS_LATER = 14_000n;

/**
 * As geth 1.17.10: it charges the fixed gas, then the rest of the price, and says an error only if it does not come to execute.
 */
export function failedStep(step: TraceStep, leave: TraceLeave): FailedStep {
  const { op, gas, stack } = step;
  const { exception, rest, stateGas } = leave;
  const isAmsterdam = leave.immediate !== undefined;
  const fixed = BigInt(fixedGasOf(op, isAmsterdam));
  const spent = gas - rest - stateGas;
  if (lacksNamedItems(leave)) return { cost: fixed };
  if (exception === UNDERFLOW || exception === OVERFLOW) return { cost: fixed, error: failureText(leave) };
  const isLate = op === TSTORE || (op >= LOG0 && op <= LOG4);
  const isEarly = exception === OUT_OF_GAS || exception === INIT_CODE_TOO_LARGE || exception === STATIC_STATE_CHANGE;
  if (!isEarly || (exception === STATIC_STATE_CHANGE && isLate)) return { cost: spent };
  if (gas < fixed) return { cost: fixed, error: 'out of gas' };
  const { end, length } = memoryOf(op, stack);
  const early = (cause: string): FailedStep => ({ cost: fixed, error: `out of gas: ${cause}` });
  if (end > 2n ** 64n - 32n) return { cost: fixed, error: 'gas uint64 overflow' };
  if (exception === STATIC_STATE_CHANGE) return early('write protection');
  if (op === SSTORE && rest >= 0n) return early('not enough gas for reentrancy sentry');
  if (end > MOST_MEMORY && !CALLS.includes(op)) return early('gas uint64 overflow');
  const mostCode = isAmsterdam ? MOST_INIT_CODE_LATER : MOST_INIT_CODE;
  if (isCreation(op) && length > mostCode)
    return early(`max initcode size exceeded: code size ${length} limit ${mostCode}`);
  // The state gas of a creation is charged as it is executed.
  if (isCreation(op) && stateGas > 0n) return { cost: spent };
  if (CALLS.includes(op)) return early('out of gas');
  if (op === SELFDESTRUCT && spent < (isAmsterdam ? NEW_ACCOUNT_GAS_LATER : NEW_ACCOUNT_GAS))
    return { ...early('out of gas'), ...(isAmsterdam && { cost: spent }) };
  // The kernel does not price memory that no gas pays for.
  if (end < FAR) return { cost: spent, error: 'out of gas' };
  const paid = rest >= 0n && spent > fixed ? spent : fixed;
  const grown = memoryGas(stackWordsOf(end)) - memoryGas(stackWordsOf(BigInt(leave.memoryBytes)));
  return { cost: paid + grown + lengthGas(op, length), error: 'out of gas' };
}

/** Where memory ends of which the kernel gives no price. */
const FAR = 2n ** 32n;
const stackWordsOf = (bytes: bigint) => (bytes + 31n) / 32n;
const memoryGas = (words: bigint) => 3n * words + words ** 2n / 512n;

/** Places of the words, from the top, that give offset and length of the memory that an instruction uses, by the instruction. */
const REGIONS: Readonly<Record<number, readonly (readonly [offset: number, length: number | bigint])[]>> = {
  32: [[0, 1]], // KECCAK256
  55: [[0, 2]], // CALLDATACOPY
  57: [[0, 2]], // CODECOPY
  60: [[1, 3]], // EXTCODECOPY
  62: [[0, 2]], // RETURNDATACOPY
  81: [[0, 32n]], // MLOAD
  82: [[0, 32n]], // MSTORE
  83: [[0, 1n]], // MSTORE8
  94: [
    [0, 2],
    [1, 2],
  ], // MCOPY
  160: [[0, 1]], // LOG0 to LOG4
  161: [[0, 1]],
  162: [[0, 1]],
  163: [[0, 1]],
  164: [[0, 1]],
  240: [[1, 2]], // CREATE
  241: [
    [3, 4],
    [5, 6],
  ], // CALL
  242: [
    [3, 4],
    [5, 6],
  ], // CALLCODE
  243: [[0, 1]], // RETURN
  244: [
    [2, 3],
    [4, 5],
  ], // DELEGATECALL
  245: [[1, 2]], // CREATE2
  250: [
    [2, 3],
    [4, 5],
  ], // STATICCALL
  253: [[0, 1]], // REVERT
};

/** Where the memory of an instruction ends, and the length of its first region. */
function memoryOf(op: number, stack: readonly Uint8Array[]): { readonly end: bigint; readonly length: bigint } {
  const word = (place: number) => bytesToBigInt(stack[stack.length - 1 - place]!);
  let end = 0n;
  let first: bigint | undefined;
  for (const [offset, given] of REGIONS[op] ?? []) {
    const length = typeof given === 'bigint' ? given : word(given);
    first ??= length;
    const last = length === 0n ? 0n : word(offset) + length;
    if (last > end) end = last;
  }
  return { end, length: first ?? 0n };
}

/** What an instruction costs for each byte or word that it is given. */
function lengthGas(op: number, length: bigint): bigint {
  if (op === 0x20) return 6n * stackWordsOf(length);
  if (op >= LOG0 && op <= LOG4) return 375n * BigInt(op - LOG0 + 1) + 8n * length;
  return op === 0x37 || op === 0x39 || op === 0x3c || op === 0x3e || op === 0x5e ? 3n * stackWordsOf(length) : 0n;
}
