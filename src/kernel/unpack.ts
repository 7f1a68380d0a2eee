/** Digits before the bytes: one bit for each of the 256 values of a byte, the lowest bit of a digit first. */
const HEAD_DIGITS = 64;
/** Codes of the 87 characters that stand for values: from `#` to `~`, without `$ ' < \` and the back quote. */
const CODES = Array.from({ length: 92 }, (_, i) => 0x23 + i).filter(
  (code) => !"$'<\\`".includes(String.fromCharCode(code)),
);
/** Before a character, ` ` and `!` choose another value of it. */
const LAST_PREFIX = 0x21;
const ASCII = 128;

/**
 * The bytes of a kernel, which scripts/build-wasm.mjs has written as text. A value whose bit is set in the head is one
 * character: the first of these is `#`, the next one the character after it. Other values are two: the same characters after a
 * space, and after `!` when those are used up.
 *
 * @param text - as in `wasm/*.generated.ts`
 */
export function unpack(text: string): Uint8Array<ArrayBuffer> {
  const values = valuesOf(text);
  // The bytes take the place of their text, which is longer. A buffer is read faster than a string before the loop is compiled.
  const bytes = new TextEncoder().encode(text);
  let length = 0;
  let part = 0;
  for (let at = HEAD_DIGITS; at < bytes.length; at++) {
    const code = bytes[at]!;
    if (code <= LAST_PREFIX) {
      part = (code - LAST_PREFIX + 2) * ASCII;
    } else {
      bytes[length++] = values[part + code]!;
      part = 0;
    }
  }
  return bytes.slice(0, length);
}

/** Values by the code of their character: alone, after a space, after `!`. */
function valuesOf(text: string): Uint8Array {
  const values = new Uint8Array(3 * ASCII);
  let frequent = 0;
  let others = 0;
  for (let value = 0; value < 256; value++) {
    if ((Number.parseInt(text[value >> 2]!, 16) >> (value & 3)) & 1) {
      values[CODES[frequent++]!] = value;
    } else {
      const part = others < CODES.length ? ASCII : 2 * ASCII;
      values[part + CODES[others++ % CODES.length]!] = value;
    }
  }
  return values;
}
