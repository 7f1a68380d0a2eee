/** Constants of the format (docs/spec/compression.md 4.1). Sizes of phrases in bits, lengths in bytes. */

export const LITERAL_BITS: i32 = 8;
export const SHORT_BITS: i32 = 30;
export const DYNAMIC_BITS: i32 = 37;

export const MAX_MATCH: i32 = 256;
export const MIN_SHORT: i32 = 4;
export const MIN_DYNAMIC: i32 = 5;

/** Maximum distance of a short reference. */
export const WINDOW: i32 = 16384;

/** 0xFE and 0xFF start references and cannot be literals. */
export function isReserved(byte: i32): bool {
  return byte >= 0xfe;
}
