import type { CallRequest } from '../../../primitives/call-request.js';
import { bytesToHex, hexToBytes } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { isMethodMissing } from '../../../upstream/transport/classify-error.js';
import type { Answer, Call } from '../../../upstream/transport/fault.js';
import { AccessSet } from './access-set.js';

/** How long the method counts as missing after an endpoint answered that it does not have it, milliseconds. */
const MISSING_FOR_MS = 300_000;
/** Most accounts and slots that are taken from an access list. */
const MAX_LISTED = 600;

/**
 * Access lists by `eth_createAccessList`. A list saves round trips and is a hint only: what it names is proved like any other
 * read. The endpoint learns the call. Most public endpoints do not have the method.
 */
export class AccessLists {
  private missingUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param allowed - whether calls may be sent to endpoints in this way
   * @param now - milliseconds
   */
  constructor(
    private readonly allowed: boolean,
    private readonly now: () => number,
  ) {}

  /** Whether it is allowed to ask for lists, and no endpoint answered lately that it does not have the method. */
  get isAvailable(): boolean {
    return this.allowed && this.now() >= this.missingUntil;
  }

  callFor({ from, to, data, value }: CallRequest, at: string): Call {
    const call = {
      ...(from !== undefined && { from: bytesToHex(from) }),
      ...(to !== undefined && { to: bytesToHex(to) }),
      ...(data !== undefined && { data: bytesToHex(data) }),
      ...(value !== undefined && { value: toQuantity(value) }),
    };
    return { method: 'eth_createAccessList', params: [call, at] };
  }

  /** @returns undefined for an error */
  read(answer: Answer): AccessSet | undefined {
    if (answer.kind === 'result') return listedAccesses(answer.result);
    if (isMethodMissing(answer.error)) this.missingUntil = this.now() + MISSING_FOR_MS;
    return undefined;
  }
}

/** The accounts and slots of an answer, up to the first entry that is not well formed. */
function listedAccesses(answer: unknown): AccessSet {
  const accesses = new AccessSet();
  const list = member(answer, 'accessList');
  if (!Array.isArray(list)) return accesses;
  try {
    for (const entry of list) {
      const address = hexToBytes(member(entry, 'address') as string, 20);
      if (accesses.size >= MAX_LISTED) break;
      accesses.addAccount(address, true);
      const keys = member(entry, 'storageKeys');
      for (const key of Array.isArray(keys) ? keys : []) {
        if (accesses.size < MAX_LISTED) accesses.addSlot(address, hexToBytes(key as string, 32));
      }
    }
  } catch {
    // The entries before the malformed one are still useful hints.
  }
  return accesses;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
