/** What the generators of the BLS12-377 field code share: the modulus by limbs of 29 bits, and words for writing code out. */

/** The modulus: order of the scalar field of BLS12-377. */
export const R = 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n;
export const LIMBS = 9;
export const LIMB_BITS = 29n;
export const MASK = (1n << LIMB_BITS) - 1n;
/** A limb of the modulus, least first. */
export const limb = (i) => (R >> (LIMB_BITS * BigInt(i))) & MASK;
if (limb(0) !== 1n || limb(2) !== 66n) throw new Error('the reduction is written for another modulus');

/** The points at which products of blocks of three limbs are taken. */
export const POINTS = ['x', 'y', 'z', 'xy', 'xz', 'yz'];
/** Limbs of the two blocks of U. */
export const U = { L: [3, 4, 5], H: [6, 7, 8] };

export const hex = (value) => `0x${value.toString(16)}`;
export const range = (count) => Array.from({ length: count }, (_, i) => i);
/** Locals of 64 bits, declared as zero. */
export const zeros = (names) => `let ${names.map((name) => `${name}: i64 = 0`).join(', ')};`;
export const indent = (lines, by) => lines.map((line) => ' '.repeat(by) + line).join('\n');
