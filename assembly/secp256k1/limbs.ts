/** Numbers below 2^256 as nine limbs of 29 or 30 bits, and as eight words of 32 bits, least first either way. */
export const LIMBS_BYTES: usize = 36;

export function limbsOf(words: usize, bits: u64, into: usize): void {
  const mask = ((<u64>1) << bits) - 1;
  let window: u64 = 0;
  let held: u64 = 0;
  for (let i: usize = 0; i < LIMBS_BYTES; i += 4) {
    if (i < LIMBS_BYTES - 4) {
      window |= (<u64>load<u32>(words + i)) << held;
      held += 32 - bits;
    }
    store<u32>(into + i, <u32>(window & mask));
    window >>= bits;
  }
}

/** @param limbs - none negative or above its bits */
export function wordsOf(limbs: usize, bits: u64, into: usize): void {
  let window: u64 = load<u32>(limbs);
  let held: u64 = bits;
  for (let i: usize = 4; i < LIMBS_BYTES; i += 4) {
    window |= (<u64>load<u32>(limbs + i)) << held;
    store<u32>(into + i - 4, <u32>window);
    window >>= 32;
    held -= 32 - bits;
  }
}
