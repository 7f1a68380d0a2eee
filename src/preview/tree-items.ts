import type { RunBudget } from '../evm/run-budget.js';
import type { CallFrame, FrameLog, Grow } from '../evm/tracing/tracer.js';
import type { Hex } from '../primitives/hex.js';
import type { Probes } from './probes.js';

/** An open frame: how many of its calls and of its logs were given. */
interface Open {
  readonly frame: CallFrame;
  calls: number;
  logs: number;
}

/**
 * The frames and logs of a tree in the order in which they began. Frames that failed are left out, with all that is below them.
 *
 * @source docs/spec/preview.md 2.5
 */
export function* itemsOf(tree: CallFrame): Generator<CallFrame | FrameLog> {
  if (tree.error !== undefined) return;
  const open: Open[] = [{ frame: tree, calls: 0, logs: 0 }];
  yield tree;
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { calls = [], logs = [] } = top.frame;
    const log = logs[top.logs];
    if (log !== undefined && Number(log.position) === top.calls) {
      top.logs++;
      yield log;
      continue;
    }
    const call = calls[top.calls++];
    if (call === undefined) open.pop();
    else if (call.error === undefined) {
      open.push({ frame: call, calls: 0, logs: 0 });
      yield call;
    }
  }
}

/** Whether an item of a tree is a log. */
export const isLog = (item: CallFrame | FrameLog): item is FrameLog => 'topics' in item;

/** A frame with the account that executes in it. */
export interface CodeRun {
  readonly frame: CallFrame;
  /** Whose storage the code writes. */
  readonly executing: Hex;
  /** `msg.sender` of the code. */
  readonly caller: Hex;
  readonly parent: CodeRun | undefined;
  /** How many DELEGATECALLs in a row lead here, this frame included: the account is the same in all of them. */
  readonly borrowed: number;
}

/** Frames of calls and creations, in the order in which they began. Those that failed are left out, with all below them. */
export function* codeRuns(tree: CallFrame): Generator<CodeRun> {
  const open: { readonly frame: CallFrame; readonly parent: CodeRun | undefined }[] = [
    { frame: tree, parent: undefined },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { frame, parent } = next;
    if (frame.error !== undefined || frame.type === 'SELFDESTRUCT') continue;
    const isBorrowed = frame.type === 'DELEGATECALL' || frame.type === 'CALLCODE';
    const run: CodeRun = {
      frame,
      executing: isBorrowed ? frame.from : (frame.to ?? frame.from),
      caller: frame.type === 'DELEGATECALL' && parent !== undefined ? parent.caller : frame.from,
      parent,
      borrowed: isBorrowed ? (parent?.borrowed ?? 0) + 1 : 0,
    };
    yield run;
    for (const call of [...(frame.calls ?? [])].reverse()) open.push({ frame: call, parent: run });
  }
}

/** What the inspection of a call works with. A tree may be as large as an answer: it pauses, and counts what it adds. */
export interface Inspection {
  readonly probes: Probes;
  readonly pause: RunBudget['pause'];
  readonly grow: Grow;
}

/** JSON of a transfer or an approval, about. */
export const ENTRY_CHARACTERS = 300;
