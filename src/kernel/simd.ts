/** `i8x16.splat` and `drop` in a function of an otherwise empty module: valid only with SIMD. */
export const SIMD_PROBE: Uint8Array<ArrayBuffer> = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  1,
  4,
  1,
  96,
  0,
  0,
  3,
  2,
  1,
  0,
  10,
  9,
  1,
  7,
  0,
  65,
  0,
  253,
  15,
  26,
  11,
);

/** Whether this engine supports WebAssembly SIMD. */
export function hasSimd(): boolean {
  return typeof WebAssembly === 'object' && WebAssembly.validate(SIMD_PROBE);
}
