// biome-ignore-all lint/correctness/noPrecisionLoss: literals are exact 64-bit integers here

import { ACCOUNT_SLOTS } from './accounts';
import { Index, Records } from './records';

/**
 * Slot record, 176 bytes:
 *
 *   +0 key | +32 value | +64 value at the start of the transaction | +96 transient value
 *   +128 account u32 | +132 next slot of the account u32 | +136 loaded u32 | +140 warm u32 | +144 first write u32
 *   +148 transient u32 | +152 listed u32 | +156 warm from the start u32 | +160 dirty u32 | +164 hash u32
 *   +168 read u32
 *
 * Marks hold the number of the transaction for which they are true. The value at the start is kept from the first write
 * on; before that it is the value.
 */
export const SLOT_VALUE: usize = 32;
export const SLOT_ORIGINAL: usize = 64;
export const SLOT_TRANSIENT: usize = 96;
export const SLOT_NEXT: usize = 132;
export const SLOT_LOADED: usize = 136;
export const SLOT_WARM: usize = 140;
export const SLOT_WRITTEN: usize = 144;
export const SLOT_HAS_TRANSIENT: usize = 148;
export const SLOT_LISTED: usize = 152;
export const SLOT_WARM_FROM_START: usize = 156;
export const SLOT_DIRTY: usize = 160;
export const SLOT_READ: usize = 168;
const SLOT_ACCOUNT: usize = 128;
const SLOT_HASH: usize = 164;

const records = changetype<Records>(memory.data<u32>([176, 0, 0, 0, 0]));
const index = changetype<Index>(memory.data<u32>([164, 0, 0, 0]));

function hashOf(account: usize, key: usize): u32 {
  let mixed = (load<u64>(key) ^ <u64>account) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 29) ^ load<u64>(key, 8)) * 0xd6e8feb86659fd93;
  mixed = (mixed ^ (mixed >> 31) ^ load<u64>(key, 16)) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30) ^ load<u64>(key, 24)) * 0xd6e8feb86659fd93;
  return <u32>(mixed >> 32);
}

/** The record of a slot, new and not loaded if there was none. */
export function slotAt(account: usize, key: usize): usize {
  const hash = hashOf(account, key);
  let place = index.place(hash);
  let record = index.at(place);
  while (record !== 0) {
    if (
      load<u64>(record) === load<u64>(key) &&
      load<u64>(record, 8) === load<u64>(key, 8) &&
      load<u64>(record, 16) === load<u64>(key, 16) &&
      load<u64>(record, 24) === load<u64>(key, 24) &&
      load<u32>(record, SLOT_ACCOUNT) === <u32>account
    )
      return record;
    place = index.after(place);
    record = index.at(place);
  }
  record = records.add();
  memory.copy(record, key, 32);
  store<u32>(record, <u32>account, SLOT_ACCOUNT);
  store<u32>(record, load<u32>(account, ACCOUNT_SLOTS), SLOT_NEXT);
  store<u32>(record, hash, SLOT_HASH);
  store<u32>(account, <u32>record, ACCOUNT_SLOTS);
  index.add(place, record);
  return record;
}

export function accountOf(slot: usize): usize {
  return <usize>load<u32>(slot, SLOT_ACCOUNT);
}

export function forgetSlots(): void {
  records.rewind();
  index.clear();
}
