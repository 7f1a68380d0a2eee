/**
 * Static regions for data between host and hash kernel. Nothing is allocated and memory never grows, so the host may
 * keep its views.
 *
 *   INPUT    64 KiB   concatenated inputs
 *   OUTPUT   32 KiB   concatenated digests
 */
export const INPUT_BYTES: i32 = 65536;
export const OUTPUT_BYTES: i32 = 32768;
export const INPUT: usize = memory.data(65536, 16);
export const OUTPUT: usize = memory.data(32768, 16);
