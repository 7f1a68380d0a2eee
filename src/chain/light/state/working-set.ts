import { bytesToKey } from '../../../primitives/bytes.js';
import type { CallRequest } from '../../../primitives/call-request.js';
import { Wants } from './access-set.js';

/** Kinds of calls that are remembered; the least recently used goes first. */
const MAX_KINDS = 32;
/** Accounts and slots that are proved again with a new head. */
const MAX_WANTS = 192;
/** What was read longer ago than this is not proved again. */
const MAX_AGE_MS = 10 * 60_000;

/** What executions have read lately: most of it is read again after the next block. */
export class WorkingSet {
  private readonly kinds = new Map<string, { readonly read: Wants; at: number }>();

  /** @param now - milliseconds */
  constructor(private readonly now: () => number) {}

  /** Whether a call of this kind was executed lately. */
  knows(call: CallRequest): boolean {
    return this.kinds.has(kindOf(call));
  }

  /** Where the reads of a call are noted. */
  recordOf(call: CallRequest): Wants {
    const key = kindOf(call);
    const read = new Wants();
    this.kinds.delete(key);
    this.kinds.set(key, { read, at: this.now() });
    if (this.kinds.size > MAX_KINDS) this.kinds.delete(this.kinds.keys().next().value!);
    return read;
  }

  /** What was read lately, the newest first. */
  recent(): Wants {
    const wants = new Wants();
    for (const { read, at } of [...this.kinds.values()].reverse()) {
      if (this.now() - at <= MAX_AGE_MS) wants.add(read, MAX_WANTS);
    }
    return wants;
  }
}

/** Calls of one sender to one function read much the same. */
function kindOf({ from, to, data }: CallRequest): string {
  const part = (bytes: Uint8Array | undefined) => (bytes === undefined ? '' : bytesToKey(bytes));
  return [part(from), part(to), part(data?.subarray(0, 4))].join('|');
}
