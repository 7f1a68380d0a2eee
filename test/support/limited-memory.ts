/** A WebAssembly module whose memory may not grow beyond a limit, as in an engine that has no more to give. */

/** The one section of a module that says how large its memory is. */
const MEMORY_SECTION = 5;

/**
 * The same module with a limit.
 *
 * @param module - with one memory, without a limit of its own
 * @param maxPages - of 64 KiB, not fewer than it begins with
 */
export function limitMemory(module: Uint8Array, maxPages: number): Uint8Array<ArrayBuffer> {
  // Behind the 8 bytes of magic and version: sections of an id, a length and that many bytes.
  for (let at = 8; at < module.length; ) {
    const size = readNumber(module, at + 1);
    const end = size.end + size.value;
    if (module[at] === MEMORY_SECTION) {
      const [memories, flags] = module.subarray(size.end);
      if (memories !== 1 || flags !== 0) throw new Error('not one memory without a limit');
      const first = readNumber(module, size.end + 2).value;
      const content = [1, 1, ...number(first), ...number(maxPages)];
      const section = [MEMORY_SECTION, ...number(content.length), ...content];
      return Uint8Array.of(...module.subarray(0, at), ...section, ...module.subarray(end));
    }
    at = end;
  }
  throw new Error('a module without memory');
}

/** LEB128. */
function number(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...number(value >>> 7)];
}

function readNumber(bytes: Uint8Array, at: number): { value: number; end: number } {
  const byte = bytes[at]!;
  if (byte < 128) return { value: byte, end: at + 1 };
  const rest = readNumber(bytes, at + 1);
  return { value: (byte & 127) | (rest.value << 7), end: rest.end };
}
