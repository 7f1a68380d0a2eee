/**
 * The static regions through which the host talks to the hash kernel. Nothing allocates and memory never grows, so the
 * host may keep its views.
 *
 *   INPUT    64 KiB   inputs laid end to end
 *   OUTPUT   32 KiB   digests laid end to end
 */
export const INPUT_BYTES: i32 = 65536;
export const OUTPUT_BYTES: i32 = 32768;
export const INPUT: usize = memory.data(65536, 16);
export const OUTPUT: usize = memory.data(32768, 16);
