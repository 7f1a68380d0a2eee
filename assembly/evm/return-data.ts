import { allocate, release } from './allocator';

/** What the last call of the current frame returned. One buffer serves all frames: a call empties it. */
let buffer: usize = 0;
let capacity: usize = 0;
export let returnLength: u32 = 0;

/** Room for return data of that length. */
export function returnSpace(length: u32): usize {
  if (<usize>length > capacity) {
    if (capacity !== 0) release(buffer, capacity);
    capacity = max(<usize>length, 4096);
    buffer = allocate(capacity);
  }
  returnLength = length;
  return buffer;
}

export function returnAt(): usize {
  return buffer;
}

export function clearReturn(): void {
  returnLength = 0;
}

/** @param from - not in the buffer; anywhere if the length is zero */
export function setReturn(from: usize, length: u32): void {
  const space = returnSpace(length);
  // A copy of no bytes traps too if an address is outside the memory.
  if (length > 0) memory.copy(space, from, length);
}
