const ELEMENT_BITS = 254;
const ELEMENT_BYTES = 32;

/**
 * Size for the fee formula in bytes. Bytes that LZSS does not shrink are stored after the 3-byte header, which may be a
 * byte or two longer than LZSS. The result is packed into field elements of 254 usable bits, 32 bytes each.
 *
 * @param lzss - size of the LZSS stream, header included
 * @param length - bytes before compression
 * @source docs/spec/compression.md 6
 */
export function packedSize(lzss: number, length: number): number {
  const bytes = lzss > length ? length + 3 : lzss;
  return ELEMENT_BYTES * Math.ceil((8 * bytes) / ELEMENT_BITS);
}
