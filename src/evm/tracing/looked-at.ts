import type { TraceEnter, TraceLeave, TraceRecord, TraceStep } from '../../kernel/evm.js';
import { bytesToKey } from '../../primitives/bytes.js';

const [SLOAD, SSTORE, CALL, CALLCODE, DELEGATECALL, STATICCALL, CREATE, CREATE2, SELFDESTRUCT] = [
  0x54, 0x55, 0xf1, 0xf2, 0xf4, 0xfa, 0xf0, 0xf5, 0xff,
];
const CALLS: readonly number[] = [CALL, CALLCODE, DELEGATECALL, STATICCALL];
const REVERT = 1;

/** Accounts and slots that a run looked at, by keys of addresses and slots, in order. */
export interface LookedAt {
  readonly slots: Map<string, Set<string>>;
  /** Accounts that a call named: with their code comes that of the account that they delegate to. */
  readonly called: Set<string>;
  readonly created: Set<string>;
  /** Accounts with a SELFDESTRUCT that was executed, also in a frame that failed later. */
  readonly destroyed: Set<string>;
}

/**
 * Reads from a trace which accounts and slots the instructions looked at. An instruction that fails looks at nothing.
 *
 * @source docs/spec/preview.md 3.1
 */
export function followLooks(): LookedAt & {
  take(record: TraceRecord): void;
  add(address: Uint8Array): void;
} {
  const slots = new Map<string, Set<string>>();
  const [called, created, destroyed] = [new Set<string>(), new Set<string>(), new Set<string>()];
  /** The accounts that execute, one for each open frame. */
  const executing: Uint8Array[] = [];
  /** It counts when the next record shows that it did not fail. */
  let waiting: TraceStep | undefined;

  function look(key: string): Set<string> {
    let found = slots.get(key);
    if (found === undefined) {
      found = new Set();
      slots.set(key, found);
    }
    return found;
  }

  function step({ op, stack }: TraceStep): void {
    const word = (fromTop: number) => stack[stack.length - 1 - fromTop];
    if (op === SLOAD || op === SSTORE) {
      const key = word(0);
      if (key !== undefined) look(bytesToKey(executing.at(-1)!)).add(bytesToKey(key));
      return;
    }
    const isCall = CALLS.includes(op);
    const named = isCall ? (stack.length >= 5 ? word(1) : undefined) : word(0);
    if (named === undefined) return;
    const address = bytesToKey(named.subarray(12));
    look(address);
    if (isCall) called.add(address);
  }

  function settle(next: TraceRecord | undefined): void {
    const last = waiting;
    waiting = undefined;
    if (last === undefined || (next?.kind === 'leave' && failedAt(next, last))) return;
    step(last);
  }

  function enter({ op, caller, callee }: TraceEnter): void {
    const key = bytesToKey(callee);
    if (op === SELFDESTRUCT) destroyed.add(bytesToKey(caller));
    if (op === CREATE || op === CREATE2) {
      look(key);
      created.add(key);
    }
    executing.push(op === DELEGATECALL || op === CALLCODE ? caller : callee);
  }

  return {
    slots,
    called,
    created,
    destroyed,
    add: (address) => void look(bytesToKey(address)),
    take(record) {
      settle(record);
      if (record.kind === 'step') waiting = record;
      else if (record.kind === 'enter') enter(record);
      else executing.pop();
    },
  };
}

/** Whether a frame failed at this instruction. */
function failedAt({ depth, pc, exception }: TraceLeave, step: TraceStep): boolean {
  return depth === step.depth && pc === step.pc && exception !== 0 && exception !== REVERT;
}
