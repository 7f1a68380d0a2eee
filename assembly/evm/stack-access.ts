import { INVALID_OPCODE, NONE, STACK_OVERFLOW, STACK_UNDERFLOW } from './exceptions';

/** The immediate byte of DUPN, SWAPN and EXCHANGE (EIP-8024): which items of the stack it names. */

const MOST_ITEMS: i32 = 1024;

/** How far below the top the items are, in bytes. */
export let firstItem: usize = 0;
export let secondItem: usize = 0;

/**
 * Of DUPN the item to copy, counted below the new top; of SWAPN the two to swap.
 *
 * @param items - on the stack @param grows - DUPN @returns exception
 */
export function decodeSingle(immediate: u32, items: i32, grows: bool): i32 {
  if (immediate > 90 && immediate < 128) return INVALID_OPCODE;
  const n = (immediate + 145) & 255;
  if (items < <i32>n + <i32>!grows) return STACK_UNDERFLOW;
  if (grows && items === MOST_ITEMS) return STACK_OVERFLOW;
  firstItem = (<usize>n) << 5;
  secondItem = 0;
  return NONE;
}

/** Of EXCHANGE the two to swap. */
export function decodePair(immediate: u32, items: i32): i32 {
  if (immediate > 81 && immediate < 128) return INVALID_OPCODE;
  const k = immediate ^ 143;
  const q = k >> 4;
  const r = k & 15;
  const n = q < r ? q + 1 : r + 1;
  const m = q < r ? r + 1 : 29 - q;
  if (items <= <i32>max(n, m)) return STACK_UNDERFLOW;
  firstItem = (<usize>n) << 5;
  secondItem = (<usize>m) << 5;
  return NONE;
}
