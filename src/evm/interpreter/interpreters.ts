import type { Rules } from '../common.js';
import type { Interpreter } from './interpreter.js';

/** Most interpreters kept for each set of rules; more are only there while as many requests run at once. */
const MOST_IDLE = 4;

/** Interpreters that wait for their next machine. One holder serves one node. */
export class Interpreters {
  private readonly idle = new Map<string, Interpreter[]>();

  take(rules: Rules): Interpreter | undefined {
    return this.idle.get(keyOf(rules))?.pop();
  }

  /** @param interpreter - with the precompiles of these rules, and after a run that came to its end */
  put(rules: Rules, interpreter: Interpreter): void {
    const key = keyOf(rules);
    const waiting = this.idle.get(key);
    if (waiting === undefined) this.idle.set(key, [interpreter]);
    else if (waiting.length < MOST_IDLE) waiting.push(interpreter);
  }
}

function keyOf({ chainId, hardfork }: Rules): string {
  return `${chainId} ${hardfork}`;
}
