import { type AccountValue, decodeAccountValue } from '../src/accumulator/account-value.js';
import { ZERO_HASH } from '../src/accumulator/scheme.js';
import { bytesToHex } from '../src/primitives/hex.js';
import type { StateTrace } from '../src/state/trace.js';
import type { TracedChange } from '../src/state/traced-application.js';
import type { SlotChange } from '../src/state/world-state.js';

interface Seen {
  readonly address: Uint8Array;
  before?: AccountValue;
  after?: AccountValue;
  destroyed: boolean;
  readonly slots: Map<string, SlotChange>;
}

/** What a block did, as its traces tell it: the input from which the same traces have to come out again. */
export function changesOfTraces(traces: readonly StateTrace[]): TracedChange[] {
  const accounts = new Map<string, Seen>();
  for (const trace of traces) {
    const address = trace.location ?? trace.key;
    const name = bytesToHex(address);
    const seen = accounts.get(name) ?? { address, destroyed: false, slots: new Map() };
    accounts.set(name, seen);
    if (trace.location === undefined) seeAccount(seen, trace);
    else seeSlot(seen, trace);
  }
  return [...accounts.values()].map(({ address, before, after, destroyed, slots }) => ({
    address,
    destroyed,
    slots: [...slots.values()],
    ...(before && { before: { nonce: before.nonce, balance: before.balance } }),
    ...(after && { after: { nonce: after.nonce, balance: after.balance, codeFields: after } }),
  }));
}

function seeAccount(seen: Seen, trace: StateTrace): void {
  if (trace.type === 'read') seen.before = seen.after = decodeAccountValue(trace.value);
  else if (trace.type === 'insert') seen.after = decodeAccountValue(trace.value);
  else if (trace.type === 'update') {
    seen.before = decodeAccountValue(trace.oldValue);
    seen.after = decodeAccountValue(trace.newValue);
  } else if (trace.type === 'delete') {
    seen.before = decodeAccountValue(trace.deletedValue!);
    seen.destroyed = true;
  }
}

function seeSlot(seen: Seen, trace: StateTrace): void {
  const name = bytesToHex(trace.key);
  const earlier = seen.slots.get(name);
  const put = (before: Uint8Array, after: Uint8Array, cleared = false) =>
    seen.slots.set(name, { key: trace.key, before, after, cleared });
  if (trace.type === 'read') put(trace.value, trace.value);
  else if (trace.type === 'read-zero') put(ZERO_HASH, ZERO_HASH);
  else if (trace.type === 'update') put(trace.oldValue, trace.newValue);
  else if (trace.type === 'delete') put(trace.deletedValue ?? earlier!.before, ZERO_HASH);
  else if (trace.type === 'insert') put(earlier?.before ?? ZERO_HASH, trace.value, earlier !== undefined);
}
