import { bytesToBigInt, isZeroBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';

const ERROR_SELECTOR = '0x08c379a0';
const PANIC_SELECTOR = '0x4e487b71';

/** geth's words for the codes of `Panic(uint256)`. */
const PANICS: Readonly<Record<number, string>> = {
  0: 'generic panic',
  1: 'assert(false)',
  17: 'arithmetic underflow or overflow',
  18: 'division or modulo by zero',
  33: 'enum overflow',
  34: 'invalid encoded storage byte array accessed',
  49: 'out-of-bounds array access; popping on an empty array',
  50: 'out-of-bounds access of an array or bytesN',
  65: 'out of memory',
  81: 'uninitialized function',
};

/**
 * What the data of a revert says: the text of `Error(string)`, or the meaning of a `Panic(uint256)`.
 *
 * @returns undefined for other data, and for data that does not decode strictly
 * @source docs/spec/preview.md 2.4
 */
export function solidityReason(data: Uint8Array): string | undefined {
  if (data.length < 36) return undefined;
  const selector = bytesToHex(data.subarray(0, 4));
  const body = data.subarray(4);
  if (selector === PANIC_SELECTOR) {
    const code = bytesToBigInt(body.subarray(0, 32));
    return PANICS[Number(code)] ?? `unknown panic code: 0x${code.toString(16)}`;
  }
  return selector === ERROR_SELECTOR ? stringOf(body) : undefined;
}

function stringOf(body: Uint8Array): string | undefined {
  const offset = word(body, 0);
  const length = offset === undefined ? undefined : word(body, offset);
  if (offset === undefined || length === undefined || offset + 32 + length > body.length) return undefined;
  return new TextDecoder().decode(body.subarray(offset + 32, offset + 32 + length));
}

/** @returns undefined for a word that is not there, or larger than any length */
function word(body: Uint8Array, at: number): number | undefined {
  if (at + 32 > body.length || !isZeroBytes(body.subarray(at, at + 28))) return undefined;
  return Number(bytesToBigInt(body.subarray(at + 28, at + 32)));
}
