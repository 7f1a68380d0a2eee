const ELEMENT_BITS = 254;
const ELEMENT_BYTES = 32;

/**
 * Size that the fee formula uses, in bytes: bytes that LZSS does not shrink are stored behind the 3-byte header (which can
 * make them a byte or two longer than LZSS did), and the result fills field elements of 254 usable bits, 32 bytes each.
 *
 * @param lzss - size of the LZSS stream with its header
 * @param length - bytes before compression
 * @source docs/spec/compression.md 6
 */
export function packedSize(lzss: number, length: number): number {
  const bytes = lzss > length ? length + 3 : lzss;
  return ELEMENT_BYTES * Math.ceil((8 * bytes) / ELEMENT_BITS);
}
