/** Whether bit `i` is set; each byte has its least significant bit first. */
export function isPresent(bits: Uint8Array, i: number): boolean {
  return ((bits[i >> 3]! >> (i & 7)) & 1) === 1;
}

/** Number of set bits. */
export function countParticipants(bits: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < 8 * bits.length; i++) if (isPresent(bits, i)) count++;
  return count;
}
