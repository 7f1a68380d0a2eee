import type { Rules } from '../common.js';
import type { Interpreter } from './interpreter.js';

/**
 * Maximum number of idle interpreters for each set of rules. There are more only while that many requests run at once.
 */
const MAX_IDLE = 4;

/** A pool of idle interpreters. One pool serves one node. */
export class Interpreters {
  private readonly idle = new Map<string, Interpreter[]>();

  take(rules: Rules): Interpreter | undefined {
    return this.idle.get(keyOf(rules))?.pop();
  }

  /** @param interpreter - with the standard precompiles of these rules, after a completed run */
  put(rules: Rules, interpreter: Interpreter): void {
    const key = keyOf(rules);
    const idle = this.idle.get(key);
    if (idle === undefined) this.idle.set(key, [interpreter]);
    else if (idle.length < MAX_IDLE) idle.push(interpreter);
  }
}

function keyOf({ chainId, hardfork }: Rules): string {
  return `${chainId} ${hardfork}`;
}
