import { allocate, capacityOf, release } from './allocator';
import { Index, Records } from './records';

/**
 * Code record, 64 bytes:
 *
 *   +0 hash | +32 length u32 | +36 bytes u32 | +40 jump destinations u32 (0: not yet made) | +44 delegation u32 | +48 hash u32
 *
 * The bytes are followed by at least 40 zeros, so that reading past the end finds STOP and zeros. Jump destinations are a
 * bitmap, least significant bit first.
 */
export const CODE_LENGTH: usize = 32;
export const CODE_BYTES: usize = 36;
export const CODE_JUMPS: usize = 40;
/** Whether it is a delegation (EIP-7702); its address is in the bytes at +3. */
export const CODE_DELEGATION: usize = 44;
const CODE_INDEX_HASH: usize = 48;
/** Zeros after the code. */
export const PADDING: usize = 40;
/** Codes are forgotten when they have more bytes than this. */
const MOST_BYTES: usize = 32 << 20;

const DELEGATION_BYTES: u32 = 23;

const records = changetype<Records>(memory.data<u32>([64, 0, 0, 0, 0]));
const index = changetype<Index>(memory.data<u32>([48, 0, 0, 0]));
let kept: usize = 0;

const NOTHING: usize = memory.data(64, 16);
/** The record of the empty code; like every code record it begins with the hash. */
export const EMPTY_CODE: usize = memory.data<u8>([
  0xc5, 0xd2, 0x46, 0x01, 0x86, 0xf7, 0x23, 0x3c, 0x92, 0x7e, 0x7d, 0xb2, 0xdc, 0xc7, 0x03, 0xc0, 0xe5, 0x00, 0xb6,
  0x53, 0xca, 0x82, 0x27, 0x3b, 0x7b, 0xfa, 0xd8, 0x04, 0x5d, 0x85, 0xa4, 0x70, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

let space: usize = 0;
let spaceBytes: usize = 0;

/** Where the host, or a creation, writes the bytes of the next code. */
export function codeSpace(length: u32): usize {
  if (space !== 0) release(space, spaceBytes + PADDING);
  spaceBytes = length;
  space = allocate(<usize>length + PADDING);
  memory.fill(space + length, 0, PADDING);
  return space;
}

/** Adds the code in the space under its hash (32 bytes). @returns its record */
export function addCode(hash: usize): usize {
  const known = findCode(hash);
  if (known !== 0) return known;
  const place = placeOf(hash);
  const record = records.add();
  memory.copy(record, hash, 32);
  store<u32>(record, <u32>spaceBytes, CODE_LENGTH);
  store<u32>(record, <u32>space, CODE_BYTES);
  store<u32>(record, load<u32>(hash), CODE_INDEX_HASH);
  const isDelegation = spaceBytes === DELEGATION_BYTES && (load<u32>(space) & 0xffffff) === 0x0001ef;
  store<u32>(record, <u32>isDelegation, CODE_DELEGATION);
  kept += capacityOf(spaceBytes + PADDING);
  space = 0;
  index.add(place, record);
  return record;
}

function placeOf(hash: usize): u32 {
  let place = index.place(load<u32>(hash));
  while (index.at(place) !== 0) place = index.after(place);
  return place;
}

/** The record of a code by its hash (32 bytes); 0 if it was not added. */
export function findCode(hash: usize): usize {
  if (memory.compare(hash, EMPTY_CODE, 32) === 0) return EMPTY_CODE;
  let place = index.place(load<u32>(hash));
  let record = index.at(place);
  while (record !== 0) {
    if (memory.compare(record, hash, 32) === 0) return record;
    place = index.after(place);
    record = index.at(place);
  }
  return 0;
}

/** Bitmap of jump destinations of a code record. */
export function jumpsOf(code: usize): usize {
  let jumps = <usize>load<u32>(code, CODE_JUMPS);
  if (jumps === 0) {
    jumps = findJumps(<usize>load<u32>(code, CODE_BYTES), load<u32>(code, CODE_LENGTH));
    kept += capacityOf(jumpBytes(load<u32>(code, CODE_LENGTH)));
    store<u32>(code, <u32>jumps, CODE_JUMPS);
  }
  return jumps;
}

/** Size of the bitmap of a code. */
export function jumpBytes(length: u32): usize {
  return (<usize>length >> 3) + 8;
}

/** A new bitmap of the jump destinations of a code. */
export function findJumps(bytes: usize, length: u32): usize {
  const size = jumpBytes(length);
  const jumps = allocate(size);
  memory.fill(jumps, 0, size);
  for (let at: usize = 0; at < <usize>length; at++) {
    const op = <u32>load<u8>(bytes + at);
    if (op === 0x5b) store<u8>(jumps + (at >> 3), load<u8>(jumps + (at >> 3)) | (1 << (<u8>at & 7)));
    else if (op >= 0x60 && op <= 0x7f) at += op - 0x5f;
  }
  return jumps;
}

/** Forgets codes when there are many; only together with the accounts that have them. */
export function limitCodes(): void {
  if (kept > MOST_BYTES || !load<u32>(EMPTY_CODE, CODE_BYTES)) forgetCodes();
}

function forgetCodes(): void {
  records.each(releaseCode);
  kept = 0;
  records.rewind();
  index.clear();
  store<u32>(EMPTY_CODE, <u32>NOTHING, CODE_BYTES);
}

function releaseCode(record: usize): void {
  const length = load<u32>(record, CODE_LENGTH);
  release(<usize>load<u32>(record, CODE_BYTES), <usize>length + PADDING);
  const jumps = <usize>load<u32>(record, CODE_JUMPS);
  if (jumps !== 0) release(jumps, jumpBytes(length));
}
