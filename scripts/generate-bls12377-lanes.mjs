/**
 * Writes assembly/field/bls12377-lanes.ts: the rounds of MiMC's cipher for two elements at once, one in each half of a
 * vector. Names, points and the order of the steps are those of scripts/generate-bls12377.mjs; three things differ.
 *
 * - Factors of a product stand side by side in the low half, since `extmul_low` takes them there; products, columns and
 *   carries have 64 bits and a half each. `narrow` goes from the second form to the first.
 * - SIMD on x86 has no signed 64-bit shift. Columns carry a bias of 2^63 instead, and carries one of 2^34, which does not
 *   show in the low 32 bits.
 * - Constants are loaded: engines build a literal vector anew at each use, in several instructions.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { hex, indent, LIMB_BITS, LIMBS, limb, MASK, POINTS, range, U } from './lib/bls12377.mjs';

const MASKS = [MASK, 1n << 63n, (1n << 63n) - (1n << 34n)];

const limbName = (letter, i) => `${letter}${Math.floor(i / 3)}${'xyz'[i % 3]}`;
const names = (letter) => range(LIMBS).map((i) => limbName(letter, i));
const blocks = (letter) => range(3).flatMap((block) => POINTS.map((p) => `${letter}${block}${p}`));
const sums = (letter, block, declare = '') =>
  POINTS.slice(3).map(
    (p) => `${declare}${letter}${block}${p} = i32x4.add(${letter}${block}${p[0]}, ${letter}${block}${p[1]});`,
  );

const add = (...terms) => terms.reduce((sum, term) => (sum === '' ? term : `add(${sum}, ${term})`), '');
const subtract = (from, ...terms) => terms.reduce((rest, term) => `subtract(${rest}, ${term})`, from);
const times = (a, b) => `times(${a}, ${b})`;
const twice = (a) => `twice(${a})`;
const constant = (name) => `v128.load(${CONSTANTS.get(name).at === 0 ? 'TABLE' : `TABLE, ${CONSTANTS.get(name).at}`})`;

const CONSTANTS = new Map(
  [
    ...Object.entries(U).flatMap(([name, limbs]) =>
      POINTS.map((p) => [`${name}${p}`, -[...p].reduce((sum, x) => sum + limb(limbs['xyz'.indexOf(x)]), 0n)]),
    ),
    ['NEAR', -(limb(1) + (2n << LIMB_BITS))],
  ].map(([name, value], i) => [name, { value, at: 16 * i }]),
);

const square = {
  0: (p) => [times(`a0${p}`, `a0${p}`)],
  1: (p) => [twice(times(`a0${p}`, `a1${p}`))],
  2: (p) => [twice(times(`a0${p}`, `a2${p}`)), times(`a1${p}`, `a1${p}`)],
  3: (p) => [twice(times(`a1${p}`, `a2${p}`))],
  4: (p) => [times(`a2${p}`, `a2${p}`)],
};
/** Pairs of blocks whose products belong to a group of columns: indices add up to the group. */
const product = Object.fromEntries(
  range(5).map((g) => {
    const firsts = range(3).filter((i) => g - i >= 0 && g - i < 3);
    return [g, (p) => firsts.map((i) => times(`a${i}${p}`, `b${g - i}${p}`))];
  }),
);
/** Products of the reduction's factors with the blocks L and H of U that belong to a group of columns. */
const multiples = (g, p) =>
  [0, 1, 2].flatMap((i) => {
    const part = { 0: 'L', 1: 'H' }[g - 1 - i];
    return part === undefined ? [] : [times(`q${i}${p}`, constant(`${part}${p}`))];
  });

function group(g, terms) {
  const lines = POINTS.map((p) => `w${p} = ${add(...terms[g](p), ...multiples(g, p))};`);
  const column = (i) => `c${3 * g + i}`;
  lines.push(
    ...(g === 0
      ? ['sum = wx;', `${column(0)} = wx;`]
      : ['sum = subtract(wx, over);', `${column(0)} = ${add(column(0), 'sum')};`]),
    `${column(1)} = ${subtract('wxy', 'wy', 'sum')};`,
    `${column(2)} = ${subtract(add('wxz', 'wy'), 'wx', 'wz')};`,
    `${column(3)} = ${g === 4 ? subtract('wyz', 'wy', 'wz') : subtract('wyz', 'wy')};`,
    g === 4 ? `${column(4)} = wz;` : 'over = wz;',
  );
  return lines;
}

/** A step of the reduction, or of the carries after it: the column with what earlier factors and carries bring. */
function step(k) {
  const sum = add(`c${k}`, ...(k === 0 ? ['first'] : ['later', 'carry']), ...(k > 0 && k <= LIMBS ? ['near'] : []));
  return `sum = ${k >= 2 && k <= LIMBS + 1 ? subtract(sum, `far${k % 2}`) : sum};`;
}

function factors(block) {
  const lines = [];
  for (let k = 3 * block; k < 3 * block + 3; k++) {
    const q = limbName('q', k);
    lines.push(
      step(k),
      'carry = shift(sum);',
      'sum = v128.and(sum, mask);',
      `${q} = narrow(sum);`,
      `near = times(${q}, ${constant('NEAR')});`,
      `far${k % 2} = i64x2.shl(sum, 6);`,
    );
  }
  return [...lines, ...sums('q', block)];
}

function steps(terms) {
  const lines = [...group(0, terms)];
  for (let block = 0; block < 3; block++) lines.push(...factors(block), ...group(block + 1, terms));
  lines.push(...group(4, terms));
  for (let k = LIMBS; k < 2 * LIMBS - 1; k++) {
    lines.push(step(k), 'carry = shift(sum);', `${limbName('n', k - LIMBS)} = narrow(v128.and(sum, mask));`);
  }
  lines.push(...range(LIMBS).map((i) => `${limbName('a', i)} = ${i < 8 ? limbName('n', i) : 'narrow(carry)'};`));
  return lines;
}

const declare = (list) => `let ${list.map((name) => `${name} = zero`).join(', ')};`;
const a = names('a');
const top = LIMBS - 1;

const source = `// Generated by scripts/generate-bls12377-lanes.mjs; do not edit.
// biome-ignore-all format: a step a line
// biome-ignore-all lint/style/useSingleVarDeclarator: the limbs are one number

/**
 * Two elements of the BLS12-377 scalar field at once, in the form of ./bls12377: a vector a limb, least first, 144 bytes,
 * the two elements' limbs in its first two words. Only the SIMD build uses this. The generator explains how it works.
 */
export const PAIR_BYTES: usize = ${16 * LIMBS};

// Limbs of the modulus, and sums of them, negated; last the second limb and two of the third.
const TABLE: usize = memory.data<i32>([
${[...CONSTANTS.values()].map(({ value }) => `  ${value}, ${value}, 0, 0,`).join('\n')}
], 16);
// The mask of a limb, and the bias that a column gets: 2^63, less the bias of the carry where there is one.
const MASKS: usize = memory.data<u64>([${MASKS.map(hex).join(', ')}], 16);
/** The sum of a round. */
const SUM: usize = memory.data(${16 * LIMBS}, 16);

function add(a: v128, b: v128): v128 {
  return i64x2.add(a, b);
}
function subtract(a: v128, b: v128): v128 {
  return i64x2.sub(a, b);
}
function twice(a: v128): v128 {
  return i64x2.add(a, a);
}
function times(a: v128, b: v128): v128 {
  return i64x2.extmul_low_i32x4_s(a, b);
}
function shift(a: v128): v128 {
  return i64x2.shr_u(a, ${LIMB_BITS});
}
function narrow(a: v128): v128 {
  return v128.shuffle<i32>(a, a, 0, 2, 0, 2);
}

/**
 * A round of MiMC's cipher for each constant from \`constants\` to \`end\`, elements as in ./bls12377:
 * \`value = (value + state + constant)^17\`. The value is below 2.4 times the modulus in size, the state below 1.1 times.
 */
export function roundsOfTwo(value: usize, state: usize, constants: usize, end: usize): void {
  const zero = i64x2.splat(0);
  const mask = v128.load64_splat(MASKS);
  const first = v128.load64_splat(MASKS, 8);
  const later = v128.load64_splat(MASKS, 16);
  const mask32 = v128.load32_splat(MASKS);
${indent(
  a.map((name, i) => `let ${name} = v128.load(value, ${16 * i});`),
  2,
)}
  ${declare(range(3).flatMap((b) => POINTS.slice(3).map((p) => `a${b}${p}`)))}
  ${declare(blocks('q'))}
  ${declare(names('n').slice(0, 8))}
  ${declare(POINTS.map((p) => `w${p}`))}
  ${declare(range(17).map((i) => `c${i}`))}
  ${declare(['sum', 'over', 'carry', 'near', 'far0', 'far1'])}
  for (; constants < end; constants += ${4 * LIMBS}) {
${indent(
  a.map(
    (name, i) =>
      `${name} = i32x4.add(i32x4.add(${name}, v128.load(state, ${16 * i})), v128.load32_splat(constants, ${4 * i}));`,
  ),
  4,
)}
${indent(
  range(LIMBS)
    .map((i) => top - i)
    .map((i) => {
      const own = i < top ? `v128.and(${a[i]}, mask32)` : a[i];
      return `${a[i]} = ${i > 0 ? `i32x4.add(${own}, i32x4.shr_s(${a[i - 1]}, ${LIMB_BITS}))` : own};`;
    }),
  4,
)}
${indent(
  a.map((name, i) => `v128.store(SUM, ${name}, ${16 * i});`),
  4,
)}
    for (let squarings = 4; squarings > 0; squarings--) {
${indent(
  range(3).flatMap((block) => sums('a', block)),
  6,
)}
${indent(steps(square), 6)}
    }
${indent(
  range(3).flatMap((block) => sums('a', block)),
  4,
)}
${indent(
  names('b').map((name, i) => `const ${name} = v128.load(SUM, ${16 * i});`),
  4,
)}
${indent(
  range(3).flatMap((block) => sums('b', block, 'const ')),
  4,
)}
${indent(steps(product), 4)}
  }
${indent(
  a.map((name, i) => `v128.store(value, ${name}, ${16 * i});`),
  2,
)}
}
`;
await writeFile(fileURLToPath(new URL('../assembly/field/bls12377-lanes.ts', import.meta.url)), source);
