import { FLAGS, type TraceEnter, type TraceLeave, type TraceRecord, type TraceStep } from '../../kernel/evm.js';
import { bytesToBigInt, bytesToKey } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { failedStep } from './failed-step.js';
import { opcodeOf } from './opcodes.js';
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
  readonly isCreation: boolean;
  /** Its newest instruction, whose cost is known with its next one, or with its end. */
  last?: Shown | undefined;
  /** Gas that the newest call gave back, and gas that a creation was given. */
  returned: bigint;
}

const [SLOAD, SSTORE, CALLCODE, DELEGATECALL, CREATE, CREATE2, SELFDESTRUCT] = [
  0x54, 0x55, 0xf2, 0xf4, 0xf0, 0xf5, 0xff,
];
/** What earns refunds. */
const EARNING: readonly number[] = [SSTORE, SELFDESTRUCT];
const isCreation = (op: number) => op === CREATE || op === CREATE2;
const REVERT = 1;
const CODE_BYTE_GAS = 200n;
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

  function settle(frame: Frame, gasNow: bigint, refundNow: bigint, next: TraceStep | undefined, grow: Grow): void {
    const { last } = frame;
    if (last === undefined) return;
    frame.last = undefined;
    last.log.gasCost = Number(last.step.gas - gasNow + frame.returned);
    if (EARNING.includes(last.step.op)) setRefund(last.log, refundNow);
    frame.returned = 0n;
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
    settle(frame, record.gas, record.refund, record, grow);
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
    frames.push({ account, isCreation: isCreation(op), returned: 0n });
  }

  function leave(record: TraceLeave, grow: Grow): void {
    const frame = frames.pop()!;
    const { exception, outputLength } = record;
    const gasLeft = BigInt(record.gas);
    const { last } = frame;
    if (last !== undefined && exception !== 0 && exception !== REVERT && last.step.pc === record.pc) {
      const { cost, error } = failedStep(last.step, record);
      last.log.gasCost = Number(cost);
      if (error !== undefined) last.log.error = error;
      if (EARNING.includes(last.step.op)) setRefund(last.log, record.refund);
      frame.last = undefined;
    }
    const deposit = frame.isCreation && exception === 0 ? CODE_BYTE_GAS * BigInt(outputLength) : 0n;
    settle(frame, gasLeft + deposit, record.refund, undefined, grow);
    const parent = frames.at(-1);
    if (parent !== undefined) parent.returned += gasLeft;
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
