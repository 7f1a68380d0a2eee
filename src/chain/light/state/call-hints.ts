import { bytesToBigInt, isZeroBytes, ZERO_ADDRESS } from '../../../primitives/bytes.js';
import type { CallRequest } from '../../../primitives/call-request.js';
import { bytesToHex, hexToBytes } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { Wants } from './access-set.js';

/*
 * What a call will probably read, before it is executed. All of it is a guess that only decides what is asked for early:
 * a wrong one costs bytes.
 */

/** Most accounts and slots that are taken from an access list. */
const MAX_LISTED = 600;
/** Most accounts taken from calldata. */
const MAX_IN_CALLDATA = 8;
/** Words below this are numbers rather than addresses. */
const LEAST_ADDRESS = 1n << 64n;
const WORD = 32;
const SELECTOR = 4;

/** Accounts that every execution of the call reads. @param coinbase - of the block it runs in, 20 bytes */
export function certainWants(call: CallRequest, coinbase: Uint8Array = ZERO_ADDRESS): Wants {
  const wants = new Wants().account(call.from ?? ZERO_ADDRESS).account(coinbase);
  if (call.to !== undefined) wants.account(call.to, true);
  for (const { address, storageKeys } of call.accessList ?? []) {
    wants.account(address, true);
    for (const key of storageKeys) wants.slot(address, key);
  }
  return wants;
}

/** Accounts that calldata seems to name. */
export function calldataWants({ data }: CallRequest): Wants {
  const wants = new Wants();
  if (data === undefined) return wants;
  let found = 0;
  for (let at = SELECTOR; at + WORD <= data.length && found < MAX_IN_CALLDATA; at += WORD) {
    const address = data.subarray(at + 12, at + WORD);
    if (!isZeroBytes(data.subarray(at, at + 12)) || bytesToBigInt(address) < LEAST_ADDRESS) continue;
    wants.account(address.slice(), true);
    found++;
  }
  return wants;
}

/** Parameters of `eth_createAccessList` for the call. */
export function accessListParams(call: CallRequest, at: string): unknown[] {
  const { from, to, data, value } = call;
  return [
    {
      ...(from !== undefined && { from: bytesToHex(from) }),
      ...(to !== undefined && { to: bytesToHex(to) }),
      ...(data !== undefined && { data: bytesToHex(data) }),
      ...(value !== undefined && { value: toQuantity(value) }),
    },
    at,
  ];
}

/** What an answer of `eth_createAccessList` names; nothing where it is not of that form. */
export function listedWants(answer: unknown): Wants {
  const wants = new Wants();
  const list = member(answer, 'accessList');
  if (!Array.isArray(list)) return wants;
  try {
    for (const entry of list) {
      const address = hexToBytes(member(entry, 'address') as string, 20);
      if (wants.size >= MAX_LISTED) break;
      wants.account(address, true);
      const keys = member(entry, 'storageKeys');
      for (const key of Array.isArray(keys) ? keys : []) {
        if (wants.size < MAX_LISTED) wants.slot(address, hexToBytes(key as string, WORD));
      }
    }
  } catch {
    // What could be read so far is as good a guess as before.
  }
  return wants;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
