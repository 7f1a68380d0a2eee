/**
 * Memory of the tries. Linear memory after the static data is divided into slabs of 64 KiB. A slab holds blocks of one kind
 * and returns to the pool, for any kind, when its last block is freed:
 *
 *   slab: kind u32 | used u32 | free u32 | fresh u32 | previous u32 | next u32 | 8 unused || blocks …
 *
 * `free` is the first of the freed blocks, `fresh` is the first block never used, and `previous` and `next` link the
 * slabs of a kind with free blocks.
 */

export const HEADERS: i32 = 0;
/** Leaf chunks of 4, 8, 16, 32 and 64 positions are kinds 1 to 5. */
export const LEAF_CHUNKS: i32 = 1;
export const INNER_CHUNKS: i32 = 6;
export const ORDER_BLOCKS: i32 = 7;
export const JOURNAL_PAGES: i32 = 8;

const SLAB_BYTES: usize = 65536;
const SLAB_HEADER: usize = 32;
/** Size of the largest possible block. */
export const LARGEST_BLOCK: u32 = <u32>(SLAB_BYTES - SLAB_HEADER);

const USED: usize = 4;
const FREE: usize = 8;
const FRESH: usize = 12;
const PREVIOUS: usize = 16;
const NEXT: usize = 20;

/** Block size by kind, and the first slab with free blocks. */
const sizes: usize = memory.data(36, 16);
const open: usize = memory.data(36, 16);

let pool: usize = 0;
let poolSlabs: i32 = 0;
let frontier: usize = 0;
let blockBytes: u64 = 0;

/** Size of all blocks in use. */
export function usedBytes(): f64 {
  return <f64>blockBytes;
}

/** @param size - a multiple of 8 */
export function defineKind(kind: i32, size: u32): void {
  store<u32>(sizes + ((<usize>kind) << 2), size);
}

/** Number of slabs that memory still has for any kind. */
function spareSlabs(): i32 {
  if (frontier === 0) frontier = (__heap_base + SLAB_BYTES - 1) & ~(SLAB_BYTES - 1);
  const end = (<u64>memory.size()) << 16;
  return poolSlabs + (end > <u64>frontier ? <i32>((end - frontier) >> 16) : 0);
}

/** A slab that `reserve` does not use, so that changes can be undone when there is no more memory. */
const KEPT_BACK: i32 = 1;
let refusesNothing: bool = false;

/** While changes are undone, the kept-back slab is used, and `reserve` never fails. */
export function refuseNothing(on: bool): void {
  refusesNothing = on;
}

/** Reserves memory for `slabs` more slabs. @returns false if the engine gives no more memory */
export function reserve(slabs: i32): bool {
  return refusesNothing || grow(slabs + KEPT_BACK);
}

function grow(slabs: i32): bool {
  const missing = slabs - spareSlabs();
  if (missing <= 0) return true;
  // Larger memories grow in larger steps. The slab at the end of 4 GiB is not used, so that no address overflows.
  const size = memory.size();
  const step = max(missing + 1, size >> 5);
  if (size + step < 65535 && memory.grow(step) >= 0) return true;
  return size + missing + 1 < 65535 && memory.grow(missing + 1) >= 0;
}

/** Allocates a block of a kind; its content is undefined. After `reserve` this cannot fail. */
export function take(kind: i32): usize {
  const head = open + ((<usize>kind) << 2);
  const size = load<u32>(sizes + ((<usize>kind) << 2));
  let slab: usize = load<u32>(head);
  if (slab === 0) {
    slab = openSlab();
    store<u32>(slab, kind);
    store<u32>(slab, 0, USED);
    store<u32>(slab, 0, FREE);
    store<u32>(slab, <u32>(slab + SLAB_HEADER), FRESH);
    link(slab, head);
  }
  let block: usize = load<u32>(slab, FREE);
  if (block !== 0) store<u32>(slab, load<u32>(block), FREE);
  else {
    block = load<u32>(slab, FRESH);
    store<u32>(slab, <u32>(block + size), FRESH);
  }
  store<u32>(slab, load<u32>(slab, USED) + 1, USED);
  if (isFull(slab, size)) unlink(slab, head);
  blockBytes += size;
  return block;
}

/** Frees a block. */
export function give(block: usize): void {
  const slab = block & ~(SLAB_BYTES - 1);
  const kind: usize = load<u32>(slab);
  const head = open + (kind << 2);
  const size = load<u32>(sizes + (kind << 2));
  if (isFull(slab, size)) link(slab, head);
  store<u32>(block, load<u32>(slab, FREE));
  store<u32>(slab, <u32>block, FREE);
  const used = load<u32>(slab, USED) - 1;
  store<u32>(slab, used, USED);
  blockBytes -= size;
  if (used > 0) return;
  unlink(slab, head);
  store<u32>(slab, <u32>pool, NEXT);
  pool = slab;
  poolSlabs++;
}

function openSlab(): usize {
  if (!grow(1)) unreachable();
  let slab = pool;
  if (slab !== 0) {
    pool = load<u32>(slab, NEXT);
    poolSlabs--;
  } else {
    slab = frontier;
    frontier += SLAB_BYTES;
  }
  return slab;
}

function isFull(slab: usize, size: u32): bool {
  return load<u32>(slab, FREE) === 0 && load<u32>(slab, FRESH) + size > <u32>(slab + SLAB_BYTES);
}

function link(slab: usize, head: usize): void {
  const next: usize = load<u32>(head);
  store<u32>(slab, 0, PREVIOUS);
  store<u32>(slab, <u32>next, NEXT);
  if (next !== 0) store<u32>(next, <u32>slab, PREVIOUS);
  store<u32>(head, <u32>slab);
}

function unlink(slab: usize, head: usize): void {
  const previous: usize = load<u32>(slab, PREVIOUS);
  const next: usize = load<u32>(slab, NEXT);
  if (previous !== 0) store<u32>(previous, <u32>next, NEXT);
  else store<u32>(head, <u32>next);
  if (next !== 0) store<u32>(next, <u32>previous, PREVIOUS);
}
