import type { CallFrame, FrameLog } from '../evm/tracing/call-frame.js';

/**
 * The frames and logs of a tree in the order in which they began. Frames that failed are left out, with all that is below them.
 *
 * @source docs/spec/preview.md 2.5
 */
export function* itemsOf(frame: CallFrame): Generator<CallFrame | FrameLog> {
  if (frame.error !== undefined) return;
  yield frame;
  const { calls = [], logs = [] } = frame;
  let next = 0;
  for (let i = 0; i <= calls.length; i++) {
    for (; next < logs.length && Number(logs[next]!.position) === i; next++) yield logs[next]!;
    if (i < calls.length) yield* itemsOf(calls[i]!);
  }
}

/** Whether an item of a tree is a log. */
export const isLog = (item: CallFrame | FrameLog): item is FrameLog => 'topics' in item;
