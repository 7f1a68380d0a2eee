import { bytesToKey } from '../../../primitives/bytes.js';
import type { CallRequest } from '../../../primitives/call-request.js';
import { AccessSet } from './access-set.js';

/** Kinds of calls that are remembered; the least recently used is dropped first. */
const MAX_KINDS = 32;
/** Accounts and slots that are proved again with a new head. */
const MAX_ACCESSES = 192;
/** Older reads are not proved again. */
const MAX_AGE_MS = 10 * 60_000;

/** What recent executions read. Most of it is read again after the next block. */
export class WorkingSet {
  private readonly kinds = new Map<string, { readonly read: AccessSet; at: number }>();

  /** @param now - milliseconds */
  constructor(private readonly now: () => number) {}

  /** Whether a call of this kind was executed recently. */
  knows(call: CallRequest): boolean {
    return this.kinds.has(kindOf(call));
  }

  /** An empty set for the reads of a call; the caller fills it. */
  recordOf(call: CallRequest): AccessSet {
    const key = kindOf(call);
    const read = new AccessSet();
    this.kinds.delete(key);
    this.kinds.set(key, { read, at: this.now() });
    if (this.kinds.size > MAX_KINDS) this.kinds.delete(this.kinds.keys().next().value!);
    return read;
  }

  /** What was read recently, the newest first. */
  recent(): AccessSet {
    const accesses = new AccessSet();
    for (const { read, at } of [...this.kinds.values()].reverse()) {
      if (this.now() - at <= MAX_AGE_MS) accesses.addAll(read, MAX_ACCESSES);
    }
    return accesses;
  }
}

/** Calls of one sender to one function of a contract mostly read the same accounts and slots. */
function kindOf({ from, to, data }: CallRequest): string {
  const part = (bytes: Uint8Array | undefined) => (bytes === undefined ? '' : bytesToKey(bytes));
  return [part(from), part(to), part(data?.subarray(0, 4))].join('|');
}
