import { HARDFORKS, type Hardfork } from '../../src/networks/network.js';

/** Gives one of 0 to `bound - 1`. */
export type Below = (bound: number) => number;

/** Operands of instructions that take some, by opcode. */
export const OPERANDS: Readonly<Record<number, number>> = {
  ...Object.fromEntries([...Array(12).keys()].map((i) => [i, i === 8 || i === 9 ? 3 : 2])),
  ...Object.fromEntries([...Array(16).keys()].map((i) => [0x10 + i, i === 5 || i === 9 || i === 14 ? 1 : 2])),
  32: 2,
  49: 1,
  53: 1,
  55: 3,
  57: 3,
  59: 1,
  60: 4,
  62: 3,
  63: 1,
  64: 1,
  73: 1,
  80: 1,
  81: 1,
  82: 2,
  83: 2,
  84: 1,
  85: 2,
  86: 1,
  87: 2,
  92: 1,
  93: 2,
  94: 3,
  160: 2,
  161: 3,
  162: 4,
  163: 5,
  164: 6,
  240: 3,
  241: 7,
  242: 7,
  243: 2,
  244: 6,
  245: 4,
  250: 6,
  253: 2,
  255: 1,
};
/** Whose first operands name accounts, and which of them does. */
export const NAMING: Readonly<Record<number, number>> = { 49: 0, 59: 0, 60: 0, 63: 0, 255: 0 };
/** CALL, CALLCODE, DELEGATECALL, STATICCALL. */
export const CALLS = [0xf1, 0xf2, 0xf4, 0xfa];

/** The fork that instructions came with, where it was not there from the start. */
const SINCE: readonly (readonly [fork: Hardfork, ...opcodes: number[]])[] = [
  ['homestead', 0xf4],
  ['byzantium', 0x3d, 0x3e, 0xfa, 0xfd],
  ['constantinople', 0x1b, 0x1c, 0x1d, 0x3f, 0xf5],
  ['istanbul', 0x46, 0x47],
  ['london', 0x48],
  ['shanghai', 0x5f],
  ['cancun', 0x49, 0x4a, 0x5c, 0x5d, 0x5e],
  ['osaka', 0x1e],
];
const AT_FIRST = [
  ...[0x01, 0x02, 0x04, 0x06, 0x08, 0x0a, 0x0b, 0x10, 0x13, 0x16, 0x1a, 0x20, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x37],
  ...[0x39, 0x3a, 0x3b, 0x3c, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x51, 0x52, 0x53, 0x54, 0x55, 0x58, 0x59, 0x5a, 0x5b],
  ...[0x60, 0x67, 0x7f, 0x80, 0x82, 0x90, 0x91, 0xa0, 0xa1, 0xa4, 0xf0, 0xf1, 0xf2],
];
/** What changes most: storage, calls and creations. */
const OFTEN = [0x54, 0x55, 0x55, 0xf0, 0xf1, 0xf1, 0xf2, 0x31, 0x3b];

/** Opcodes as a program has them: of the fork, but for one now and then; rarely one that ends it. */
export function opcodes(below: Below, count: number, hardfork: Hardfork): number[] {
  const newer = SINCE.flatMap(([fork, ...some]) =>
    HARDFORKS.indexOf(fork) <= HARDFORKS.indexOf(hardfork) ? some : [],
  );
  const all = [...AT_FIRST, ...newer.filter((opcode) => opcode !== 0xfd), ...newer.filter((opcode) => opcode !== 0xfd)];
  return Array.from({ length: count }, () => {
    const roll = below(40);
    if (roll === 0) return [0x00, 0xf3, 0xfd, 0xfe, 0xff, 0x56][below(6)]!;
    if (roll === 1) return below(256);
    return roll < 12 ? OFTEN[below(OFTEN.length)]! : all[below(all.length)]!;
  });
}
