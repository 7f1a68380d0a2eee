import { FLAGS, type TraceRecord } from '../../kernel/evm.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import type { Tracer } from './tracer.js';

/** A slot that code wrote in the account that it ran for. */
export interface SlotWrite {
  readonly account: Hex;
  /** The account whose code it is. */
  readonly code: Hex;
  readonly slot: Hex;
  /** How many DELEGATECALLs in a row led to the code: the account's own code has 0, the implementation of a proxy 1. */
  readonly borrowed: number;
}

const [SSTORE, DELEGATECALL, CALLCODE] = [0x55, 0xf4, 0xf2];

/** Which code wrote which slots. Writes that were taken back are listed, too. */
export function slotWriteTracer(): Tracer {
  const frames: Omit<SlotWrite, 'slot'>[] = [];
  const found = new Map<string, SlotWrite>();
  return {
    flags: FLAGS.calls | FLAGS.stateSteps,
    take(record: TraceRecord) {
      if (record.kind === 'enter') {
        const { op, depth, callerText, calleeText } = record;
        frames.length = depth;
        const isBorrowed = op === DELEGATECALL || op === CALLCODE;
        const account = isBorrowed ? callerText : calleeText;
        const borrowed = isBorrowed ? (frames.at(-1)?.borrowed ?? 0) + 1 : 0;
        frames.push({ account, code: calleeText, borrowed });
      } else if (record.kind === 'leave') frames.length = record.depth;
      else if (record.op === SSTORE) {
        const write = { ...frames[record.depth]!, slot: bytesToHex(record.stack.at(-1)!) };
        found.set(Object.values(write).join(' '), write);
      }
    },
    result: () => [...found.values()],
  };
}
