/**
 * Blocks of memory, each a power of two of at least 64 bytes. Freed blocks are kept in lists by size and used again.
 * A kernel that needs more than its limit traps; the host then drops the instance.
 */

const SMALLEST: u32 = 6;

let top: usize = (__heap_base + 15) & ~15;
let limit: usize = 512 << 20;
const FREE: usize = memory.data(4 * 32, 16);

/** Largest size of the memory, bytes. */
export function setLimit(bytes: usize): void {
  limit = bytes;
}

function sizeClass(bytes: usize): u32 {
  const exponent = 32 - <u32>clz<u32>(<u32>bytes - 1);
  return bytes <= 1 << SMALLEST ? SMALLEST : exponent;
}

function claim(end: usize): void {
  if (end > limit) unreachable();
  const pages = memory.size();
  const needed = <i32>((end + 0xffff) >> 16);
  if (needed > pages && memory.grow(max(needed - pages, min(pages, 256))) < 0 && memory.grow(needed - pages) < 0) {
    unreachable();
  }
}

/** A block of at least `bytes`; its content is undefined. */
export function allocate(bytes: usize): usize {
  if (bytes > limit) unreachable();
  const exponent = sizeClass(bytes);
  const list = FREE + (exponent << 2);
  const free = <usize>load<u32>(list);
  if (free !== 0) {
    store<u32>(list, load<u32>(free));
    return free;
  }
  const block = top;
  const end = block + ((<usize>1) << exponent);
  claim(end);
  top = end;
  return block;
}

/** @param bytes - as it was asked for */
export function release(block: usize, bytes: usize): void {
  const list = FREE + (sizeClass(bytes) << 2);
  store<u32>(block, load<u32>(list));
  store<u32>(list, <u32>block);
}

/** Bytes that a block asked for with `bytes` really has. */
export function capacityOf(bytes: usize): usize {
  return (<usize>1) << sizeClass(bytes);
}

/**
 * A larger block with the first `used` bytes of another one, which is freed. The last block of the memory grows where it
 * is.
 */
export function enlarge(block: usize, bytes: usize, used: usize, wanted: usize): usize {
  if (wanted > limit) unreachable();
  const size = capacityOf(bytes);
  if (block + size === top) {
    const end = block + capacityOf(wanted);
    claim(end);
    top = end;
    return block;
  }
  const larger = allocate(wanted);
  memory.copy(larger, block, used);
  release(block, bytes);
  return larger;
}
