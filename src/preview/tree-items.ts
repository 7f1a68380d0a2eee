import type { RunBudget } from '../evm/run-budget.js';
import type { CallFrame, FrameLog } from '../evm/tracing/call-frame.js';

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

/** Members of a frame that do not depend on gas. */
const MEMBERS = ['type', 'from', 'to', 'input', 'output', 'error', 'revertReason', 'value'] as const;

/** Whether two calls did the same, apart from gas. */
export async function isSameTree(one: CallFrame, other: CallFrame, pause: RunBudget['pause']): Promise<boolean> {
  const pairs: (readonly [CallFrame, CallFrame])[] = [[one, other]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    await pause();
    const [a, b] = pair;
    const [calls, others] = [a.calls ?? [], b.calls ?? []];
    if (MEMBERS.some((name) => a[name] !== b[name]) || calls.length !== others.length) return false;
    if (JSON.stringify(a.logs) !== JSON.stringify(b.logs)) return false;
    for (const [i, call] of calls.entries()) pairs.push([call, others[i]!]);
  }
  return true;
}
