/** What the dictionary's parts are written with: bytes from hex, ABI words, RLP items, selectors. */
import { keccak_256 } from '@noble/hashes/sha3.js';

export const hex = (text) => Uint8Array.from(Buffer.from(text.replace(/\s+/g, ''), 'hex'));
export const ascii = (text) => new TextEncoder().encode(text);
export const join = (...parts) => Uint8Array.from(Buffer.concat(parts));
export const zeros = (count) => new Uint8Array(count);

export const hashOf = (signature) => keccak_256(ascii(signature));
export const selector = (signature) => hashOf(signature).slice(0, 4);

/** A number or short hex text as a 32-byte ABI word. */
export function word(value) {
  const digits = typeof value === 'string' ? value : value.toString(16);
  return hex(digits.padStart(64, '0'));
}

/** Length prefix of an RLP string whose length stands in one or two bytes. */
export function stringPrefix(length) {
  if (length < 56) return Uint8Array.of(0x80 + length);
  return length < 256 ? Uint8Array.of(0xb8, length) : Uint8Array.of(0xb9, length >> 8, length & 255);
}

/** A minimal big-endian RLP integer. */
export function rlpInteger(value) {
  if (value === 0n) return hex('80');
  const digits = value.toString(16);
  const bytes = hex(digits.length % 2 === 0 ? digits : `0${digits}`);
  return bytes.length === 1 && bytes[0] < 0x80 ? bytes : join(Uint8Array.of(0x80 + bytes.length), bytes);
}

/** Argument types of a signature, nested tuples kept whole: `f(a,(b,c)[])` gives `a` and `(b,c)[]`. */
export function argumentTypes(signature) {
  const inner = signature.slice(signature.indexOf('(') + 1, -1);
  const types = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= inner.length; i++) {
    const letter = inner[i];
    if (letter === '(') depth++;
    else if (letter === ')') depth--;
    else if ((letter === ',' && depth === 0) || i === inner.length) {
      if (i > start) types.push(inner.slice(start, i));
      start = i + 1;
    }
  }
  return types;
}

/** Whether a type is encoded behind an offset. */
export function isDynamic(type) {
  if (type === 'bytes' || type === 'string' || type.endsWith('[]')) return true;
  return type.startsWith('(') && argumentTypes(type).some(isDynamic);
}

/** Words that a static type takes. */
export function headWords(type) {
  if (isDynamic(type) || !type.startsWith('(')) return 1;
  return argumentTypes(type).reduce((sum, inner) => sum + headWords(inner), 0);
}
