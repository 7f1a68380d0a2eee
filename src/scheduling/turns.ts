import { monotonicMs } from './clock.js';
import { InOrder } from './in-order.js';

/*
 * All requests of a thread share it with timers and messages. Work that may take long asks here between two of its pieces
 * whether it has to wait: then other requests, timers and messages get their turn. A turn is what runs from one task of the
 * event loop to the next, with all promises that are settled meanwhile, no matter for which request.
 */

/** After this time of one turn, work waits for a later one. */
const TURN_MS = 10;

type Wake = () => void;

/** When the work of this turn began; undefined if there has been none. */
let began: number | undefined;
/** Requests that wait to begin, and work that waits to go on, each in the order in which they came. */
const beginning = new InOrder<Wake>();
const running = new InOrder<Wake>();
/** Whether what went on last was a request that begins, and when. */
let isBeginning = false;
let wokeAt = 0;
/** Time that requests had to begin since work last went on. */
let beginningFor = 0;

/**
 * To call between two pieces of work.
 *
 * @returns a promise to await before going on; undefined if there is no need to wait
 */
export function nextTurn(): Promise<void> | undefined {
  return isOver() ? waitIn(running) : undefined;
}

/** As `nextTurn`, to call before a request begins. Requests begin in the order of these calls. */
export function turnToBegin(): Promise<void> | undefined {
  return isOver() || beginning.first !== undefined ? waitIn(beginning) : undefined;
}

/** Whether this turn has lasted long enough. The first call of a turn measures from then on. */
function isOver(): boolean {
  const now = monotonicMs();
  if (began !== undefined) return now - began >= TURN_MS;
  began = now;
  schedule();
  return false;
}

function waitIn(queue: InOrder<Wake>): Promise<void> {
  // A Snap loses the timers of a request that has ended, and with them the task that was to come.
  if (!HAS_TASKS) schedule();
  return new Promise((resolve) => queue.add(resolve));
}

/** Begins a turn. */
function turn(): void {
  began = undefined;
  wakeNext();
}

/** One waiter goes on. Requests that begin and work that goes on have the same share of the time. */
function wakeNext(): void {
  const now = monotonicMs();
  if (isBeginning) beginningFor += now - wokeAt;
  isBeginning = beginning.first !== undefined && (running.first === undefined || beginningFor < TURN_MS);
  if (!isBeginning) beginningFor = 0;
  const wake = (isBeginning ? beginning : running).shift();
  if (wake === undefined) return;
  wokeAt = now;
  if (began === undefined) {
    began = now;
    schedule();
  }
  wake();
  // A task for each waiter takes longer than a short request: once some waited, all that came after them would have to wait. Set in a
  // promise, the next tick comes when all promises have been handled, and so all that the request does in this turn.
  if (nextTick !== undefined) queueMicrotask(() => nextTick(wakeInTime));
}

function wakeInTime(): void {
  if ((beginning.first ?? running.first) !== undefined && !isOver()) wakeNext();
}

/** Node alone has it: a callback in the same task. */
const { nextTick } = (globalThis as { process?: { nextTick?: (action: () => void) => void } }).process ?? {};

let channel: MessageChannel | undefined;
const actions: (() => void)[] = [];
/** Whether there is another way to a task than a timer. */
export const HAS_TASKS = 'setImmediate' in globalThis || globalThis.MessageChannel !== undefined;

function schedule(): void {
  runInNextTask(turn);
}

/**
 * Calls `action` in the next task. Browsers delay a timer that follows another, so a message is sent instead. A realm without messages,
 * such as a Snap's, has timers alone.
 */
export function runInNextTask(action: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (action: () => void) => unknown };
  if (setImmediate !== undefined) return void setImmediate(action);
  if (!HAS_TASKS) return void setTimeout(action);
  if (channel === undefined) {
    channel = new MessageChannel();
    channel.port1.onmessage = () => actions.shift()?.();
  }
  actions.push(action);
  channel.port2.postMessage(0);
}
