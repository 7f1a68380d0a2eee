/**
 * Sample calls. Bytes that differ from call to call (amounts, people, hashes) are gaps; what stands between two gaps is a
 * segment worth having in the dictionary.
 */
import { argumentTypes, headWords, hex, isDynamic, join, selector, stringPrefix, word, zeros } from './encode.mjs';

/** Zero bytes that usually lead an argument, before the part that differs. */
const LEADING_ZEROS = {
  address: 12,
  uint256: 22,
  int256: 22,
  uint160: 12,
  uint128: 22,
  uint48: 26,
  uint64: 26,
  uint32: 29,
};
const FEE_TIER = '0bb8';
/** Bytes of a sample `bytes`: one signature. */
const BYTES_LENGTH = 65;

const gap = { gap: true };

function encodeStatic(type) {
  if (type.startsWith('(')) return argumentTypes(type).flatMap(encodeStatic);
  const fixed = /^(.*)\[(\d+)\]$/.exec(type);
  if (fixed) return Array.from({ length: Number(fixed[2]) }, () => encodeStatic(fixed[1])).flat();
  if (type === 'bool') return [word(1)];
  if (type === 'uint8') return [word('1b')];
  if (type === 'uint24') return [word(FEE_TIER)];
  if (type === 'uint16') return [word(0)];
  if (type in LEADING_ZEROS) return [zeros(LEADING_ZEROS[type]), gap];
  return [gap];
}

/** Bytes of a dynamic value and its pieces. */
function encodeDynamic(type) {
  if (type === 'bytes') return { length: 128, pieces: [word(BYTES_LENGTH), gap] };
  if (type === 'string') return { length: 64, pieces: [word(5), gap] };
  if (type.endsWith('[]')) {
    const inner = type.slice(0, -2);
    const count = inner === 'address' ? 2 : 1;
    const elements = encodeTuple(Array.from({ length: count }, () => inner));
    return { length: 32 + elements.length, pieces: [word(count), ...elements.pieces] };
  }
  return encodeTuple(argumentTypes(type));
}

function encodeTuple(types) {
  const headBytes = types.reduce((sum, type) => sum + 32 * headWords(type), 0);
  const head = [];
  const tail = [];
  let tailBytes = 0;
  for (const type of types) {
    if (!isDynamic(type)) head.push(...encodeStatic(type));
    else {
      const value = encodeDynamic(type);
      head.push(word(headBytes + tailBytes));
      tail.push(...value.pieces);
      tailBytes += value.length;
    }
  }
  return { length: headBytes + tailBytes, pieces: [...head, ...tail] };
}

/** Segments of a call as it stands in a transaction: value zero, length of the payload, selector, arguments. */
export function callSegments(signature) {
  const { length, pieces } = encodeTuple(argumentTypes(signature));
  const segments = [];
  let open = [hex('80'), stringPrefix(4 + length), selector(signature)];
  for (const piece of pieces) {
    if (piece === gap) {
      segments.push(join(...open));
      open = [];
    } else open.push(piece);
  }
  return [...segments, join(...open)].filter((segment) => segment.some((byte) => byte !== 0));
}
